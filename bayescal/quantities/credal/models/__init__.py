"""Priors of calibration curves, one file each."""
