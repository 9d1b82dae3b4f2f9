"""Calibration measures of classifiers, with their posterior.

Names load on first use: ``import bayescal`` costs nothing, and the arithmetic (:class:`Scores`,
:func:`bin_scores`, ``ece.estimate``) never loads PyMC. ``__init__.pyi`` lists them.
"""

import copyreg
import importlib
import sys

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

# lazy_loader gives packages a type of its own, which joblib and Dask cannot send to workers.
copyreg.pickle(
    type(sys.modules[__name__]), lambda module: (importlib.import_module, (module.__name__,))
)
