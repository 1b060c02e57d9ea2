"""The one-file HTML report of ``refprep lint``: every pair of audio and text, to look at and to listen to."""
