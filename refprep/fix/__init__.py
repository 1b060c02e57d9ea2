"""Findings of `refprep lint` -> corrected copies: what to change, whether it came out clean, where it is written."""
