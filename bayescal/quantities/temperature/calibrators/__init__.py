"""Calibrators of logits: one number, one a class, one a logit, or any of them in slices."""
