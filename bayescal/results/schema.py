"""What a result is: names of its groups, dimensions and attributes, and when it has converged.

A result is an `xarray.DataTree` on which ArviZ works as it stands: PyMC's own
groups, and beside them the paper's estimate, bounds, diagnostics and model averages. Plots, the
report and the command line read nothing else, so this file is the contract between them and
whatever computed the result.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from math import isclose, isnan, nan
from typing import Any, Final

import numpy as np
import xarray as xr

from bayescal.core.checks import check_unique
from bayescal.core.errors import InputError

SCHEMA_VERSION: Final = 2

# Groups that PyMC and ArviZ know.
POSTERIOR: Final = "posterior"
PRIOR: Final = "prior"
SAMPLE_STATS: Final = "sample_stats"
LOG_LIKELIHOOD: Final = "log_likelihood"
LOG_PRIOR: Final = "log_prior"
POSTERIOR_PREDICTIVE: Final = "posterior_predictive"
OBSERVED_DATA: Final = "observed_data"
CONSTANT_DATA: Final = "constant_data"
# Groups of our own.
POINT_ESTIMATE: Final = "point_estimate"
BOUNDS: Final = "bounds"
DIAGNOSTICS: Final = "diagnostics"
MODEL_AVERAGE: Final = "model_average"
ERROR_CORRELATION: Final = "error_correlation"
SENSITIVITY: Final = "sensitivity"
"""The answer as a function of what is assumed, such as the class prior."""
DESCRIPTIONS: Final = "descriptions"
"""Draws under each of the descriptions of the calibration curve that an average is of."""
GIVEN_MISCALIBRATION: Final = "given_miscalibration"
"""Draws of errors given that the classifier is not calibrated."""
CURVE: Final = "curve"
"""Draws of the calibration curve by cell: its rates, the cells' masses and the component."""
SHARED_ROWS: Final = "shared_rows"
"""Cells and labels of rows that several classifiers share, from which measures correlate."""
PAIRED: Final = "paired"
"""Draws of measures of rows in which all classifiers have the same rows."""
LABEL: Final = "label"
"""Labels of shared rows, 1 where a row has the event."""
STANDS_FOR: Final = "stands_for"
"""For how many rows a shared row stands, where a result keeps some of them."""
AVERAGE_POWER: Final = "average_power"
"""Root attribute: power of the evidence in the weights of the average that the posterior holds."""
CLASS_PRIOR_POWER: Final = "class_prior_power"
"""Root attribute: power of the evidence in the posterior of the class prior, if another one."""
REFERENCE_ESTIMATES: Final = "reference_estimates"
"""Other estimates of the same quantities, by method, to be read beside the posterior."""

DRAW_GROUPS: Final = (
    POSTERIOR,
    PRIOR,
    POSTERIOR_PREDICTIVE,
    SAMPLE_STATS,
    LOG_LIKELIHOOD,
    LOG_PRIOR,
    DESCRIPTIONS,
    GIVEN_MISCALIBRATION,
    CURVE,
)
PLAIN_GROUPS: Final = (
    OBSERVED_DATA,
    CONSTANT_DATA,
    POINT_ESTIMATE,
    BOUNDS,
    MODEL_AVERAGE,
    DIAGNOSTICS,
    SENSITIVITY,
    REFERENCE_ESTIMATES,
    SHARED_ROWS,
)
REQUIRED_GROUPS: Final = (POSTERIOR, POINT_ESTIMATE, DIAGNOSTICS)

CHAIN: Final = "chain"
DRAW: Final = "draw"
DRAW_DIMS: Final = (CHAIN, DRAW)
CLASSIFIER: Final = "classifier"
CLASS: Final = "class"
GROUP: Final = "group"
PRIOR_NAME: Final = "prior"
"""Dimension of the priors that the same data were fitted under, one refit each."""
CASE_DIMS: Final = (CLASSIFIER, CLASS, GROUP, PRIOR_NAME)
"""Dimensions of the cases, present only with more than one value."""

