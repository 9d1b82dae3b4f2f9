"""Counts of rows by group, in one reading of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from bayescal.core.cell_sums import CountedColumns
from bayescal.core.checks import check_columns, check_flag
from bayescal.core.counts import Counts, check_labeled
from bayescal.core.intake import Column, code_groups
from bayescal.core.partial_sums import Batch, joined, summed
from bayescal.core.partitions import rows_of


@dataclass(frozen=True, slots=True)
class _ByGroup:
    """Counts by score and group."""

    parts: Mapping[tuple[str, str], Counts]

    def plus(self, other: _ByGroup) -> _ByGroup:
        """Add those of other rows."""
        found = dict(self.parts)
        for key, counts in other.parts.items():
            found[key] = found[key].plus(counts) if key in found else counts
        return _ByGroup(found)


def counted_by_group(
    data: Any,
    *,
    label: str,
    score: Sequence[str],
    group: str,
    pos_label: Any = 1,
    from_logits: bool = False,
    weight: str | None = None,
) -> dict[str, dict[str, Counts]]:
    """Count rows by narrow cells of each score, and by group."""
    check_columns(label=label, group=group, weight=weight)
    check_flag(from_logits, "from_logits")
    names = {"label": label, "group": group, "weight": weight}
    sum_up = partial(_sum_up, names, score, pos_label, from_logits)
    columns = [*score, *(name for name in names.values() if name is not None)]
    found: dict[str, dict[str, Counts]] = {}
    for (name, part), counts in summed(rows_of(data), columns, sum_up).parts.items():
        found.setdefault(name, {})[part] = counts
    for parts in found.values():
        check_labeled(joined(parts.values(), Counts.plus), label, weight)
    return found


def _sum_up(
    names: Mapping[str, str | None],
    scores: Sequence[str],
    pos_label: Any,
    from_logits: bool,
    batches: Iterator[Batch],
) -> _ByGroup:
    """Count the rows of a part: one group of a batch at a time, as its sums take 20 MB."""
    found = _ByGroup({})
    for batch in batches:
        columns = {key: None if name is None else batch.column(name) for key, name in names.items()}
        group = columns["group"]
        assert group is not None
        codes, groups = code_groups(group.values, group.name, len(group.values), group.name)
        for place, part in enumerate(groups):
            rows = np.flatnonzero(codes == place)

            def own(column: Column | None, rows: Any = rows, part: str = part) -> Any:
                if column is None:
                    return None
                return Column(f"{column.name}, rows of group {part!r}", column.values[rows])

            for score in scores:
                counted = CountedColumns(pos_label, names["weight"] is not None)
                weight = own(columns["weight"])
                counted.add(own(columns["label"]), own(batch.column(score)), weight, from_logits)
                found = found.plus(_ByGroup({(score, part): Counts(*counted.fields())}))
    return found
