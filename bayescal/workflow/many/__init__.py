"""Fits of one quantity to many data sets: what `bayescal.fit_many` is made of."""