KIND: Final = "kind"
"""Root attribute of what is not a single fit; `RESULT_KIND` is what the numbers are."""
BY_PRIOR: Final = {"priors": "priors", "prior_text": "prior_texts", "status": "statuses"}
"""Root attributes of a fit, and what a grid calls them: JSON by prior."""
PRIOR_GRID: Final = "prior sensitivity"
"""What `KIND` says of the refits of one data set under several priors."""
VARIABLES: Final = "variables"
"""Root attribute with the records of the variables: see `bayescal.core.quantity`."""
RESULT_KIND: Final = "result_kind"
"""Root attribute of the role of the main variable in the words of version 0.2; for others only."""

# What a result with a calibration curve holds of it, and of the bins.
CALIBRATION_CURVE: Final = "calibration_curve"
CURVE_SCORE: Final = "curve_score"
DESCRIPTION_CURVE: Final = "description_curve"
LABEL_RATE: Final = "label_rate"
CONFIDENCE: Final = "confidence"
COUNT: Final = "count"
POSITIVES: Final = "positives"
BIN_EDGES: Final = "bin_edges"
BIN_MASS: Final = "bin_mass"

BIN: Final = "bin"
CELL: Final = "cell"
BLOCK: Final = "block"
"""Neighbouring cells, merged where cases have unequal numbers of them."""
EVENTS: Final = "events"
CELL_SCORE: Final = "cell_score"
CELL_ENDS: Final = ("cell_low", "cell_high")
PART: Final = "part"
"""Parts of cells, which hold few rows of either label."""
CELL_COUNT: Final = "cell_count"
"""Rows in each cell, in `constant_data`; 0 where a case has fewer cells than another."""

CI_BOUND: Final = "ci_bound"

DESCRIPTION: Final = "description"
METHOD: Final = "method"
BOUNDARY: Final = "boundary"
"""Scores of exactly 0 and 1."""
CALIBRATED: Final = "calibrated"
"""The one of the descriptions without parameters."""

MEASURES: Final = "measures"
"""Root attribute with the names of the variables that are measures added to a result."""

P_CALIBRATED: Final = "p_calibrated"
P_VALUE_CALIBRATED: Final = "p_value_calibrated"
WEIGHT: Final = "weight"
"""Posterior weights of the descriptions, in `model_average`."""
NUTS_DRAWS: Final = "nuts_draws"
"""Draws by NUTS under each description, 0 where it was not sampled, in `model_average`."""
BOUNDARY_CALIBRATED: Final = "boundary_calibrated"
JUMP_PROBABILITY: Final = "jump_probability"
N: Final = "n"
EFFECTIVE_N: Final = "effective_n"
SHARED: Final = "shared"
"""Root attribute with the variables that classifiers or groups have in common, by dimension."""
WARNINGS: Final = "warnings"
"""Root attribute with each sentence of the status and the cases that it is of."""
POINT_LABEL: Final = "point_label"
"""Root attribute with the name of the point estimate, where it has one of its own."""

# What a result of rows holds: draws of probabilities, bounds and decisions; p0, p1; the rows.
PROB: Final = "prob"
PROB_LOWER: Final = "prob_lower"
PROB_UPPER: Final = "prob_upper"
DECISION: Final = "decision"
PROPER: Final = "proper"
P0: Final = "p0"
P1: Final = "p1"
IMPROPER: Final = "improper"
IMPROPER_SHARE: Final = "improper_share"
TARGET_ROW: Final = "target_row"
OBS: Final = "obs"
TARGET_SCORE: Final = "target_score"

# What a result with ROC curves holds; rates of the unlabelled rows have the prefix.
FPR: Final = "fpr"
TPR: Final = "tpr"
UNLABELED: Final = "unlabeled_"
RATES: Final = {f"{prefix}{name}" for prefix in ("", UNLABELED) for name in (FPR, TPR)}
ROC_THRESHOLD: Final = "roc_threshold"
ROC_STRAIGHT: Final = "roc_straight"
POSITIVE_ABOVE: Final = "positive_above"
NEGATIVE_ABOVE: Final = "negative_above"

