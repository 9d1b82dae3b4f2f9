"""What every room stands on: checked input, binning, formulas and prior values; NumPy and SciPy."""
