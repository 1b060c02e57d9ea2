"""What each engine takes, one module a family: the format, where it was read, and the files beside the audio."""
