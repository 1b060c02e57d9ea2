"""Signal measurements: one formula and its source in each module."""
