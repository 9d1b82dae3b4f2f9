"""Keep a result in a netCDF file, and get it back; one of an earlier version by this schema."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import xarray as xr

from bayescal.core.checks import plain
from bayescal.core.errors import InputError
from bayescal.core.quantity import (
    CALIBRATION_CURVE,
    CALIBRATION_ERRORS,
    LESS,
    METRIC,
    MORE,
    ROW,
    Variable,
    to_json,
)
from bayescal.core.writing import check_writable, checked_path, write_bytes
from bayescal.results import access, schema
from bayescal.results.schema import check_result

# Behind the HDF5 data, where its readers do not look: the checksum of all that comes before.
_MARK: Final = b"\nbayescal sha256 "
_CHECKSUM_LENGTH: Final = len(_MARK) + 64


def save(tree: xr.DataTree, path: str | os.PathLike[str]) -> Path:
    """Write a result to a netCDF file.

    Parameters
    ----------
    tree : xarray.DataTree
        A result.
    path : path
        The file; an existing one is replaced, once the new one is complete.

    Returns
    -------
    pathlib.Path
        Where the result is.

    Raises
    ------
    InputError
        If the tree is not a result.
    OutputError
        If the file cannot be written.

    Notes
    -----
    The file ends with a checksum, which `load` compares, and is netCDF to other programs.
    """
    from bayescal.results import netcdf

    check_result(tree)
    target = check_writable(path)
    content = netcdf.to_bytes(tree)
    write_bytes(target, content, _checksum(content))
    return target


def load(path: str | os.PathLike[str]) -> xr.DataTree:
    """Read a result from a netCDF file, into memory.

    Parameters
    ----------
    path : path
        A file that `save` wrote, of this version or an earlier one.

    Returns
    -------
    xarray.DataTree
        The result; the file is closed.

    Raises
    ------
    InputError
        If there is no such file, it was changed, or it holds no result that this version reads.
    """
    from bayescal.results import netcdf

    source = checked_path(path)
    if not source.is_file():
        raise InputError(f"a result must be a file; there is none at {source}. Check the path.")
    try:
        _check_unchanged(source)
        tree = upgrade(netcdf.read(source))
    except Exception as error:  # HDF5 and xarray raise nearly anything on what others wrote
        why = (str(error) or type(error).__name__).splitlines()[0]
        raise InputError(
            f"{source} must be a netCDF file written by bayescal.save; reading it fails with "
            f"{why!r}. Save the result again."
        ) from error
    try:
        check_result(tree)
        check_draws(tree)
    except InputError as error:
        raise InputError(f"{source} holds no result: {error}") from error
    # netCDF hands numbers back as NumPy scalars, which JSON and `is` tests do not take.
    tree.attrs = {name: plain(value) for name, value in tree.attrs.items()}
    return tree


def _checksum(content: bytes) -> bytes:
    return _MARK + hashlib.sha256(content).hexdigest().encode()


def _check_unchanged(path: Path) -> None:
    """Compare the checksum; files of earlier versions, or that HDF5 changed since, have none."""
    written = path.read_bytes()
    content, stored = written[:-_CHECKSUM_LENGTH], written[-_CHECKSUM_LENGTH:]
    if stored.startswith(_MARK) and stored != _checksum(content):
        raise ValueError("its checksum is another one: the file was damaged")


_NUMBERS: Final = "biuf"


def check_draws(tree: xr.DataTree) -> None:
    """Check the draws of a posterior, which come from a file."""
    # A metric may be undefined, as an AUC and ROC curve of draws of labels of one class.
    undefined = {one.name for one in access.of_role(tree, METRIC)} | schema.RATES
    for name, draws in tree[schema.POSTERIOR].dataset.data_vars.items():
        if draws.dtype.kind not in _NUMBERS:
            raise InputError(
                f"posterior/{name} must hold numbers; it has the type {draws.dtype}. Fit again."
            )
        if name not in undefined and _lacks(draws):
            raise InputError(
                f"posterior/{name} must hold numbers; {int(draws.isnull().sum())} of its "
                f"{draws.size} are NaN. Fit again."
            )


def _lacks(draws: xr.DataArray) -> bool:
    """Whether a number is missing other than in all draws of some classes, bins or descriptions."""
    missing = draws.isnull()
    if not missing.any():
        return False
    of_draws = [dim for dim in schema.DRAW_DIMS if dim in draws.dims]
    never = missing.all(of_draws)
    own = set(draws.dims) - {*schema.DRAW_DIMS, *schema.CASE_DIMS}
    return bool((missing.any(of_draws) & ~never).any()) or not own or bool(never.all())


# Earlier versions did not say a result's kind: their quantities are named here alone.
_KINDS: Final = {"ece": "errors", "pu_ece": "errors", "ssme": "metrics", "credal": "rows"}
# Sections of the report that only some quantities have.
_SECTIONS: Final = {
    "agnostic": ["costs"],
    "credal": ["rows"],
    "pu_ece": ["class_prior"],
    "ssme": ["assumptions"],
    "temperature": ["classes"],
}
_POINT_LABELS: Final = {"ssme": "SSME-KDE"}
_GROUPS: Final = {"yardsticks": schema.REFERENCE_ESTIMATES, "pairing": schema.ERROR_CORRELATION}
_ONLY_ECE: Final = ("log_bayes_factor_jump", "jump_flag")
_ONLY_WEIGHTED: Final = ("importance_ess",)
# Numbers that are 0 where a classifier is calibrated.
_MAY_BE_ZERO: Final = ("tce", "ece", "mce", "c", "ks")

# Metrics of version 0.2 that had a direction, in the order of its tables.
_METRICS: Final = {
    "accuracy": "accuracy",
    "ece": "ECE",
    "auc": "AUC",
    "auprc": "AUPRC",
    "mce": "MCE",
    "log_loss": "log loss",
    "brier": "Brier score",
}
_FULL: Final = {one.name: one.full for one in CALIBRATION_ERRORS}
_MORE: Final = ("accuracy", "auc", "auprc")
_LESS: Final = ("max_ece", "avg_ece")
_TITLES: Final = {
    "avg_ece": "avg-ECE",
    "avg_ece_uncalibrated": "avg-ECE before calibration",
    "class_ece": "ECE",
    "class_ece_uncalibrated": "ECE before calibration",
    "ece_uncalibrated": "ECE before calibration",
    "max_ece": "max-ECE",
    "max_ece_uncalibrated": "max-ECE before calibration",
    "unlabeled_auc": "AUC, unlabelled rows",
    "unlabeled_cost": "cost, unlabelled rows",
}


def upgrade(tree: xr.DataTree) -> xr.DataTree:
    """Bring a result of an earlier version to the present schema; others are left as they are."""
    tree = _of_version_2(tree)
    if schema.VARIABLES not in tree.attrs and schema.RESULT_KIND in tree.attrs:
        tree.attrs[schema.VARIABLES] = to_json(_variables(tree))
        if tree.attrs[schema.RESULT_KIND] == "rows":
            tree.attrs.setdefault(schema.POINT_LABEL, "Venn-Abers")
        own = _SECTIONS.get(str(tree.attrs.get("quantity")), [])
        tree.attrs.setdefault("sections", json.dumps(own))
    return _with_zeros(tree)


def _with_zeros(tree: xr.DataTree) -> xr.DataTree:
    """Put in draws of calibrated classifiers, which 0.2 left out; its evidence has the power 1."""
    if schema.MODEL_AVERAGE not in tree.children or schema.GIVEN_MISCALIBRATION in tree.children:
        return tree
    average = tree[schema.MODEL_AVERAGE].to_dataset()
    if schema.P_CALIBRATED not in average:
        return tree
    held = average[schema.P_CALIBRATED]
    posterior = tree[schema.POSTERIOR].to_dataset()
    names = [name for name in _MAY_BE_ZERO if name in posterior]
    size = posterior.sizes[schema.CHAIN] * posterior.sizes[schema.DRAW]
    order = np.random.default_rng(0).permutation(size).reshape(posterior.sizes[schema.CHAIN], -1)
    place = xr.DataArray((order + 0.5) / size, dims=schema.DRAW_DIMS)
    given = posterior[names]
    zeros = given.map(
        lambda draws: draws.where(place >= held.fillna(0.0), 0.0).transpose(*draws.dims)
    )
    tree[schema.POSTERIOR] = posterior.assign(zeros)
    tree[schema.GIVEN_MISCALIBRATION] = given
    tree.attrs.setdefault(schema.AVERAGE_POWER, 1.0)
    return tree


def _of_version_2(tree: xr.DataTree) -> xr.DataTree:
    if tree.attrs.get("schema_version") != 1 or tree.attrs.get("quantity") not in _KINDS:
        return tree
    quantity = str(tree.attrs["quantity"])
    groups = {
        _GROUPS.get(str(name), str(name)): child.to_dataset()
        for name, child in tree.children.items()
    }
    if schema.DIAGNOSTICS in groups:
        surplus = {"ece": (), "pu_ece": _ONLY_ECE}.get(quantity, _ONLY_ECE + _ONLY_WEIGHTED)
        groups[schema.DIAGNOSTICS] = groups[schema.DIAGNOSTICS].drop_vars(surplus, errors="ignore")
    attrs = dict(tree.attrs)
    nuts = str(attrs.get("sampler", "")).startswith("nutpie")
    attrs |= {
        "schema_version": schema.SCHEMA_VERSION,
        schema.RESULT_KIND: _KINDS[quantity],
        "method": "nuts" if nuts else "direct",
    }
    if quantity in _POINT_LABELS:
        attrs[schema.POINT_LABEL] = _POINT_LABELS[quantity]
    if "survives" in attrs:
        attrs["robust"] = attrs.pop("survives")
    found = xr.DataTree.from_dict(groups)
    found.attrs = attrs
    return found


def _variables(tree: xr.DataTree) -> list[Variable]:
    held, estimated = (
        [str(name) for name in tree[group].data_vars] if group in tree.children else []
        for group in (schema.POSTERIOR, schema.POINT_ESTIMATE)
    )
    names = [name for name in held if name in _METRICS or name in estimated]
    return variables_of_kind(str(tree.attrs[schema.RESULT_KIND]), names)


def variables_of_kind(kind: str, names: Sequence[str]) -> list[Variable]:
    """What version 0.2 knew of variables, and did not store; metrics are `names`."""
    if kind == "errors":
        class_prior = Variable("class_prior", "class prior", point="class_prior")
        return [*CALIBRATION_ERRORS, *CALIBRATION_CURVE, class_prior]
    if kind == "rows":
        return [Variable("prob", "class probability", ("obs",), ROW, point="prob")]
    ordered = [name for name in _METRICS if name in names]
    ordered += [name for name in names if name not in ordered]
    found = [_metric(name, f"{name}_uncalibrated" in names) for name in ordered]
    return [*found, *CALIBRATION_CURVE]


def _metric(name: str, calibrated: bool) -> Variable:
    title = _METRICS.get(name) or _TITLES.get(name) or name.replace("_", " ")
    if (cost := name.removeprefix("unlabeled_cost_")) != name:
        title = f"cost {cost}, unlabelled rows"
    full = _FULL.get(name, "")
    if calibrated:
        title, full = f"{title} after calibration", full and f"{full} after calibration"
    better = MORE if name in _MORE else LESS if name in (*_METRICS, *_LESS) else None
    return Variable(name, title, (), METRIC, better, name, "", full)
