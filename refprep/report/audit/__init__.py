"""The page of `refprep audit`."""
