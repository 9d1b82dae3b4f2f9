"""Default prior of label rates: an average over descriptions of each curve, by their evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from bayescal.core import quantity
from bayescal.core.quantity import DirectDraws, Draws, Floats
from bayescal.inference.descriptions.curve_average import Average
from bayescal.quantities.credal.data import Problem
from bayescal.quantities.credal.models.curve_descriptions import CurveDescriptions
from bayescal.quantities.credal.models.pseudo_observations import (
    PseudoObservations,
    add_pseudo_observations,
)
from bayescal.quantities.credal.priors import AveragedCurve

# For the evidence of the descriptions beside NUTS.
EVIDENCE_DRAWS: Final = 2000


@dataclass(frozen=True, eq=False)
class Averaged:
    """A problem under `AveragedCurve`.

    Every draw of a curve is of one description, chosen by its posterior probability. NUTS samples
    smooth and rough curves; rising ones, and the error rates of scores of 0 and 1, are drawn
    without it.
    """

    problem: Problem
    prior: AveragedCurve
    variables: ClassVar[tuple[str, ...]] = ("node_rate", "never_errs", "description")
    target_accept: ClassVar[float] = Average.target_accept
    max_depth: ClassVar[int] = Average.max_depth

    @cached_property
    def curves(self) -> tuple[CurveDescriptions, ...]:
        """Descriptions of each curve."""
        numbers = range(self.problem.n_curves)
        return tuple(CurveDescriptions(self.problem, c, self.prior) for c in numbers)

    @property
    def members(self) -> Mapping[str, quantity.LabelModel]:
        """What NUTS samples: every curve's smooth and rough description."""
        return {
            self._named(name, c): model
            for c, curve in enumerate(self.curves)
            for name, model in curve.average.members.items()
        }

    def _named(self, name: str, curve: int) -> str:
        """Name of a description of a curve."""
        return name if self.problem.n_curves == 1 else f"{name} {curve}"

    @property
    def compile_key(self) -> tuple[Any, ...]:
        """That of the last of the members."""
        return list(self.members.values())[-1].compile_key

    def inputs(self) -> Mapping[str, NDArray[Any]]:
        """Those of the members."""
        return {
            f"{name} {key}": value
            for name, model in self.members.items()
            for key, value in model.inputs().items()
        }

    def add_to_model(self) -> Any:
        """Add the last of the members."""
        return list(self.members.values())[-1].add_to_model()

    def direct_draws(self, draws: int, rng: np.random.Generator) -> DirectDraws:
        """Importance sampling of every description; draws are named by curve."""
        found = [curve.direct_draws(draws, rng) for curve in self.curves]
        return DirectDraws(
            {f"{c}/{key}": v for c, one in enumerate(found) for key, v in one.draws.items()},
            min(one.ess for one in found),
            "importance sampling",
            sum(one.log_evidence for one in found),
            max(one.pareto_k for one in found),
            {f"{c}/{name}": v for c, one in enumerate(found) for name, v in one.evidence.items()},
        )

    def completed(
        self, draws: Draws, direct: DirectDraws | None, rng: np.random.Generator
    ) -> Draws:
        """Choose a description for each draw; give its rates, and its log prior density."""
        if direct is None:
            raise TypeError("an average needs direct draws, for the evidence of its descriptions")
        found = [
            curve.averaged(self._of_curve(draws, c, rng), self.weights(direct)[c], rng)
            for c, curve in enumerate(self.curves)
        ]
        return _stacked(found, axis=2)

    def weights(self, direct: DirectDraws) -> Floats:
        """Posterior probabilities of the descriptions, (curve, description)."""
        known = [_of(direct.evidence, c) for c in range(self.problem.n_curves)]
        pairs = zip(self.curves, known, strict=True)
        return np.stack([curve.weights(evidence) for curve, evidence in pairs])

    def _of_curve(self, draws: Draws, c: int, rng: np.random.Generator) -> Draws:
        """Parameters of one curve, (chain, draw, ...), with what NUTS leaves out."""
        if own := _of(draws, c):
            return own
        curve, shape = self.curves[c], next(iter(draws.values())).shape[:2]
        apart = {
            name: values.reshape(*shape, *values.shape[1:])
            for name, values in curve.drawn_apart(int(np.prod(shape)), rng).items()
        }
        sampled = {
            key: draws[key if c == 0 else f"{self._named(name, c)}/{key}"]
            for name, model in curve.average.members.items()
            for key in model.variables
        }
        return {**apart, **curve.average.completed({**sampled, "end": apart["end"]}, rng)}

    def prior_draws(self, draws: int, rng: np.random.Generator) -> Draws:
        """Rates of curves before the data."""
        return _stacked(
            [
                curve.averaged(curve.prior_draws(draws, rng), curve.prior_weights(), rng)
                for curve in self.curves
            ],
            axis=1,
        )

    def cell_prob(self, draws: Draws) -> Floats:
        """Rates at the nodes that are cells, (..., curve, cell)."""
        rate, never = draws["node_rate"], draws["never_errs"]
        return np.stack(
            [
                curve.nodes.with_ends(rate[..., c, :], never[..., c, :])[..., curve.cell_node]
                for c, curve in enumerate(self.curves)
            ],
            axis=-2,
        )

    def with_pseudo_observations(self, draws: Draws, rank: Floats) -> PseudoObservations:
        """Rates at any rank, and their bounds.

        A score of 0 or 1 that never errs has its own value for a rate, and for the bound on its
        side. The other bound is that of a score that errs: a pseudo-observation rules out that it
        never does.
        """
        found = []
        for c, (curve, ranks) in enumerate(zip(self.curves, self.problem.ranks, strict=True)):
            score, never = ranks.score_at(rank[:, c]), draws["never_errs"][:, c]
            prob = curve.nodes.interpolated(draws["node_rate"][:, c], score)
            ends = add_pseudo_observations(prob, self.prior.s)
            for end, bound in ((0, ends.prob_lower), (1, ends.prob_upper)):
                for part in (ends.prob, bound):
                    part[np.ix_(never[:, end], score == end)] = end
            found.append(ends)
        return PseudoObservations._make(
            np.stack(parts, axis=-1) for parts in zip(*found, strict=True)
        )

    def representative(self, rank: Floats) -> Floats:
        """The rank itself."""
        return rank

    def log_prior(self, draws: Draws) -> Draws:
        """Log prior density under each description, of draws of all of them; curves add up."""
        curves = [(curve, _of(draws, c)) for c, curve in enumerate(self.curves)]
        return {
            name: np.sum([curve.log_prior(name, own) for curve, own in curves], axis=0)
            for name in self.curves[0].fitted
        }


def _of[Value](named: Mapping[str, Value], curve: int) -> dict[str, Value]:
    """Take what is named by a curve."""
    prefix = f"{curve}/"
    return {name[len(prefix) :]: v for name, v in named.items() if name.startswith(prefix)}


def _stacked(curves: Sequence[Draws], axis: int) -> Draws:
    """Draws of all curves, the curves along an axis."""
    return {name: np.stack([one[name] for one in curves], axis=axis) for name in curves[0]}