REQUIRED_ATTRS: Final = (
    "schema_version",
    "bayescal_version",
    "quantity",
    VARIABLES,
    "title",
    "estimand",
    "classifiers",
    "seed",
    "status",
    "converged",
)

# Status of a case, as tables show it.
OK: Final = "ok"
NOT_CONVERGED: Final = "NOT CONVERGED"
NO_LABELS: Final = "NO LABELS"
WARNED: Final = "WARNED"

# Root attributes that hold JSON, where a result has them.
JSON_ATTRS: Final = (
    "classifiers",
    "groups",
    "classes",
    "variables",
    "references",
    "priors",
    "warnings",
)
_REMAKE = "Pass what bayescal.fit or bayescal.load returned."


@lru_cache(maxsize=256)
def _is_json(text: str) -> bool:
    """Whether a text can be read; kept, as whatever reads a result checks it."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def check_result(tree: object) -> None:
    """Check that an object is a result of this schema."""
    if not isinstance(tree, xr.DataTree):
        raise InputError(
            f"a result must be an xarray.DataTree; got {type(tree).__name__}. {_REMAKE}"
        )
    missing = [f"group {name!r}" for name in REQUIRED_GROUPS if name not in tree.children]
    missing += [f"root attribute {name!r}" for name in REQUIRED_ATTRS if name not in tree.attrs]
    if missing:
        raise InputError(f"a result must hold {', '.join(missing)}; this tree does not. {_REMAKE}")
    version = tree.attrs["schema_version"]
    if version != SCHEMA_VERSION:
        raise InputError(
            f"schema_version must be {SCHEMA_VERSION}; got {version}. The result was written by "
            f"bayescal {tree.attrs['bayescal_version']}: read it with that version, or fit again."
        )
    for name in JSON_ATTRS:
        if not _is_json(str(tree.attrs.get(name, "null"))):
            raise InputError(
                f"root attribute {name!r} must hold JSON; got {tree.attrs[name]!r}. {_REMAKE}"
            )
    posterior = tree.children[POSTERIOR].dataset
    sizes, held = posterior.sizes, posterior.variables
    # A selection of one chain, or draw, keeps its coordinate, which stacked draws have of each.
    alone = [dim for dim in DRAW_DIMS if dim in held and not held[dim].ndim]
    if lost := [dim for dim in DRAW_DIMS if dim not in (*sizes, *alone)]:
        raise InputError(f"posterior must have dims chain and draw; {lost} missing. {_REMAKE}")
    for name in (GIVEN_MISCALIBRATION, CURVE, LOG_PRIOR, LOG_LIKELIHOOD):
        own = tree.children[name].sizes if name in tree.children else {}
        for dim in DRAW_DIMS:
            if dim in own and own[dim] != sizes.get(dim, 1):
                raise InputError(
                    f"{name} must have the draws of posterior; got {own[dim]} along {dim} "
                    f"for {sizes.get(dim, 1)}. Select from the whole result: result.isel(...)."
                )
    try:
        chunked = bool(posterior.chunks)
    except ValueError:  # of several sizes
        chunked = True
    if chunked:
        raise InputError("a result must be in memory; got one in chunks. Pass result.compute().")
    empty = [str(dim) for dim, size in sizes.items() if size == 0]
    if gone := [dim for dim in (*DRAW_DIMS, *CASE_DIMS) if dim in empty]:
        raise InputError(f"a result must have a {gone[0]}; this selection has none. Select some.")
    for dim in CASE_DIMS:
        if dim in sizes:
            check_unique([str(name) for name in posterior.get_index(dim)], dim)
    _check_whole(tree)


def _check_whole(tree: xr.DataTree) -> None:
    """Refuse some of the cells, bins or parts, or one point or description: a case has all."""
    names = (CONSTANT_DATA, POINT_ESTIMATE, MODEL_AVERAGE)
    data, points, average = (tree.children.get(name, tree).variables for name in names)
    parts, cells = (data.get(name) for name in (f"{PART}_cell", CELL_COUNT))
    # Of several priors a result has no cells where each has its own.
    n_cells = 0 if parts is None or cells is None or not parts.size else int(parts.values.max()) + 1
    n_bins = points["bin_edge"].size - 1 if "bin_edge" in points else 0
    for held, dim, n in ((data, CELL, n_cells), (points, BIN, n_bins)):
        if (size := held[dim].size * held[dim].ndim if dim in held else 0) < n:
            raise _not_whole(dim, f"{size or 'one'} of {n}")
    if n_cells and not isclose(*(rows := _rows_of_parts(tree)), rel_tol=1e-6):
        raise _not_whole(PART, f"{rows[0]:.7g} of {rows[1]:.7g} rows")
    for held, dim in ((data, PART), (data, "point"), (average, DESCRIPTION), (average, BOUNDARY)):
        if dim in held and not held[dim].ndim:
            raise _not_whole(dim, "one")


def _rows_of_parts(tree: xr.DataTree) -> tuple[float, float]:
    """Rows in the parts of cells, and how many there should be."""
    # Variables: of a page a result is checked a thousand times.
    data, points = tree[CONSTANT_DATA].variables, tree[POINT_ESTIMATE].variables
    number, every = data[f"{PART}_count"], data[CELL_COUNT]
    if f"{PART}_weight" in data:
        # Those of cells have effective numbers of their own.
        events, *unit = (data[f"{PART}_{k}"] for k in (EVENTS, "weight", "event_weight"))
        number = (number - events) * unit[0] + events * unit[1]
        each = np.full(number.size // number.sizes.get(PART, 1), tree.attrs[EFFECTIVE_N])
        every = points.get(EFFECTIVE_N, xr.Variable("case", each))
    elif "n_positive" in tree.attrs:
        # Unlabelled rows, or positives where a cell has no others.
        known = data if "cell_events" in data else tree[OBSERVED_DATA].variables
        rest = every - known["cell_events" if "cell_events" in data else EVENTS]
        every = rest.where(rest > 0, every)
    return float(number.values.sum()), float(every.values.sum())


def _not_whole(dim: str, held: str) -> InputError:
    return InputError(
        f"a result must have every {dim}; this selection has {held}. "
        "Select classifiers, classes, groups or draws alone."
    )


def check_result_of(tree: xr.DataTree, quantity: str) -> None:
    """Check that a result is of one quantity."""
    check_result(tree)
    if tree.attrs["quantity"] != quantity:
        raise InputError(
            f"result must be one of bayescal.{quantity}; got one of {tree.attrs['quantity']}. "
            f"Pass what bayescal.fit(bayescal.{quantity}, ...) returned."
        )


MAX_RHAT, MIN_ESS, MIN_EBFMI = 1.01, 400, 0.3

REMEDY = "Sample longer: draws=2000, tune=1000; after divergences also target_accept=0.99."
TAILS_REMEDY = "Longer chains do not change it; see whether another seed agrees, or narrow priors."
DIRECT_REMEDY = "Draw more: draws=4000; or sample by method='nuts'."


def remedy(figures: Mapping[str, Any]) -> str:
    """Say what to try when a fit did not converge."""
    if isnan(figures["rhat_max"]) and isnan(figures["ebfmi_min"]):  # of independent draws
        return DIRECT_REMEDY
    return REMEDY if problems({**figures, "ebfmi_min": nan}) else TAILS_REMEDY


def problems(figures: Mapping[str, Any]) -> list[str]:
    """Say what is wrong with a fit."""
    found = []
    if figures["rhat_max"] > MAX_RHAT:
        found.append(f"R-hat is {figures['rhat_max']:.3f}, which exceeds {MAX_RHAT}")
    if not figures["ess_min"] >= MIN_ESS:
        found.append(f"the effective sample size is {figures['ess_min']:.0f}, below {MIN_ESS}")
    if figures["divergences"] > 0:
        found.append(f"{int(figures['divergences'])} transitions diverged")
    if figures["ebfmi_min"] < MIN_EBFMI:
        found.append(f"E-BFMI is {figures['ebfmi_min']:.2f}, below {MIN_EBFMI}")
    return found
