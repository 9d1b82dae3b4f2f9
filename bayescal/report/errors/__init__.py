"""Calibration errors in words, on one scale, and in tables."""
