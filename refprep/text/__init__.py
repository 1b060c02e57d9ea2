"""Words as people mean them: normalisation, readings, differences."""
