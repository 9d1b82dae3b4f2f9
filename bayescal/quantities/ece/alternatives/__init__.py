"""What a smooth curve is weighed against: a calibrated classifier, and a curve that jumps."""
