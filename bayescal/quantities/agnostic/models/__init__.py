"""Priors of the calibration curve, one file each, joined with data."""
