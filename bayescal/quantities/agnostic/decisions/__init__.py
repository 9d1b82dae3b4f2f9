"""Decisions from calibrated scores: rules, what they cost, and the best of them."""
