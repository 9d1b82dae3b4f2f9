"""Descriptions of a calibration curve that are averaged by their evidence, one file each."""
