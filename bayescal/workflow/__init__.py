"""Where a quantity meets inference and results: fit, sensitivity and simulation."""
