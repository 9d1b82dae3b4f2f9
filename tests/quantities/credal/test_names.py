import subprocess
import sys

import pytest

import bayescal.quantities.credal as credal

ARITHMETIC = """
import sys
import bayescal.quantities.credal as credal
for name in ("estimate", "bounds", "fit_ivap", "discount", "project", "e_admissible"):
    getattr(credal, name)
print([name for name in ("sklearn", "pymc", "pytensor", "pandas") if name in sys.modules])
"""


def test_every_name_loads_and_is_listed():
    for name in credal.__all__:
        # Names in capitals are what the quantity says of itself.
        assert name.isupper() or callable(getattr(credal, name))
        assert name in dir(credal)


@pytest.mark.slow
def test_the_arithmetic_loads_neither_scikit_learn_nor_pymc():
    run = subprocess.run(
        [sys.executable, "-c", ARITHMETIC], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"
