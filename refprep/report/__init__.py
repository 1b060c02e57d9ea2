"""What people see of a voice: report.html (one file, no network), a card for notebooks, figures for papers."""
