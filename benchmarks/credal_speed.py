"""Venn-Abers predictors and credal sets: how fast, and whether other programs find the same.

python benchmarks/credal_speed.py            # all, minutes: linear programmes are solved one by one
python benchmarks/credal_speed.py --quick    # a hundredth of the comparisons
python benchmarks/credal_speed.py --render   # the figures on disk

Nothing here uses a second core. Targets are held against the seconds that the process had a core,
which are the seconds by the clock where it has one for itself; both are printed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from _common import print_machine, print_table, time_best
from _results import print_provenance, read, write
from numpy.typing import NDArray
from scipy.optimize import linprog, minimize

from bayescal.quantities.credal.credal_sets import FLOOR, discount, divergence, project
from bayescal.quantities.credal.venn_abers import fit_ivap, merged

type Floats = NDArray[np.float64]
type Bounds = tuple[Floats, Floats]

SIZES = (2, 3, 5, 10, 20, 50)


def rows(n: int, seed: int, kind: str = "smooth") -> tuple[Floats, NDArray[np.int64]]:
    """Scores and labels: of a calibrated classifier, or without an error."""
    rng = np.random.default_rng(seed)
    score = rng.random(n)
    rate = score if kind == "smooth" else score > 0.5
    return score, (rng.random(n) < rate).astype(np.int64)


def proper(n: int, n_classes: int, seed: int) -> tuple[Floats, Floats, Floats]:
    """Probabilities, and bounds around others."""
    rng = np.random.default_rng(seed)
    prob, centre = rng.dirichlet(np.full(n_classes, 0.5), (2, n))
    width = 0.3 * rng.random((2, n, n_classes))
    return prob, (centre - width[0]).clip(0, 1), (centre + width[1]).clip(0, 1)


def improper(n: int, n_classes: int, seed: int, above: bool) -> Bounds:
    """Bounds between which no probabilities sum to 1, on one side."""
    rng = np.random.default_rng(seed)
    scale = 1.02 + rng.random(n) if above else 0.98 * rng.random(n)
    end = np.minimum(rng.dirichlet(np.ones(n_classes), n) * scale[:, None], 1)
    width = rng.random((n, 1)) ** 2 * rng.random((n, n_classes))
    if not above:
        return (end - width).clip(0, 1), end
    kept = end.sum(axis=1) > 1.001
    return end[kept], (end + width).clip(0, 1)[kept]


def venn_abers() -> Any:
    """The other program, without the error state that it sets."""
    with np.errstate():
        from venn_abers import VennAbers

        return VennAbers


def speeds(repeat: int) -> Iterator[tuple[str, float, float, str, str]]:
    """Times, each with its target."""

    def row(
        what: str, task: Callable[[], object], target: float, times: int = repeat
    ) -> tuple[str, float, float, str, str]:
        wall, cpu = time_best(task, times)
        met = "" if not target else "met" if cpu <= target else "missed"
        return what, wall, cpu, f"{target:g} s" if target else "", met

    score, label = rows(10**5, 1)
    ours = row("IVAP, fit 1e5 rows", lambda: fit_ivap(score, label=label), 0.025)
    yield ours
    other = venn_abers()
    table = np.column_stack([1 - score, score])
    with np.errstate(all="ignore"):
        theirs = row("venn-abers, the same", lambda: other().fit(table, label), 0, 2)
    yield theirs
    ratio = theirs[2] / ours[2]
    yield "times as long (of a core)", ratio, ratio, ">= 30", "met" if ratio >= 30 else "missed"
    apart, sides = rows(10**5, 1, "separated")
    yield row("IVAP, fit 1e5 rows without an error", lambda: fit_ivap(apart, label=sides), 0)
    fitted, new = fit_ivap(score, label=label), rows(10**6, 2)[0]
    yield row("IVAP, predict 1e6 rows", lambda: fitted.predict(new), 0.2)
    lower, upper = improper(10**5 + 10**4, 10, 3, above=True)
    sets = (lower[: 10**5], upper[: 10**5])
    yield row("discount 1e5 sets of 10, (8)", lambda: discount(*sets), 0.1)
    sets_below = improper(10**5, 10, 3, above=False)
    yield row("discount 1e5 sets of 10, (9)", lambda: discount(*sets_below), 0.1)
    prob, low, high = proper(10**6, 10, 4)
    yield row("project 1e6 rows of 10", lambda: project(prob, low, high), 0.5)


def same_as_venn_abers(cases: int) -> int:
    """Count cases in which p0, p1 and the merged probability are equal to the last bit."""
    other, equal = venn_abers(), 0
    for seed in range(cases):
        rng = np.random.default_rng(seed)
        score, label = rows(int(rng.integers(1, 200)), seed)
        new = rng.random(100)
        digits = (1, 2, 3, 17)[seed % 4]
        score, new = np.round(score, digits), np.concatenate([np.round(new, digits), [0, 1]])
        if seed % 10 == 0:
            label[:] = seed % 20 == 0
        with np.errstate(all="ignore"):
            fitted = other()
            fitted.fit(np.column_stack([1 - score, score]), label)
            prob, pair = fitted.predict_proba(np.column_stack([1 - new, new]))
        p0, p1 = fit_ivap(score, label=label).predict(new)
        found = np.column_stack([p0, p1, merged(p0, p1)])
        equal += np.array_equal(found, np.column_stack([pair, prob[:, 1]]))
    return equal


def solved(lower: Floats, upper: Floats, above: bool) -> float:
    """Least sum of (8) or (9), by HiGHS."""
    k = len(lower)
    others = np.ones((k, k)) - np.eye(k)
    quantity = 1 - upper - others @ lower if above else lower + others @ upper - 1
    most = lower if above else 1 - upper
    bounds = np.stack([np.zeros(k), most], axis=1)
    return float(linprog(np.ones(k), A_ub=-others, b_ub=quantity, bounds=bounds).fun)


def from_highs(sets: int) -> tuple[int, float]:
    """Largest distance of the sums of discounts from those of HiGHS, over so many sets."""
    worst, done = 0.0, 0
    for n_classes in SIZES:
        for above in (True, False):
            lower, upper = improper(-(-sets // (2 * len(SIZES))) * 2, n_classes, n_classes, above)
            lower, upper = (b[: -(-sets // (2 * len(SIZES)))] for b in (lower, upper))
            low, high = discount(lower, upper)
            total = ((lower - low) + (high - upper)).sum(axis=1)
            expected = [solved(*pair, above) for pair in zip(lower, upper, strict=True)]
            worst, done = max(worst, float(np.abs(total - expected).max())), done + len(lower)
    return done, worst


def kkt_residual(n: int) -> float:
    """Largest violation of the conditions of the optimum."""
    worst = 0.0
    for n_classes in SIZES:
        prob, lower, upper = proper(n, n_classes, n_classes)
        p, near = project(prob, lower, upper), np.maximum(prob, FLOOR)
        ratio = p / near
        # At its lower bound a class allows any factor below p / prob, at its upper one any above.
        least = np.where(p > lower, ratio, 0).max(axis=1, keepdims=True)
        most = np.where(p < upper, ratio, np.inf).min(axis=1, keepdims=True)
        factor = np.where(least > 0, least, np.minimum(most, 1e300))
        worst = max(
            worst,
            np.abs(p - np.clip(factor * near, lower, upper)).max(),
            np.abs(p.sum(axis=1) - 1).max(),
        )
    return float(worst)


def from_slsqp(sets: int) -> tuple[float, float]:
    """How far SLSQP's least divergence is above ours at most, and below."""
    prob, lower, upper = proper(sets, 5, 9)
    found = divergence(project(prob, lower, upper), prob)
    solved_values = []
    for near, low, high in zip(np.maximum(prob, FLOOR), lower, upper, strict=True):

        def objective(p: Floats, near: Floats = near) -> tuple[float, Floats]:
            log_ratio = np.log(np.maximum(p, 1e-300) / near)
            return float((p * log_ratio).sum()), log_ratio + 1

        solution = minimize(
            objective,
            project(np.full(5, 0.2), low, high),
            jac=True,
            bounds=np.stack([low, high], axis=1),
            constraints={"type": "eq", "fun": lambda p: p.sum() - 1, "jac": np.ones_like},
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 300},
        )
        solved_values.append(solution.fun)
    above = np.array(solved_values) - found
    return float(above.max()), float(-above.min())


