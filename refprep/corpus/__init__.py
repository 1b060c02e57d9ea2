"""A corpus at a time: one voice for every speaker, in several processes or on Ray, resumable, with a ledger.

DIR/
  <speaker>/     a voice (refprep.voice)
  ledger.jsonl   a line for every speaker that was finished: built, refused or failed, and why
  summary.csv    the same as a table, one row a speaker, in the manifest's order
"""
