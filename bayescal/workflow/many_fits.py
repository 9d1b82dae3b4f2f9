"""What `bayescal.fit_many` returns: results by key, read when they are asked for."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bayescal.core.checks import check_known
from bayescal.core.errors import InputError, ManyFitsWarning
from bayescal.results import access, schema
from bayescal.workflow import archive
from bayescal.workflow.archive import Key, check_key, joined, label, listed
from bayescal.workflow.store import Failure, Store, difference

if TYPE_CHECKING:
    import pandas as pd
    from xarray import Dataset, DataTree


FIT = "fit"


def stacked(fits: Iterable[tuple[Key, xr.DataTree]], names: Sequence[str]) -> xr.Dataset:
    """Join the draws of variables with one value a case, (fit, ..., chain, draw)."""
    found = {key: _draws(tree, names) for key, tree in fits}
    if not found:
        raise InputError("there must be at least one result; all fits failed. Read .failures.")
    shapes: dict[str, Key] = {}
    for key, draws in found.items():
        shapes.setdefault(_shape(draws), key)
    if len(shapes) > 1:
        different = " and ".join(f"{shape} ({label(key)})" for shape, key in shapes.items())
        raise InputError(
            "fits must have the same classifiers, classes, groups and number of draws to be "
            f"joined; they have {different}. Join those that agree, with xarray.concat."
        )
    joined = xr.concat(
        list(found.values()), FIT, join="override", coords="minimal", compat="override"
    )
    return joined.assign_coords({name: (FIT, parts) for name, parts in _parts(list(found))})


def _draws(tree: xr.DataTree, names: Sequence[str]) -> xr.Dataset:
    posterior = tree[schema.POSTERIOR].to_dataset()
    scalars = tuple(name for name in map(str, posterior) if access.is_scalar(posterior[name]))
    for name in names:
        check_known(name, scalars, "variable", "the results, with one value a case,")
    return posterior[list(names or scalars)]


def _shape(draws: xr.Dataset) -> str:
    cases = [f"{dim} {draws[dim].values.tolist()}" for dim in schema.CASE_DIMS if dim in draws.dims]
    return ", ".join([*cases, *(f"{draws.sizes[dim]} {dim}s" for dim in schema.DRAW_DIMS)])


def _parts(keys: Sequence[Key]) -> Iterator[tuple[str, np.ndarray]]:
    """Coordinates of the fits: their keys, or a part of them each where all have as many."""
    lengths = {len(key) if isinstance(key, tuple) else 0 for key in keys}
    if lengths == {0} or len(lengths) > 1:
        yield "key", np.array([joined(key) for key in keys])
        return
    for place in range(lengths.pop()):
        parts = [key[place] for key in keys if isinstance(key, tuple)]
        yield f"key_{place + 1}", np.array(parts)


@dataclass(slots=True, repr=False, eq=False)
class ManyFits(Mapping["Key", "DataTree"]):
    """Results of many fits by key.

    Parameters
    ----------
    quantity : str
        Name of the quantity.
    path : pathlib.Path or None
        Directory of the store; None where results are kept in memory.
    contents : dict
        Of each key the packed result, or its file.
    rows : dict
        Rows of the summary of each key.
    failures : dict of key to Failure
        Why there is no result for a key: name of the exception, and its message.
    computed : list of key
        Keys fitted by this call; the others were in the store.
    recomputed : dict of key to str
        Keys of these that the store had, and why they were fitted again.
    unconverged : list of key
        Keys whose fits did not converge.

    Notes
    -----
    A mapping: ``fits[key]`` reads one result, ``fits.items()`` one after the other. Nothing is held
    but the summaries, unless there is no store.
    """

    quantity: str
    path: Path | None = None
    contents: dict[Key, bytes | Path] = field(default_factory=dict)
    rows: dict[Key, list[dict[str, Any]]] = field(default_factory=dict)
    failures: dict[Key, Failure] = field(default_factory=dict)
    computed: list[Key] = field(default_factory=list)
    recomputed: dict[Key, str] = field(default_factory=dict)
    unconverged: list[Key] = field(default_factory=list)

    def __getitem__(self, key: Any) -> DataTree:
        """Read the result of a key."""
        found = self.contents.get(check_key(key))
        if found is None:
            failure = self.failures.get(check_key(key))
            raise KeyError(key if failure is None else f"{key!r} failed: {failure.message}")
        try:
            return archive.unpack(found, check_key(key))
        except archive.DamagedError as error:
            raise InputError(
                f"{found if isinstance(found, Path) else key!r} must hold a result; it is damaged: "
                f"{error}. Call fit_many again, which fits it anew."
            ) from error

    def __iter__(self) -> Iterator[Key]:
        return iter(self.contents)

    def __len__(self) -> int:
        return len(self.contents)

    def __repr__(self) -> str:
        stored = len(self.contents) - len([key for key in self.computed if key in self.contents])
        parts = [f"{len(self):,} results", f"{stored:,} of them from the store" if stored else ""]
        parts.append(f"{len(self.recomputed):,} fitted again" if self.recomputed else "")
        parts.append(f"{len(self.failures):,} failed" if self.failures else "")
        parts.append(f"{len(self.unconverged):,} not converged" if self.unconverged else "")
        return f"<ManyFits of {self.quantity}: {', '.join(part for part in parts if part)}>"

    def draws(self, *names: str) -> Dataset:
        """Join the posterior draws of all results, one fit beside the other.

        Parameters
        ----------
        *names : str
            Variables with one value a case, such as ``"tce"``. Without names all of them.

        Returns
        -------
        xarray.Dataset
            Variables of dims (fit, case dims, chain, draw), fits in the order of the keys, which
            are the coordinate ``key``; of tuples of one length each part is a coordinate,
            ``key_1`` and on.

        Raises
        ------
        InputError
            If there is no such variable, no result at all, fits differ in their classifiers,
            classes, groups or draws, or only summaries were kept.

        Notes
        -----
        An xarray data set is what other programs read: ``fits.draws("tce").to_netcdf(path)``, or
        ``.to_zarr(path)`` with Zarr installed.

        Examples
        --------
        >>> import bayescal as bc
        >>> truth = bc.datasets.ece.truth("over")
        >>> data = {("north", month): truth.scores(300, seed=month) for month in (1, 2)}
        >>> fits = bc.fit_many(bc.ece, data, method="direct", seed=20)
        >>> draws = fits.draws("tce", "ece")
        >>> dict(draws.sizes)
        {'fit': 2, 'chain': 4, 'draw': 1000}
        >>> draws["key_2"].values.tolist()
        [1, 2]
        """
        return stacked(self.items(), names)

    def summary(self) -> pd.DataFrame:
        """Tabulate all results, with the probability of the intervals that they were fitted with.

        Returns
        -------
        pandas.DataFrame
            Rows of `bayescal.summary` of each result, under its key as the index, of tuples a
            level a part. Keys that failed have one row, all empty but `status`, which says why.
        """
        import pandas as pd

        keys, records = [], []
        for key, rows in self.rows.items():
            keys += [key] * len(rows)
            records += rows
        for key, failure in self.failures.items():
            keys.append(key)
            records.append({"status": f"FAILED, {failure.error}: {failure.message}"})
        lengths = {len(key) if isinstance(key, tuple) else 0 for key in keys}
        if len(lengths) == 1 and lengths != {0}:
            index: pd.Index = pd.MultiIndex.from_tuples(keys)
        else:
            index = pd.Index(keys, name="key", tupleize_cols=False, dtype=object)
        return pd.DataFrame(records, index=index)


def load_many(path: str | os.PathLike[str]) -> ManyFits:
    """Open a store that `bayescal.fit_many` wrote, without fitting anything.

    Parameters
    ----------
    path : path
        The directory.

    Returns
    -------
    ManyFits
        Results by key, in the order of the keys, and failures.

    Raises
    ------
    InputError
        If there is no store, a file is damaged or a copy of another, or the fits are of several
        quantities; the message names it.

    Warns
    -----
    ManyFitsWarning
        If priors, options, settings or versions of the fits differ.
    """
    store = Store(path)
    store.check()
    heads, failures = store.heads(), store.failures()
    _check_alike(store.path, {key: head["recipe"] for key, head in heads.items()})
    found = ManyFits("", store.path, failures=failures)
    for key, head in heads.items():
        found.quantity = str(head["recipe"]["quantity"])
        # A fit of a key that has failed since is of data that the key has no more.
        if key not in failures:
            found.contents[key] = store.file(key)
            found.rows[key] = head["summary"]
            if not head["converged"]:
                found.unconverged.append(key)
    return found


def _check_alike(path: Path, recipes: Mapping[Key, Mapping[str, Any]]) -> None:
    """Refuse fits of several quantities, and warn of others that were not made in one way."""
    alike = {key: _compared(recipe) for key, recipe in recipes.items()}
    first = next(iter(alike), "")
    others = {key: difference(one, alike[first]) for key, one in alike.items()}
    others = {key: why for key, why in others.items() if why}
    if not others:
        return
    quantities = {str(recipe["quantity"]) for recipe in recipes.values()}
    if len(quantities) > 1:
        raise InputError(
            f"a store must hold fits of one quantity; {path} has those of "
            f"{' and '.join(sorted(quantities))}. Fit each into a store of its own."
        )
    whys = listed([f"{label(key)}: {why}" for key, why in others.items()], " | ")
    warnings.warn(
        f"{len(others)} of {len(recipes)} fits were made in another way than that of "
        f"{label(first)}, and cannot be compared with it. {whys}. Call fit_many with all data, "
        "which makes them alike.",
        ManyFitsWarning,
        stacklevel=3,
    )


def _compared(recipe: Mapping[str, Any]) -> dict[str, Any]:
    """What of a recipe fits must share to be compared."""
    return {name: value for name, value in recipe.items() if name not in ("data", "seed", "keep")}