def comparisons(share: float) -> Iterator[tuple[str, str, str, str]]:
    """What other programs find, each with its target."""
    cases = int(1000 * share)
    equal = same_as_venn_abers(cases)
    yield (
        "IVAP as venn-abers, to the last bit",
        f"{equal} of {cases} cases",
        "all",
        "met" if equal == cases else "missed",
    )
    sets, worst = from_highs(int(10_000 * share))
    yield (
        f"sum of discounts from HiGHS's, {sets} sets of 2 to 50",
        f"{worst:.1e}",
        "1e-12",
        "met" if worst <= 1e-12 else "missed",
    )
    residual = kkt_residual(int(100_000 * share))
    yield (
        f"KKT residual, {len(SIZES)} x {int(100_000 * share)} projections",
        f"{residual:.1e}",
        "1e-12",
        "met" if residual <= 1e-12 else "missed",
    )
    above, below = from_slsqp(int(1000 * share))
    yield (
        f"SLSQP's divergence less ours, {int(1000 * share)} sets",
        f"{-below:.1e} to {above:.1e}",
        "its 1e-8",
        "met" if max(above, below) <= 1e-8 else "missed",
    )


def show(speed: list[Any], same: list[Any]) -> None:
    """Print the tables."""
    header = ("what", "seconds", "of a core", "target", "")
    print_table("Time, best of the runs", header, speed)
    print_table("Agreement", ("what", "found", "target", ""), same)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=7, help="runs of each task; the best counts")
    parser.add_argument("--quick", action="store_true", help="a hundredth of the comparisons")
    parser.add_argument("--render", action="store_true", help="only print the figures on disk")
    options = parser.parse_args()
    if options.render:
        content = read("credal_speed")
        print_provenance(content)
        show(content["speed"], content["agreement"])
        return
    print_machine("scipy", "venn-abers")
    speed = list(speeds(options.repeat))
    same = list(comparisons(0.01 if options.quick else 1))
    show(speed, same)
    if not options.quick:
        write("credal_speed", speed=speed, agreement=same)


if __name__ == "__main__":
    main()
