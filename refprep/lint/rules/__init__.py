"""One rule a file; ``refprep.lint.registry`` lists them."""
