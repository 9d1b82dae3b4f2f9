"""Models of the labels given several classifiers' scores, one file each."""
