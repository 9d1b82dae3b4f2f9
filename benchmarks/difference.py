"""The difference of two classifiers' errors on the same rows: does their correlation help?

python benchmarks/difference.py                     # 200 replications
python benchmarks/difference.py --render
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import xarray as xr
from _common import print_table
from _results import print_provenance, read, write

import bayescal as bc
from bayescal.quantities.ece.simulator import sample_panel

NAMES = ("calibrated", "near", "better", "less", "over")
SIZES = (300, 1000, 10_000)


def unpaired(tree: xr.DataTree) -> xr.DataTree:
    """The same result, as if each classifier had rows of its own."""
    alone = tree.copy()
    given = tree["error_correlation"]["correlation"]
    alone["error_correlation"]["correlation"] = given * 0 + np.eye(len(given))
    return alone


def run_size(n: int, replications: int, seed: int) -> list[dict[str, Any]]:
    """All pairs of the panel's classifiers."""
    rows: dict[tuple[str, str], list[tuple[float, ...]]] = {}
    for child in np.random.SeedSequence([seed, n]).spawn(replications):
        rng = np.random.default_rng(child)
        panel = sample_panel(n, rng, NAMES)
        scores = bc.Scores.stack(panel.score, y_true=panel.label)
        fitted_seed = int(rng.integers(2**31))
        tree = bc.fit(bc.ece, scores, seed=fitted_seed, method="direct", draws=1000, chains=1)
        alone = unpaired(tree)
        for pair in combinations(NAMES, 2):
            truth = panel.tce[pair[0]] - panel.tce[pair[1]]
            with_it, without = (bc.difference(given, *pair) for given in (tree, alone))
            rows.setdefault(pair, []).append(
                (
                    with_it.lower <= truth <= with_it.upper,
                    without.lower <= truth <= without.upper,
                    with_it.upper - with_it.lower,
                    without.upper - without.lower,
                    with_it.correlation,
                    with_it.mean - truth,
                )
            )
    return [of_pair(pair, n, np.array(found, dtype=float)) for pair, found in rows.items()]


def of_pair(pair: tuple[str, str], n: int, found: Any) -> dict[str, Any]:
    covered, covered_alone, width, width_alone, correlation, _ = found.mean(axis=0)
    return {
        "first": pair[0],
        "second": pair[1],
        "n": n,
        "coverage": covered,
        "coverage_unpaired": covered_alone,
        "width": width,
        "width_unpaired": width_alone,
        "correlation": correlation,
        "rmse": float(np.sqrt((found[:, 5] ** 2).mean())),
    }


def render() -> None:
    content = read("difference")
    print_provenance(content)
    pairs: Sequence[Mapping[str, Any]] = content["pairs"]
    print_table(
        f"90% intervals of the difference of two errors, {content['replications']} replications",
        (
            "first",
            "second",
            "n",
            "coverage",
            "unpaired",
            "width",
            "unpaired",
            "correlation",
            "RMSE",
        ),
        [tuple(pair.values()) for pair in pairs],
    )
    for name in ("coverage", "coverage_unpaired"):
        values = [pair[name] for pair in pairs]
        print(f"{name}: mean {np.mean(values):.3f}, worst {min(values):.3f}")
    ratio = np.mean([pair["width"] / pair["width_unpaired"] for pair in pairs])
    print(f"width, paired over unpaired: mean {ratio:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=200)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    parser.add_argument("--render", action="store_true", help="only print the figures on disk")
    given = parser.parse_args()
    pairs: list[dict[str, Any]] = []
    for n in [] if given.render else given.sizes:
        pairs += run_size(n, given.replications, given.seed)
        write("difference", replications=given.replications, seed=given.seed, pairs=pairs)
    render()


if __name__ == "__main__":
    main()
