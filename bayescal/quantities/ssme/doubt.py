"""What is missing in the labels, in sentences that a status shows."""

from __future__ import annotations

import numpy as np

from bayescal.core.checks import listing
from bayescal.quantities.ssme.panel import Panel


def doubts(panel: Panel) -> list[str]:
    """Say what the labels cannot tell."""
    if panel.n_labeled == 0:
        return [
            "no row is labeled: the answer is what the classifiers say of each other under the "
            "prior, and no data have checked it. Label some rows."
        ]
    found = []
    count = np.bincount(panel.y[panel.labeled], minlength=panel.n_classes)
    bare = [panel.classes[k] for k in np.flatnonzero(count == 0)]
    if bare:
        found.append(
            f"no label of {listing(bare)}: what is said of such a class rests on the prior. Label "
            "more rows, chosen as the others were."
        )
    if panel.group is not None:
        labels = np.bincount(panel.group[panel.labeled], minlength=len(panel.groups))
        unseen = [panel.groups[g] for g in np.flatnonzero(labels == 0)]
        if unseen:
            found.append(f"no label in group {listing(unseen)}: it is taken to be like the others.")
    return found
