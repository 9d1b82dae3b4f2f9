"""Class-wise temperature scaling: calibrators, calibration errors by class, and their posterior.

Names load on first use. They are listed once, in ``__init__.pyi``.
"""
