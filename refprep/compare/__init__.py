"""Two references against each other: the same texts, seeds and sampling, and what of the difference can be shown."""
