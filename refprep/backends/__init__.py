"""What computes for refprep: each module fills one protocol with an engine."""
