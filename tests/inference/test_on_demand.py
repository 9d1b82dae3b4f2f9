"""Modules that are loaded only when something of them is used."""

import subprocess
import sys

import pytest

from bayescal.inference.on_demand import on_demand


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_stand_in_loads_the_module_when_used():
    code = """
import sys
from bayescal.inference.on_demand import on_demand
with on_demand("wave"):
    import wave
assert "wave" not in sys.modules
print(wave.open.__name__, "wave" in sys.modules, wave.Error is __import__("wave").Error)
"""
    assert run(code) == "open True True"


def test_what_the_block_uses_is_loaded_at_once():
    code = """
import sys
from bayescal.inference.on_demand import on_demand
with on_demand("wave"):
    import wave
    print(wave.open.__name__)
print(sys.modules["wave"].open is wave.open)
"""
    assert run(code).split() == ["open", "True"]


def test_a_loaded_module_stays_as_it_is():
    with on_demand("sys"):
        import sys as inner
    assert inner is sys
    assert sys.modules["sys"] is sys


def test_an_error_in_the_block_leaves_no_stand_in():
    code = """
import sys
from bayescal.inference.on_demand import on_demand
try:
    with on_demand("wave"):
        raise KeyError
except KeyError:
    print("wave" in sys.modules)
"""
    assert run(code) == "False"


@pytest.mark.mcmc
def test_sampling_loads_no_plotting_and_nutpie_still_finds_arviz():
    code = """
import sys
import bayescal.inference.sampler
print([name for name in ("arviz", "arviz_stats", "matplotlib") if name in sys.modules])
import arviz
assert sys.modules["nutpie.sample"].arviz.from_dict is arviz.from_dict
"""
    assert run(code) == "[]"
