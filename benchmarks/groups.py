"""Groups in one model against groups fitted apart: coverage, width and error of each answer.

python benchmarks/groups.py                         # 30 replications, without NUTS
python benchmarks/groups.py --render

Six groups of 50 to 1,000 rows. Their classifiers err alike (all over-confident), each a little
differently, or not alike at all.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from _common import print_table
from _results import print_provenance, read, write

import bayescal as bc
from bayescal.quantities.ece.simulator import Truth, truth

SIZES = (50, 100, 200, 300, 500, 1000)
LIKE = truth("over").event_probability
WORLDS = {
    "alike": [Truth(f"g{k}", 0.0, 4.0, LIKE) for k in range(6)],
    "a little different": [
        Truth(f"g{k}", b0, b1, LIKE)
        for k, (b0, b1) in enumerate(
            [(-0.3, 3.4), (0.2, 4.4), (0.0, 3.8), (0.3, 4.0), (-0.2, 4.5), (0.1, 3.6)]
        )
    ],
    "not alike": [
        Truth(f"g{k}", b0, b1, LIKE)
        for k, (b0, b1) in enumerate(
            [(0.0, 2.0), (0.0, 4.0), (-0.8, 2.0), (0.0, 1.2), (0.8, 3.0), (0.0, 2.0)]
        )
    ],
}


def run_world(name: str, replications: int, seed: int) -> list[dict[str, Any]]:
    """Figures of each group, fitted together and apart."""
    worlds = WORLDS[name]
    rows: dict[tuple[str, str], list[tuple[float, float, float]]] = {}
    for index, child in enumerate(np.random.SeedSequence(seed).spawn(replications)):
        rng = np.random.default_rng(child)
        drawn = [world.sample(n, rng) for world, n in zip(worlds, SIZES, strict=True)]
        group = np.repeat([world.name for world in worlds], SIZES)
        score, label = (np.concatenate(parts) for parts in zip(*drawn, strict=True))
        together = bc.fit(
            bc.ece, bc.Scores(y_true=label, y_prob=score, group=group), seed=index, method="direct"
        )
        ends = bc.interval(together, "tce")
        means = together["posterior"]["tce"].mean(["chain", "draw"])
        for world, (own_score, own_label) in zip(worlds, drawn, strict=True):
            low, high = ends.sel(group=world.name).to_numpy()
            mean = means.sel(group=world.name).item()
            rows.setdefault((world.name, "together"), []).append((low, high, mean))
            apart = bc.fit(
                bc.ece, bc.Scores(y_true=own_label, y_prob=own_score), seed=index, method="direct"
            )
            low, high = bc.interval(apart, "tce").to_numpy()
            mean = apart["posterior"]["tce"].mean().item()
            rows.setdefault((world.name, "apart"), []).append((low, high, mean))
    return [
        figures(name, world, n, {how: rows[world.name, how] for how in ("together", "apart")})
        for world, n in zip(worlds, SIZES, strict=True)
    ]


def figures(
    name: str, world: Truth, n: int, rows: dict[str, list[tuple[float, float, float]]]
) -> dict[str, Any]:
    found: dict[str, Any] = {"groups": name, "n": n, "tce": world.tce}
    for how, drawn in rows.items():
        low, high, mean = np.array(drawn).T
        found[how] = {
            "coverage": float(np.mean((low <= world.tce) & (world.tce <= high))),
            "width": float(np.mean(high - low)),
            "rmse": float(np.sqrt(np.mean((mean - world.tce) ** 2))),
        }
    return found


def render() -> None:
    content = read("groups")
    print_provenance(content)
    names = [(how, what) for what in ("coverage", "width", "rmse") for how in ("together", "apart")]
    print_table(
        f"Groups in one model and apart: 90% intervals, {content['replications']} replications",
        ("groups", "n", "TCE", *(f"{what}, {how}" for how, what in names)),
        [
            (row["groups"], row["n"], row["tce"], *(row[how][what] for how, what in names))
            for row in content["rows"]
        ],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=30)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--render", action="store_true", help="only print the figures on disk")
    given = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for name in [] if given.render else WORLDS:
        rows += run_world(name, given.replications, given.seed)
        write("groups", replications=given.replications, seed=given.seed, rows=rows)
    render()


if __name__ == "__main__":
    main()
