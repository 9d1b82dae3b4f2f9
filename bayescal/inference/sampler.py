"""NUTS on a PyMC model through nutpie, compiled once and fed with other data after that."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pymc as pm
from numpy.typing import NDArray

import bayescal.inference.graph  # noqa: F401  # refuses a home that cannot be written
from bayescal.core.errors import InputError
from bayescal.core.sums import processors
from bayescal.inference.density import (
    Density,
    compile_density,
    compile_outputs,
    density_core,
    graph_of,
)
from bayescal.inference.on_demand import on_demand

# nutpie needs ArviZ, and with it Matplotlib and most of SciPy, for a conversion that is not used
# here: two of the seven seconds that a single fit takes on the command line.
with on_demand("arviz"):
    import nutpie
    from nutpie.compiled_pyfunc import from_pyfunc

    from bayescal.inference.native import NativeDensity, native_density
    from bayescal.inference.notice import compiling_noted

type Arrays = Mapping[str, NDArray[Any]]

# Numbers that points at which variables are computed at once may select of the data.
_TOGETHER = 1 << 22
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

    def thinned(self, draws: int) -> NutsDraws:
        """Keep so many draws of each chain; one diverged if any since the one before it did."""
        every = self.sample_stats["diverging"].shape[1] // draws
        posterior, stats = (
            {name: values[:, every - 1 :: every] for name, values in one.items()}
            for one in (self.posterior, self.sample_stats)
        )
        diverging = np.asarray(self.sample_stats["diverging"])
        since = diverging.reshape(len(diverging), draws, every).any(axis=-1)
        return NutsDraws(posterior, {**stats, "diverging": since})


@dataclass(frozen=True, slots=True)
class CompiledModel:
    """A model compiled for NUTS; other data of the same shapes need no compiling."""

    density: Density
    native: NativeDensity | None
    outputs: Callable[..., Any]
    names: tuple[str, ...]
    data: Arrays
    shapes: tuple[tuple[int, ...], ...]

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return sum(map(math.prod, self.shapes))

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
            [np.asarray(one, order="C") for one in self.density.prepare(*values)],
            draws=draws,
            tune=tune,
            chains=chains,
            seed=seed,
            target_accept=target_accept,
            maxdepth=max_depth,
        )
        points, stats = _read(trace, tune, self.size)
        return NutsDraws(self._variables_at(points, values), stats)

    def _trace(self, data: list[NDArray[Any]], **settings: Any) -> Any:
        """Sample; both ways run the same density, which may differ in its last digits."""
        if self.native is not None:
            # Of a density that fails, the call from Python says what is wrong with it.
            with suppress(Exception):
                return _run(self.native.model(data, self._start), cores=processors(), **settings)
        # Chains take turns: Python code runs one at a time whatever the cores.
        return _run(self._called_from_python(data), cores=1, **settings)

    def _called_from_python(self, data: list[NDArray[Any]]) -> Any:
        log_density = self.density.function

        def density(point: Any) -> tuple[float, Any]:
            value, *gradient = log_density(*self._split(point), *data)
            return float(value), np.concatenate([np.ravel(part) for part in gradient])

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

    def _split(self, points: NDArray[Any]) -> list[NDArray[Any]]:
        """Coordinates of each variable, (..., *shape)."""
        ends = np.cumsum([math.prod(shape) for shape in self.shapes])[:-1]
        return [
            part.reshape((*points.shape[:-1], *shape))
            for part, shape in zip(np.split(points, ends, axis=-1), self.shapes, strict=True)
        ]

    def _checked(self, data: Arrays) -> list[NDArray[Any]]:
        values = dict(self.data)
        for name, value in data.items():
            if name not in values or value.shape != values[name].shape:
                known = {key: array.shape for key, array in self.data.items()}
                raise InputError(
                    f"the model was compiled for data of shapes {known}; got {name!r} of shape "
                    f"{value.shape}. Compile the model again for data of another shape."
                )
            values[name] = _as(values[name].dtype, value, name)
        return list(values.values())

    def _variables_at(self, points: NDArray[Any], data: list[NDArray[Any]]) -> dict[str, Any]:
        """Values of the variables at every unconstrained point."""
        flat = points.reshape(-1, self.size)
        # Each may select a matrix of a stack.
        most = max((math.prod(one.shape[1:]) for one in data if one.ndim == 3), default=1)
        step = max(_TOGETHER // most, 1)
        parts = (
            self.outputs(*self._split(flat[at : at + step]), *data)
            for at in range(0, len(flat), step)
        )
        every = (np.concatenate(values) for values in zip(*parts, strict=True))
        return {
            name: value.reshape(*points.shape[:-1], *value.shape[1:])
            for name, value in zip(self.names, every, strict=True)
        }


def compile_model(model: pm.Model) -> CompiledModel:
    """Compile the part of a model that the data inform, with code that stays cached on disk.

    Nutpie's own compiler starts from nothing in every process, which costs more than many fits.
    """
    core = density_core(model)
    graph = graph_of(core)
    shapes = tuple(value.type.shape for value in graph.values)
    data = {one.name: np.asarray(value, order="C") for one, value in graph.data.items()}
    density = compile_density(graph)
    with compiling_noted():
        native = native_density(density.function, shapes, density.prepare(*data.values()))
    return CompiledModel(
        density,
        native,
        compile_outputs(graph),
        tuple(variable.name for variable in [*core.free_RVs, *core.deterministics]),
        data,
        shapes,
    )


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
    """Keep Python's record of this thread: making it takes longer than the density."""
    ctypes.pythonapi.PyGILState_Ensure()


def _run(compiled: Any, **settings: Any) -> Any:
    """Sample in this thread's time; Ctrl-C stops the sampler and is passed on."""
    # The trace stays in Arrow's columns: a DataTree takes a fifth of the sampling time.
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
