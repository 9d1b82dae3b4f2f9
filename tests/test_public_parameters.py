"""Each parameter of every public callable in turn with values that cannot be right.

A fixed part of the calls; benchmarks/public_parameters.py makes all of them.
"""

import math

import numpy as np
import pytest
from hostile import judge, public, sweep

import bayescal as bc

# Take seconds for a call: here only the values that are refused at once, in the benchmark all.
SLOW = {
    "bayescal.fit_many": "fits, with a store",
    "bayescal.prior_sensitivity": "fits under several priors",
    "bayescal.report": "draws all figures",
    "bayescal.ssme.baselines.bayesian_calibration": "compiles a model",
    "bayescal.ssme.estimate_flow": "trains a network on JAX",
    "fit pu_ece": "searches the modes of a curve",
    "fit ssme": "compiles a model",
    **{f"bayescal.{name}.build_model": "makes a PyMC model" for name in public.quantities()},
}
REFUSED = "an object"
_VALUES = list(sweep.FEW)


@pytest.fixture(scope="module", autouse=True)
def _folder(tmp_path_factory: pytest.TempPathFactory) -> object:
    """Words that name files are written elsewhere."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("sweep"))
        yield


@pytest.mark.mcmc
@pytest.mark.parametrize("name", sorted(public.callables()))
def test_public_parameters(name: str) -> None:
    """A value a parameter, and another one for the next."""
    for place, parameter in enumerate(public.parameters(public.callables()[name])):
        said = REFUSED if name in SLOW else _VALUES[(5 * place + len(name)) % len(_VALUES)]
        found = judge.trouble(sweep.case(name, parameter, sweep.FEW[said]))
        assert found is None, f"{parameter}: {said}"


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(public.callables()) - set(SLOW)))
def test_right_arguments_are_right(name: str) -> None:
    """Otherwise a wrong argument would be refused for the wrong reason."""
    case = judge.Case(name, lambda: public.callables()[name](**public.right(name)))
    assert judge.trouble(case) is None


def test_what_is_left_out_exists() -> None:
    """Names that are gone, or are swept by now, leave the lists."""
    assert set(public.LEFT_OUT) <= set(public.found())
    assert set(SLOW) <= set(public.callables())
    assert set(public.RIGHT) <= {
        f"{name}.{parameter}"
        for name, call in public.callables().items()
        for parameter in public.parameters(call)
    }


P, Y = np.array([0.1, 0.4, 0.6, 0.9]), np.array([0, 1, 0, 1])
PROBS = np.array([[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]])
LOGITS = np.log(np.tile(PROBS, (4, 1)))
CODES = np.tile([0, 1, 2], 4)
SCORES = bc.Scores(y_true=Y, y_prob=P)
CLASSES = bc.Scores(y_true=[0, 1, 2], y_prob=PROBS)
DIRECT = {"method": "direct", "draws": 20, "chains": 1, "seed": 1}
calibrators = bc.temperature


def _two_slices() -> object:
    slices = np.zeros((len(CODES), 2))
    return calibrators.SliceCalibration().fit(LOGITS, CODES, slices=slices)


# What was a raw error, ran on, or was taken as if it were right.
WRONG = {
    "binning must be a Binning": lambda: bc.fit("ece", SCORES, binning=15, **DIRECT),
    "calibration_bins must be Binning": lambda: bc.fit(
        "temperature", CLASSES, calibration_bins=5, **DIRECT
    ),
    "a bundle must be": lambda: calibrators.SliceCalibration(bundles=[0, 1]).fit(LOGITS, CODES),
    "bundles must be": lambda: calibrators.SliceCalibration(bundles=0).fit(LOGITS, CODES),
    "min_rows must be a whole number >= 1; got 'a'": lambda: calibrators.SliceCalibration(
        min_rows="a"
    ).fit(LOGITS, CODES),
    "min_rows must be a whole number >= 1; got -1": lambda: calibrators.SliceCalibration(
        min_rows=-1
    ).fit(LOGITS, CODES),
    "slices must ": _two_slices,
    "delta must be a number in": lambda: bc.ece.bounds(10, delta="0.1"),
    "c must be a number in": lambda: bc.agnostic.roc_region(P, "0.1"),
    "gamma must be a number in": lambda: bc.temperature.estimate(CLASSES, gamma="1"),
    "alpha_min must be a number in": lambda: calibrators.TemperatureScaling(alpha_min="a").fit(
        LOGITS, CODES
    ),
    "calibrated must be a number in": lambda: bc.ece.Priors(calibrated="0.5"),
    "exact must be a number in": lambda: bc.temperature.Priors(exact="1"),
    "concentration must hold": lambda: bc.temperature.Priors(concentration=5),
    "norm must be a number in": lambda: bc.agnostic.shattering_weights(
        np.eye(2), [1, -1], norm=math.nan
    ),
    "norm must be a number in .*; got -5": lambda: bc.agnostic.shattering_weights(
        np.eye(2), [1, -1], norm=-5
    ),
    "loss must return a finite number": lambda: bc.agnostic.least_loss_calibrated(
        P, label=Y, loss=lambda rate: rate * math.nan
    ),
    "label must be 0, 1 or 2 in each row": lambda: bc.agnostic.half_plane_measure(
        PROBS, label=np.zeros((3, 2))
    ),
    "n must be a whole number": lambda: bc.temperature.rare_feature_factor(math.nan),
    "labelled rows alone must be above 0": lambda: bc.ssme.rescaled_error(0.9, 5e-324),
    "n must be a whole number >= 1; got 0": lambda: bc.temperature.train_on_rare_feature(
        0, 10, 1.0, np.random.default_rng(1)
    ),
    "rows must be a whole number >= 1; got 0": lambda: bc.temperature.train_on_rare_feature(
        10, 0, 1.0, np.random.default_rng(1)
    ),
    "n must be 1,000,000,000,000,000 at most": lambda: bc.temperature.bounds(
        10**30, 3, logit_norm=1.0
    ),
    "n_classes must be a whole number >= 2; got inf": lambda: bc.credal.zero_one(math.inf),
    "n_draws must be 1,000,000 at most": lambda: bc.ssme.estimate_each(SCORES, n_draws=10**30),
    "from_logits must be True or False": lambda: bc.Scores(y_true=Y, y_prob=P, from_logits="no"),
}


@pytest.mark.parametrize("message", WRONG)
def test_what_is_wrong_is_refused_in_one_line(message: str) -> None:
    with pytest.raises(bc.InputError, match=message) as refused:
        WRONG[message]()
    assert "\n" not in str(refused.value)
