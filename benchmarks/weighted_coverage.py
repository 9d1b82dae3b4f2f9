"""Sample weights: coverage, width and error of the interval of the true calibration error.

python benchmarks/weighted_coverage.py                   # 100 replications, without NUTS
python benchmarks/weighted_coverage.py --render

Rows of a simulated classifier are selected with a probability that rises or falls with the score,
so steeply that the effective number of rows is half their number. Their weights are the inverse of
that probability. Beside the weighted fit stands one of the same rows without their weights.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
from _common import print_table
from _results import print_provenance, read, write
from numpy.typing import NDArray
from scipy.optimize import brentq

import bayescal as bc
from bayescal.quantities.ece.simulator import SMOOTH, Truth, truth

type Floats = NDArray[np.float64]

SIZES = (500, 2000)
SELECTED = {"more at high scores": 1.0, "more at low scores": -1.0}
# Effective rows per row.
EFFECTIVE = 0.5
_POOL = 200_000


def selection(world: Truth, sign: float) -> Callable[[Floats], Floats]:
    """Probability that a row of a score is selected, exp(slope (score - end)), at most 1.

    Of rows selected with probability q and weighted by 1 / q, the effective number per row is
    ``1 / (E[q] E[1 / q])``, with expectations over the population.
    """
    score, _ = world.sample(_POOL, 1)

    def excess(slope: float) -> float:
        return float(np.mean(np.exp(slope * score)) * np.mean(np.exp(-slope * score)))

    slope = sign * brentq(lambda slope: excess(slope) - 1 / EFFECTIVE, 0.1, 50)
    return lambda score: np.exp(slope * (score - (sign > 0)))


def draw(
    world: Truth, chosen: Callable[[Floats], Floats], n: int, rng: np.random.Generator
) -> tuple[Floats, NDArray[np.uint8]]:
    """Draw rows until `n` are selected."""
    scores, labels, held = [], [], 0
    while held < n:
        score, label = world.sample(2 * n, rng)
        taken = rng.random(len(score)) < chosen(score)
        scores.append(score[taken])
        labels.append(label[taken])
        held += int(taken.sum())
    return np.concatenate(scores)[:n], np.concatenate(labels)[:n]


def run_cell(name: str, how: str, n: int, replications: int, seed: int) -> dict[str, Any]:
    """Figures of one truth, selection and number of rows."""
    world = truth(name)
    chosen = selection(world, SELECTED[how])
    drawn: dict[str, list[tuple[float, float, float]]] = {"weighted": [], "not weighted": []}
    effective = []
    for index, child in enumerate(np.random.SeedSequence(seed).spawn(replications)):
        score, label = draw(world, chosen, n, np.random.default_rng(child))
        weight = 1 / chosen(score)
        effective.append(weight.sum() ** 2 / (weight**2).sum() / n)
        scores = bc.Scores(y_true=label, y_prob=score, sample_weight=weight)
        for kind, data in (("weighted", scores), ("not weighted", scores.without_weight())):
            result = bc.fit(bc.ece, data, seed=index, method="direct")
            low, high = bc.interval(result, "tce").to_numpy()
            drawn[kind].append((low, high, result["model_average"]["tce_mean"].item()))
    found = {kind: figures(world.tce, rows) for kind, rows in drawn.items()}
    share = float(np.mean(effective))
    return {"truth": name, "selected": how, "n": n, "tce": world.tce, "effective": share, **found}


def figures(tce: float, rows: list[tuple[float, float, float]]) -> dict[str, float]:
    low, high, mean = np.array(rows).T
    return {
        "coverage": float(np.mean((low <= tce) & (tce <= high))),
        "width": float(np.mean(high - low)),
        "rmse": float(np.sqrt(np.mean((mean - tce) ** 2))),
    }


def render() -> None:
    content = read("weighted_coverage")
    print_provenance(content)
    kinds = ("weighted", "not weighted")
    names = [(kind, what) for what in ("coverage", "width", "rmse") for kind in kinds]
    print_table(
        f"Weighted rows: 90% intervals, {content['replications']} replications",
        ("truth", "selected", "n", "TCE", "n_eff / n", *(f"{w}, {k}" for k, w in names)),
        [
            (
                *(row[name] for name in ("truth", "selected", "n", "tce", "effective")),
                *(row[kind][what] for kind, what in names),
            )
            for row in content["rows"]
        ],
    )
    covered = [row["weighted"]["coverage"] for row in content["rows"]]
    print(f"\nWeighted: mean coverage {np.mean(covered):.3f}, worst {min(covered):.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=100)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--truths", nargs="+", default=SMOOTH)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--render", action="store_true", help="only print the figures on disk")
    given = parser.parse_args()
    rows: list[dict[str, Any]] = []
    cells = [(name, how, n) for name in given.truths for how in SELECTED for n in given.sizes]
    for cell in [] if given.render else cells:
        rows.append(run_cell(*cell, given.replications, given.seed))
        write("weighted_coverage", replications=given.replications, seed=given.seed, rows=rows)
    render()


if __name__ == "__main__":
    main()
