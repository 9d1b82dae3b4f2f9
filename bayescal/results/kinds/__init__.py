"""Kinds of results: how each is summarised, compared and concluded from.

A kind is a module of this package, found by the result's root attribute ``result_kind``; the layers
above have a module of the same name in their own ``kinds``. Adding a kind adds one module a layer.
"""
