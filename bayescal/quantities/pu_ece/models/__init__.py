"""Priors of label rates, one file each, joined with data."""
