"""Other methods of evaluating classifiers from few labels, to compare with."""
