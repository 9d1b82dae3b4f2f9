"""The log density of a PyMC model and its gradient, compiled as a function of variables."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Final

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
from numpy.typing import NDArray
from pymc.model.fgraph import (
    ModelObservedRV,
    ModelPotential,
    ModelVar,
    fgraph_from_model,
    model_from_fgraph,
)
from pymc.pytensorf import rewrite_pregrad
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.configdefaults import config
from pytensor.gradient import grad
from pytensor.graph.basic import Constant
from pytensor.graph.replace import clone_replace, vectorize_graph
from pytensor.graph.traversal import ancestors, graph_inputs, toposort
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor.type import TensorType

# What is computed once a fit is not worth compiling.
_INTERPRETED: Final = "FAST_COMPILE"


def density_core(model: pm.Model) -> pm.Model:
    """Leave out what leads neither to an observed variable nor to a potential.

    PyMC's own ``prune_vars_detached_from_observed`` refuses models with potentials.
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


@dataclass(frozen=True, slots=True)
class Graph:
    """Variables of a model in the sampler's coordinates, and data, of fixed shapes."""

    values: tuple[Any, ...]
    data: Mapping[Any, NDArray[Any]]  # with the values they have in the model
    log_density: Any
    outputs: tuple[Any, ...]  # free variables and Deterministics


def graph_of(core: pm.Model) -> Graph:
    """Write down the density for the shapes of the data, which no step need check again."""
    point = core.initial_point()
    variables = core.replace_rvs_by_values([*core.free_RVs, *core.deterministics])
    outputs = [core.logp(), *variables]
    fixed: dict[Any, Any] = {}
    for value in core.continuous_value_vars:
        fixed[value] = _fixed(value, np.shape(point[value.name]))
    values = tuple(fixed.values())
    data: dict[Any, NDArray[Any]] = {}
    shared: Any
    for shared in graph_inputs(outputs):
        if isinstance(shared, SharedVariable) and isinstance(shared.type, TensorType):
            array = shared.get_value(borrow=True)  # type: ignore[no-untyped-call]  # no types there
            if shared in core.data_vars:
                fixed[shared] = _fixed(shared, array.shape)
                data[fixed[shared]] = array
            else:  # the length of a dimension
                fixed[shared] = pt.constant(array)
    log_density, *outputs = clone_replace(outputs, fixed, rebuild_strict=False)
    return Graph(values, data, log_density, tuple(outputs))


def _fixed(variable: Any, shape: Sequence[int]) -> Any:
    return TensorType(variable.type.dtype, shape=tuple(shape))(name=variable.name)


@dataclass(frozen=True, slots=True)
class Density:
    """Log density and its gradient by each variable."""

    function: Any
    """Numba's function of the variables and of what is prepared."""
    prepare: Callable[..., Sequence[NDArray[Any]]]
    """From data to what of the density needs nothing else."""


def compile_density(graph: Graph) -> Density:
    """Compile the density by Numba; the code stays cached on disk."""
    log_density = rewrite_pregrad(graph.log_density)
    known = _of_data(log_density, list(graph.data))
    prepare = _interpreted(list(graph.data), known)
    values = prepare(*graph.data.values())
    prepared = [_fixed(one, value.shape) for one, value in zip(known, values, strict=True)]
    replaced = dict(zip(known, prepared, strict=True))
    (log_density,) = clone_replace([log_density], replaced, rebuild_strict=False)
    gradient: Any = grad(log_density, list(graph.values), disconnected_inputs="ignore")
    inputs = [*graph.values, *prepared]
    with _sources_kept(), warnings.catch_warnings():
        # Whether loops have too many operands to be fused depends on the order of sets.
        warnings.filterwarnings("ignore", "Loop fusion failed", UserWarning)
        function = pm.compile(
            inputs, [log_density, *gradient], mode="NUMBA", on_unused_input="ignore"
        )
    return Density(function.vm.jit_fn, prepare)


def _sources_kept() -> AbstractContextManager[Any]:
    """Have generated code beside what is compiled: PyTensor fills the temporary directory."""
    if getattr(config, "generated_src_dir", "of an earlier version"):
        return nullcontext()
    return config.change_flags(generated_src_dir=str(Path(config.compiledir, "generated")))


def _of_data(output: Any, data: Sequence[Any]) -> list[Any]:
    """Where a graph goes over from data alone to what depends on variables too."""
    fixed = set(data)
    found: dict[Any, None] = {}

    def settled(node: Any) -> bool:
        known = all(isinstance(one, Constant) or one in fixed for one in node.inputs)
        arrays = all(isinstance(one.type, TensorType) for one in node.outputs)
        # What checks parameters says so where it is: in the density.
        return known and arrays and not isinstance(node.op, CheckAndRaise)

    for node in toposort([output]):
        if settled(node):
            fixed.update(node.outputs)
        else:
            found |= {one: None for one in node.inputs if one in fixed}
    return list(found)


def compile_outputs(graph: Graph) -> Callable[..., Sequence[NDArray[Any]]]:
    """Function from many values of each variable, and data, to all variables of the model."""
    many = [
        TensorType(value.type.dtype, shape=(None, *value.type.shape))() for value in graph.values
    ]
    outputs = vectorize_graph(list(graph.outputs), dict(zip(graph.values, many, strict=True)))
    return _interpreted([*many, *graph.data], outputs)


def _interpreted(inputs: Sequence[Any], outputs: Sequence[Any]) -> Callable[..., Any]:
    """Function that NumPy carries out step by step, for one thread at a time."""
    function = pytensor.function(  # type: ignore[attr-defined]  # set on import
        list(inputs), list(outputs), mode=_INTERPRETED, on_unused_input="ignore"
    )
    turn = Lock()

    def called(*values: Any) -> Any:
        # It keeps what it computes in itself.
        with turn, np.errstate(all="ignore"):
            return function(*values)

    return called
