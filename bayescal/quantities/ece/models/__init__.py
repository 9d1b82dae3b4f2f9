"""Priors of label rates, one file each."""
