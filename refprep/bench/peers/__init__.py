"""Engines beside ours, each behind a script that its own environment runs."""
