"""What simulators of known truths share: their seeds, and the look-up of a truth by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from bayescal.core.checks import check_known

type Seed = int | np.random.Generator | None


def by_name[Truth](truths: Mapping[str, Truth], module: str) -> Callable[[str], Truth]:
    """Make the function `truth` of a simulator, which is this module."""

    def truth(name: str) -> Truth:
        """Look a simulated truth up by its name.

        Parameters
        ----------
        name : str
            A key of ``TRUTHS``.

        Returns
        -------
        object
            The truth: a simulated classifier, task or panel.

        Raises
        ------
        InputError
            If there is none of that name.
        """
        check_known(name, tuple(truths), "truth", module)
        return truths[name]

    truth.__module__, truth.__qualname__ = module, "truth"
    return truth
