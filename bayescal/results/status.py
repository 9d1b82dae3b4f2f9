"""What is wrong with a result, sentence by sentence, with the cases that each is of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import xarray as xr

from bayescal.results import access, schema
from bayescal.results.access import ResultSlice

_MOST_NAMES: Final = 4


class Warned(NamedTuple):
    """A sentence, and the names of the cases that it is of, by dimension.

    A fit of all classifiers at once has no names.
    """

    text: str
    cases: Sequence[Mapping[str, str]]


def gather(said: Iterable[tuple[Mapping[str, str], str]]) -> list[Warned]:
    """Put sentences of single cases together, each sentence once."""
    by_text: dict[str, list[Mapping[str, str]]] = {}
    for coords, text in said:
        by_text.setdefault(text, []).append(dict(coords))
    return [Warned(text, cases) for text, cases in by_text.items()]


def in_words(found: Sequence[Warned], n_priors: int = 1) -> str:
    """Say "ok", or name cases, problems and remedies, and under which priors, unless it is all."""
    by_prior: dict[str, list[tuple[Mapping[str, str], str]]] = {}
    for text, cases in found:
        for coords in cases:
            own = {dim: name for dim, name in coords.items() if dim != schema.PRIOR_NAME}
            by_prior.setdefault(coords.get(schema.PRIOR_NAME, ""), []).append((own, text))
    priors: dict[str, list[str]] = {}
    for prior, said in by_prior.items():
        priors.setdefault(" ".join(map(_sentence, gather(said))), []).append(prior)
    found_under = (
        text if len(names) == n_priors else f"Under {', '.join(names)}: {text}"
        for text, names in priors.items()
    )
    return " ".join(found_under) or schema.OK


def _sentence(one: Warned) -> str:
    names = [", ".join(coords.values()) or "all classifiers" for coords in one.cases]
    shown = names if len(names) <= _MOST_NAMES else names[: _MOST_NAMES - 1]
    more = f" and {len(names) - len(shown)} more" if len(shown) < len(names) else ""
    return f"{', '.join(shown)}{more}: {one.text}"


def status(tree: xr.DataTree, shown: Sequence[ResultSlice] | None = None) -> str:
    """Status of the cases shown, or of all that a result, or a selection of it, holds.

    A result of an earlier version has one text for all its cases.
    """
    cases = access.cases(tree) if shown is None else shown
    if schema.WARNINGS not in tree.attrs:
        others = access.all_converged(tree, cases) and not access.is_converged(tree)
        return schema.OK if others else str(tree.attrs["status"])
    return in_words(
        [
            Warned(text, of_shown)
            for text, coords in access.json_attribute(tree, schema.WARNINGS)
            if (of_shown := [one for one in coords if any(_is_of(one, case) for case in cases)])
        ],
        len({case.prior for case in cases}),
    )


def _is_of(coords: Mapping[str, str], case: ResultSlice) -> bool:
    """Whether a case is the named one, or part of it."""
    names = {
        schema.CLASSIFIER: case.classifier,
        schema.CLASS: case.class_,
        schema.GROUP: case.group,
        schema.PRIOR_NAME: case.prior,
    }
    return all(names[dim] in (None, name) for dim, name in coords.items())
