"""What ``refprep.pipeline.decode`` is made of: one module for each container's structure, one for each decoder."""
