"""Models of the temperatures of classes."""
