"""Rules over nouns, and how findings are shown."""
