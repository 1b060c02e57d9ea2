"""One rule a file; ``refprep.linter.registry`` lists them."""
