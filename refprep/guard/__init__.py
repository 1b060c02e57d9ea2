"""Runaway guard: how long a text may take, and what a synthesis that will not end looks like."""
