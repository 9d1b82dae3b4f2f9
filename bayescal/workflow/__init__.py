"""Where a room meets inference and results: fit, sensitivity and simulation."""
