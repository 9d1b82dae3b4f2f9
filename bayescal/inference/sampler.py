"""NUTS on a PyMC model through nutpie, compiled once and fed with other data after that."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pymc as pm
from numpy.typing import NDArray

from bayescal.core.errors import InputError
from bayescal.core.processors import processors
from bayescal.inference.on_demand import on_demand
from bayescal.inference.pruning import density_core

# nutpie needs ArviZ, and with it Matplotlib and most of SciPy, for a conversion that is not used
# here: two of the seven seconds that a single fit takes on the command line.
with on_demand("arviz"):
    import nutpie
    from nutpie.compiled_pyfunc import from_pyfunc

    from bayescal.inference.native import NativeDensity, native_density

type Arrays = Mapping[str, NDArray[Any]]

# What ArviZ knows of nutpie's sample statistics.
_STATS = {
    "diverging": "diverging",
    "energy": "energy",
    "logp": "lp",
    "n_steps": "n_steps",
    "depth": "tree_depth",
    "step_size": "step_size",
    "mean_tree_accept": "acceptance_rate",
}


@dataclass(frozen=True, slots=True)
class NutsDraws:
    """Draws of NUTS, after tuning."""

    posterior: Arrays  # (chain, draw, ...)
    sample_stats: Arrays  # (chain, draw)


@dataclass(frozen=True, slots=True)
class CompiledModel:
    """A model compiled for NUTS; other data of the same shapes need no compiling."""

    log_density: Callable[..., Any]
    native: NativeDensity | None
    log_density_data: tuple[str, ...]
    expand: Callable[..., Any]
    expand_data: tuple[str, ...]
    names: tuple[str, ...]
    data: Arrays
    size: int

    def sample(
        self,
        data: Arrays,
        *,
        draws: int = 1000,
        tune: int = 300,
        chains: int = 4,
        seed: int | None = None,
        target_accept: float = 0.8,
        max_depth: int = 10,
    ) -> NutsDraws:
        """Draw from the posterior given other data."""
        values = self._checked(data)
        trace = self._trace(
            [values[name] for name in self.log_density_data],
            draws=draws,
            tune=tune,
            chains=chains,
            seed=seed,
            target_accept=target_accept,
            maxdepth=max_depth,
        )
        points, stats = _read(trace, tune, self.size)
        return NutsDraws(self._expanded(points, [values[name] for name in self.expand_data]), stats)

    def _trace(self, data: list[NDArray[Any]], **settings: Any) -> Any:
        """Sample; both ways run the same code of the density, and give the same draws."""
        if self.native is not None:
            # Of a density that fails, the call from Python says what is wrong with it.
            with suppress(Exception):
                return _run(self.native.model(data, self._start), cores=processors(), **settings)
        # Chains take turns: Python code runs one at a time whatever the cores.
        return _run(self._called_from_python(data), cores=1, **settings)

    def _called_from_python(self, data: list[NDArray[Any]]) -> Any:
        log_density = self.log_density

        def density(point: Any) -> tuple[float, Any]:
            value, gradient = log_density(point, *data)
            return float(value), gradient

        def make_density() -> Callable[..., Any]:
            _keep_thread_state()
            return density

        return from_pyfunc(
            self.size,
            make_density,
            lambda *_: lambda point: {"point": point},
            ["float64"],
            [(self.size,)],
            ["point"],
            make_initial_point_fn=self._start,
        )

    def _start(self, seed: int) -> NDArray[np.float64]:
        return np.random.default_rng(seed).uniform(-1, 1, self.size)

    def _checked(self, data: Arrays) -> dict[str, NDArray[Any]]:
        values = dict(self.data)
        for name, value in data.items():
            if name not in values or value.shape != values[name].shape:
                known = {key: array.shape for key, array in self.data.items()}
                raise InputError(
                    f"the model was compiled for data of shapes {known}; got {name!r} of shape "
                    f"{value.shape}. Compile the model again for data of another shape."
                )
            values[name] = _as(values[name].dtype, value, name)
        return values

    def _expanded(self, points: NDArray[Any], data: list[NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Values of the variables at every unconstrained point."""
        values = self.expand(points.reshape(-1, self.size), *data)
        return {
            name: value.reshape(*points.shape[:-1], *value.shape[1:])
            for name, value in zip(self.names, values, strict=True)
        }


