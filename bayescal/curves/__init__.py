"""Calibration curves: the problem, its smooth prior, and the errors that a curve implies."""
