"""The three kinds of source; each writes one model's files into a folder it is given, hashing as it writes."""
