"""Evaluating several classifiers from few labels and many unlabelled scores."""
