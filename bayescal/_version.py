"""The version: read by the build, and written into every result."""

__version__ = "0.3.0"
