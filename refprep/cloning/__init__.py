"""Speaking with a voice: long texts in pieces, a guard on every attempt, retries with new seeds, all of it recorded."""
