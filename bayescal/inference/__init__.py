"""Sampling of a PyMC model: prior values to variables, draws, diagnostics. Knows no quantity."""
