"""The part of a PyMC model that its density needs."""

from __future__ import annotations

import pymc as pm
from pymc.model.fgraph import (
    ModelObservedRV,
    ModelPotential,
    ModelVar,
    fgraph_from_model,
    model_from_fgraph,
)
from pytensor.graph.traversal import ancestors


def density_core(model: pm.Model) -> pm.Model:
    """Leave out what leads neither to an observed variable nor to a potential.

    Notes
    -----
    PyMC's own ``prune_vars_detached_from_observed`` refuses models with potentials, as it cannot
    know whether they belong to the likelihood; here they are always wanted.
    """
    graph, _ = fgraph_from_model(model, inlined_views=True)
    wanted = [
        output
        for node in graph.apply_nodes
        if isinstance(node.op, ModelObservedRV | ModelPotential)
        for output in node.outputs
    ]
    kept = {variable.owner for variable in ancestors(wanted)}
    dropped = [
        node for node in graph.apply_nodes if isinstance(node.op, ModelVar) and node not in kept
    ]
    for node in dropped:
        graph.remove_node(node)
    return model_from_fgraph(graph, mutate_fgraph=True)
