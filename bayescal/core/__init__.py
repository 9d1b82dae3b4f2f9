"""What every quantity needs: checked input, bins, formulas and priors, by NumPy and SciPy."""
