"""Draws of a calibration curve, each of one component, and what a result keeps of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from bayescal.core.bin_counts import BinCounts
from bayescal.core.bin_edges import PARTS
from bayescal.core.columns import Floats
from bayescal.core.quantity import Bound, CaseArrays, Draws, bound_values, bound_words
from bayescal.core.text import counted
from bayescal.curves.average import BOUNDARY_MEAN, BOUNDARY_SPREAD, Average, State, in_chains
from bayescal.curves.cells import ERRORS, Problem, curve_scores, in_a_row
from bayescal.curves.priors import CALIBRATED, COMPONENTS, SEGMENTS
from bayescal.results.schema import MIN_ESS


@dataclass(frozen=True, eq=False)
class CurvePosterior:
    """Draws of a calibration curve, (chain, draw), each in a state of its average.

    A state is a component of the curve, and which of the scores of exactly 0 and 1 err. `place`
    decides on the state of each draw, whatever the weights, so that `given` needs no randomness:

    ``CurvePosterior.of(average, draws, evidence, rng)``
        the average; `draws` are parameters of every component and of the scores 0 and 1.
    ``.rate``, ``.at(score)``
        label rates of the cells, and the curve at any score, 0 and 1 among them.
    ``.given("smooth", "rough")``, ``.miscalibrated``, ``.erring``
        the same draws of parameters, given some of the components; given that some score is
        not calibrated; given that every score of 0 or 1 errs.

    Where weights depend on a parameter, such as a class prior, `log_weight` has a row for each
    draw: (chain, draw, state).
    """

    average: Average
    draws: Draws
    states: Sequence[State]
    log_weight: Floats  # ([chain, draw,] state)
    place: Floats  # (chain, draw), in (0, 1)
    unseen: Floats  # (chain, draw, 2): logits of errors of scores 0 and 1 without rows
    unseen_errs: NDArray[np.bool_]  # (chain, draw, 2)
    # Values of single components for all draws, by component and kind: conditions share them.
    known: dict[tuple[str, str], Floats] = field(default_factory=dict)

    @classmethod
    def of(
        cls, average: Average, draws: Draws, evidence: Mapping[str, float], rng: np.random.Generator
    ) -> CurvePosterior:
        """Choose the state of each draw by the posterior weights."""
        return cls.weighed(average, draws, average.log_weights(evidence), rng)

    @classmethod
    def prior(cls, average: Average, number: int, rng: np.random.Generator) -> CurvePosterior:
        """Draw curves before the data, (1, number)."""
        draws = in_chains(average.prior_draws(number, rng), (1, number))
        with np.errstate(divide="ignore"):
            return cls.weighed(average, draws, np.log(average.prior_states), rng)

    @classmethod
    def weighed(
        cls, average: Average, draws: Draws, log_weight: Floats, rng: np.random.Generator
    ) -> CurvePosterior:
        """Choose the state of each draw by log weights, which may differ from draw to draw."""
        shape = draws["boundary"].shape[:2]
        number = int(np.prod(shape))
        place = rng.permutation((np.arange(number) + rng.random()) / number).reshape(shape)
        # No number of the stream goes to what most curves never need.
        own = rng.spawn(1)[0]
        unseen = own.normal(BOUNDARY_MEAN, BOUNDARY_SPREAD, (*shape, 2))
        errs = own.random((*shape, 2)) >= average.calibrated
        return cls(average, draws, average.states, log_weight, place, unseen, errs)

    @cached_property
    def _state(self) -> NDArray[np.int64]:
        """State of each draw, (chain, draw)."""
        reached = np.cumsum(softmax(self.log_weight, axis=-1), axis=-1)
        found = (reached < self.place[..., None]).sum(axis=-1)
        return np.asarray(found.clip(0, len(self.states) - 1))

    @cached_property
    def component(self) -> NDArray[np.int64]:
        """Component of each draw, its place in `Average.names`, (chain, draw)."""
        places = [self.average.names.index(state.component) for state in self.states]
        return np.array(places)[self._state]

    @cached_property
    def errs(self) -> NDArray[np.bool_]:
        """Which of the scores 0 and 1 with rows err, (chain, draw, boundary)."""
        return np.array([state.errs for state in self.states], dtype=bool)[self._state]

    @property
    def calibrated(self) -> NDArray[np.bool_]:
        """Whether every score is calibrated, (chain, draw)."""
        return np.array([state.calibrated for state in self.states])[self._state]

    def given(self, *components: str) -> CurvePosterior:
        """Curves that are of one of these components."""
        return self._where(lambda state: state.component in components)

    @property
    def miscalibrated(self) -> CurvePosterior:
        """Curves some score of which is not calibrated."""
        return self._where(lambda state: not state.calibrated)

    @property
    def erring(self) -> CurvePosterior:
        """Curves whose scores of 0 and 1 all err, those without rows too."""
        found = self._where(lambda state: all(state.errs))
        return replace(found, unseen_errs=np.ones_like(self.unseen_errs))

    @property
    def wide(self) -> CurvePosterior:
        """Curves that are smooth, rough or linear; scores of 0 and 1 without rows err.

        With the calibrated component among them, intervals of costs, rates of rows and ROC curves
        would collapse where a classifier is close to calibrated, and miss. So they would with
        segments, half of them calibrated. Either is left out where there is another. Scores of 0
        and 1 with rows may never err, or intervals would miss classifiers that are always right.
        """
        fitted = self.average.fitted
        names = [name for name in fitted if name != SEGMENTS] or list(fitted) or [CALIBRATED]
        return replace(self.given(*names), unseen_errs=np.ones_like(self.unseen_errs))

    def _where(self, wanted: Callable[[State], bool]) -> CurvePosterior:
        kept = [place for place, state in enumerate(self.states) if wanted(state)]
        log_weight = self.log_weight[..., kept]
        # States that no draw of the average has are as likely as one another.
        some = np.isfinite(log_weight).any(axis=-1, keepdims=True)
        log_weight = np.where(some, log_weight, 0.0)
        return replace(self, states=[self.states[place] for place in kept], log_weight=log_weight)

    @cached_property
    def rate(self) -> Floats:
        """Label rates of the cells, (chain, draw, cell)."""
        average, ends = self.average, list(self.average.boundary_scores)

        def evaluate(name: str, draws: Draws) -> Floats:
            return average.rates(name, draws, np.ones(draws["boundary"].shape, dtype=bool))

        found = self._joined("cells", evaluate)
        if ends:
            found = found.copy()
            found[..., ends] = np.where(self.errs, found[..., ends], average.score[ends])
        return found

    def at(self, score: Floats) -> Floats:
        """Calibration curve at any scores, (chain, draw, point)."""
        found = self._joined(
            f"at {hash(score.tobytes())}",
            lambda name, draws: self.average.curve(name, draws, score),
        )
        ends = [end for end in (0, 1) if (score == end).any()]
        if ends:
            found = found.copy()
        for end in ends:
            found[..., score == end] = self._at_boundary(end)[..., None]
        return found

    def log_prior(self) -> Floats:
        """Log prior density of the parameters of the component that each draw has."""

        def evaluate(name: str, draws: Draws) -> Floats:
            if name == CALIBRATED:
                return np.zeros(draws["boundary"].shape[:-1])
            return self.average.components[name].log_prior_excess(draws)

        return self._joined("log prior", evaluate)

    def _at_boundary(self, end: int) -> Floats:
        """Label rate at a score of exactly 0 or 1, (chain, draw)."""
        for cell, one in self.average.boundary_scores.items():
            if one.score == end:
                return self.rate[..., cell]
        calibrated = np.array([state.component == CALIBRATED for state in self.states])
        errs = self.unseen_errs[..., end] & ~calibrated[self._state]
        return np.asarray(np.abs(end - np.where(errs, expit(self.unseen[..., end]), 0.0)))

    def _joined(self, kind: str, evaluate: Callable[[str, Draws], Floats]) -> Floats:
        """Values of each draw under its component, (chain, draw, ...), not to be written to."""
        every = self.component.ravel()
        rows = {name: np.flatnonzero(every == k) for k, name in enumerate(self.average.names)}
        rows = {name: own for name, own in rows.items() if len(own)}
        if len(rows) == 1:
            (name,) = rows
            if (name, kind) not in self.known:
                self.known[name, kind] = evaluate(name, self.draws)
            return self.known[name, kind]
        parts = []
        for name, own in rows.items():
            if (name, kind) in self.known:
                values = _rows(self.known[name, kind])[own]
            else:
                values = evaluate(name, {key: _rows(one)[own] for key, one in self.draws.items()})
            parts.append(values)
        found = np.empty((len(every), *parts[0].shape[1:]))
        for own, values in zip(rows.values(), parts, strict=True):
            found[own] = values
        return found.reshape(*self.place.shape, *found.shape[1:])


def kept_data(
    problem: Problem,
    size: int,
    posterior: Mapping[str, Floats],
    estimate: Mapping[str, Any],
    theory: Mapping[str, Bound],
) -> CaseArrays:
    """What a result keeps of a problem whatever its model, with its posterior."""
    cells = problem.cells
    return CaseArrays(
        coords=problem.coords,
        posterior=posterior,
        observed_data={"events": nonempty_cells(cells.positives, cells.count, size)},
        constant_data={
            "curve_score": curve_scores(problem),
            **kept_cells(cells, size),
            **({} if problem.parts is None else kept_parts(cells, problem.parts, size)),
        },
        point_estimate=estimate,
        bounds=bound_values(theory),
        bounds_attrs=bound_words(theory),
    )


def kept_cells(cells: BinCounts, size: int) -> dict[str, NDArray[Any]]:
    """What a result keeps of the cells with rows."""
    held = {
        "cell_count": cells.count,
        "cell_score": cells.mean_score,
        "cell_low": cells.edges[:-1],
        "cell_high": cells.edges[1:],
    }
    return {name: nonempty_cells(values, cells.count, size) for name, values in held.items()}


def kept_parts(cells: BinCounts, parts: BinCounts, n_cells: int) -> dict[str, NDArray[Any]]:
    """What a result keeps of the rows in the parts of cells, with the place of the cell."""
    place = np.cumsum(cells.count > 0) - 1
    number = {"part_count": parts.count, "part_events": parts.positives}
    if parts.weighted:
        weight, unit = parts.weight_by_label, parts.unit
        each = weight / np.where(unit > 0, unit, 1)
        unit *= weight.sum() / (unit * weight).sum()
        number = {"part_count": each.sum(axis=0), "part_events": each[1]}
        number |= dict(zip(("part_weight", "part_event_weight"), unit, strict=True))
    held = {
        "part_cell": place[parts.place_in(cells.edges)],
        "part_score": parts.mean_score,
        **number,
        "part_low": parts.edges[:-1],
        "part_high": parts.edges[1:],
    }
    size = n_cells + 2 * (PARTS + 1)
    return {name: nonempty_cells(values, parts.count, size) for name, values in held.items()}


def kept_curve(
    rows: NDArray[Any],
    rates: Floats,
    given: Floats,
    mass: Floats,
    component: NDArray[Any],
    size: int,
) -> dict[str, NDArray[Any]]:
    """What a result keeps of the curve: rates and masses of cells with rows, component of draws.

    `given` are the rates given that some score is not calibrated.
    """
    return {
        "rate": kept_rates(rows, rates, size),
        "mass": kept_rates(rows, mass, size),
        "component": component.astype(np.int8),
        "given_rate": kept_rates(rows, given, size),
    }


def kept_rates(rows: NDArray[Any], rates: Floats, size: int) -> NDArray[np.float32]:
    """Label rates, or masses, of cells with rows, as a result keeps them."""
    return nonempty_cells(rates.astype(np.float32), rows, size)


def nonempty_cells[Scalar: np.generic](
    values: NDArray[Scalar], rows: NDArray[Any], size: int
) -> NDArray[Scalar]:
    """Values of the cells that hold rows, then padding, (..., size): empty cells stop `loo`."""
    held = np.flatnonzero(rows)
    found = np.zeros((*values.shape[:-1], size), values.dtype)
    found[..., : len(held)] = values[..., in_a_row(held)]
    return found


def evidence_warnings(
    ess: float,
    what: str = "probability of calibration rests",
    remedy: str = "Do not rely on it or on the lower ends.",
) -> list[str]:
    """Say so where what rests on the evidence is not to be relied on."""
    if ess >= MIN_ESS:
        return []
    draws = counted(round(ess), "effective draw")
    return [f"the {what} on {draws} (fewer than {MIN_ESS}). {remedy}"]


def mean_curves(curves: Mapping[str, CurvePosterior], score: Floats) -> Floats:
    """Mean curve of each component, (description, point); of one left out the scores."""
    means = {name: one.at(score).mean(axis=(0, 1)) for name, one in curves.items()}
    return np.stack([means.get(name, score) for name in COMPONENTS])


def by_component(found: Mapping[str, Mapping[str, Floats]]) -> dict[str, Floats]:
    """Errors of each component joined, (..., description).

    One that is left out has no weight; calibration stands in for it.
    """
    each = [found.get(name, found[CALIBRATED]) for name in COMPONENTS]
    return {error: np.stack([one[error] for one in each], axis=-1) for error in ERRORS}


def _rows(values: Floats) -> Floats:
    """Draws of all chains one after the other, (draw, ...): places are found faster there."""
    chains, draws, *own = values.shape
    return values.reshape(chains * draws, *own)
