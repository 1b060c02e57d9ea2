"""Measurements of refprep itself on labelled sets."""
