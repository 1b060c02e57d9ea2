"""Findings -> what other programs read; ``refprep.linter.render`` has text, JSON and JSON lines.

Every module holds one pure function; none of them ends its text with a line feed.
"""
