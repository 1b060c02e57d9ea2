"""The one-file HTML report of a voice."""
