"""Random numbers as the versions drew them that the golden numbers are of."""

from collections.abc import Iterator

import numpy as np
import pytest

from bayescal.workflow import sampling


@pytest.fixture(scope="module")
def streams_by_place() -> Iterator[None]:
    """Case i drew from ``default_rng([seed, i])``; each golden fit has one case."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            sampling, "stream", lambda seed, *names, number=0: np.random.default_rng([seed, number])
        )
        yield
