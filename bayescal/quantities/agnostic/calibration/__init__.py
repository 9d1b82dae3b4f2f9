"""Calibration methods that make the measure 0, or as small as a class of functions allows."""