def compile_model(model: pm.Model) -> CompiledModel:
    """Compile the part of a model that the data inform.

    Notes
    -----
    The density is PyMC's own, compiled by PyTensor to Numba code that stays cached on disk, and
    handed to nutpie as a function. Nutpie's own compiler fuses more but starts from nothing in
    every process, which costs more than many fits.
    """
    core = density_core(model)
    density = core.logp_dlogp_function(ravel_inputs=True, mode="NUMBA")
    density.set_extra_values({})
    log_density = density._pytensor_function
    point = core.initial_point()
    expand, names = _compile_expand(core, point)
    data = {
        shared.name: np.asarray(shared.get_value(), order="C")
        for function in (log_density, expand)
        for shared in function.get_shared()
    }
    size = int(sum(np.size(value) for value in point.values()))
    names_of_data = tuple(shared.name for shared in log_density.get_shared())
    return CompiledModel(
        log_density.vm.jit_fn,
        native_density(log_density.vm.jit_fn, size, [data[name] for name in names_of_data]),
        names_of_data,
        expand.vm.jit_fn,
        tuple(shared.name for shared in expand.get_shared()),
        names,
        data,
        size,
    )


def _compile_expand(core: pm.Model, point: Arrays) -> tuple[Any, tuple[str, ...]]:
    """Function from raveled unconstrained points to free variables and Deterministics."""
    import pytensor.tensor as pt
    from pytensor.graph.replace import graph_replace, vectorize_graph

    variables = [*core.free_RVs, *core.deterministics]
    outputs = core.replace_rvs_by_values(variables)
    joined = pt.dvector("point")
    givens, start = [], 0
    for value in core.continuous_value_vars:
        size = int(np.size(point[value.name]))
        part = joined[start : start + size].reshape(np.shape(point[value.name]))
        givens.append((value, part))
        start += size
    points = pt.dmatrix("points")
    every = vectorize_graph(graph_replace(outputs, givens), {joined: points})
    function = pm.compile([points], every, mode="NUMBA")
    return function, tuple(variable.name for variable in variables)


def _as(dtype: np.dtype[Any], value: NDArray[Any], name: str) -> NDArray[Any]:
    """Cast data to the type that the model was compiled for, refusing what would be changed."""
    if dtype.kind == "i" and value.dtype.kind == "f":
        raise InputError(
            f"{name} must be whole numbers in this model; got {value.dtype} numbers, as those of "
            "weighted rows are. Pass method='direct'."
        )
    if dtype.kind == "i" and (value > np.iinfo(dtype).max).any():
        raise InputError(
            f"{name} must not exceed {np.iinfo(dtype).max}; got {value.max():.6g}. "
            "Use more bins, or method='direct', which has no such limit."
        )
    return np.asarray(value, dtype=dtype, order="C")


def _keep_thread_state() -> None:
    """Keep Python's record of this thread, which is not one of Python's own.

    Otherwise every evaluation makes the record anew and throws it away, which takes longer than
    the density. What is kept is some 10 kB a fit, until the process ends.
    """
    ctypes.pythonapi.PyGILState_Ensure()


def _run(compiled: Any, **settings: Any) -> Any:
    """Sample in this thread's time; Ctrl-C stops the sampler and is passed on."""
    # The trace is left in Arrow's columns: converting it to a DataTree takes a fifth of the time
    # of sampling.
    background = nutpie.sample(
        compiled, progress_bar=False, blocking=False, return_raw_trace=True, **settings
    )
    try:
        return background.wait()
    except BaseException as error:
        # Where Rust code has given up, it does so again when it is stopped.
        with suppress(BaseException):
            background.cancel()
        if type(error).__name__ == "PanicException":  # of no module, and no Exception
            raise RuntimeError(
                f"the sampler stopped, as the model's density failed at a point: {error}. Try "
                "method='direct', or narrower priors."
            ) from error
        raise


def _read(trace: Any, tune: int, size: int) -> tuple[NDArray[np.float64], dict[str, NDArray[Any]]]:
    """Points of shape (chain, draw, size) and statistics of shape (chain, draw), without tuning."""
    import pyarrow as pa

    points, stats = trace.get_arrow_trace()
    found = [pa.array(chain.column("point")).flatten().to_numpy() for chain in points]
    return (
        np.stack([chain.reshape(-1, size)[tune:] for chain in found]),
        {
            ours: np.stack([chain.column(theirs).to_numpy()[tune:] for chain in stats])
            for theirs, ours in _STATS.items()
        },
    )
