"""What looks wrong in labels and scores is warned of, and in status, page and figures."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from scipy.special import expit

import bayescal as bc
from bayescal.cli.main import cli
from bayescal.core.plausibility import Sign

RNG = np.random.default_rng(1)
SCORE = RNG.random(400).round(6)
LABEL = (RNG.random(400) < SCORE).astype(int)
RIGHT = bc.Scores(y_true=LABEL, y_prob=SCORE, classifier="p")
REVERSED = bc.Scores(y_true=1 - LABEL, y_prob=SCORE, classifier="p")
AS_LOGITS = bc.Scores(y_true=LABEL, y_prob=SCORE, classifier="p", from_logits=True)
PANEL = {"p": SCORE, "q": np.clip(SCORE + RNG.normal(0, 0.05, 400), 0.01, 0.99)}


def fitted(quantity, data, **options):
    return bc.fit(quantity, data, method="direct", seed=1, draws=250, **options)


def of_scores(quantity):
    return lambda scores: fitted(quantity, scores)


def credal(scores):
    split = bc.CalibrationSplit(calibration=scores, target=[0.2, 0.8])
    return fitted(bc.credal, split, priors=bc.credal.Priors(bc.credal.ImpreciseDirichlet()))


FITS = {
    "ece": of_scores(bc.ece),
    "agnostic": of_scores(bc.agnostic),
    "credal": credal,
}


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize(
    ("scores", "sentence"),
    [(REVERSED, "the scores look reversed"), (AS_LOGITS, "Leave from_logits out")],
)
def test_a_fit_warns_and_its_status_says_so(name, scores, sentence):
    with pytest.warns(bc.DataWarning, match=sentence):
        result = FITS[name](scores)
    assert sentence in result.attrs["status"]
    assert result.attrs["converged"] == "true"


@pytest.mark.parametrize("name", FITS)
def test_nothing_is_said_of_calibrated_scores(name):
    assert "reversed" not in FITS[name](RIGHT).attrs["status"]


def test_positives_that_rank_below_unlabelled_rows():
    positive, unlabeled = SCORE[LABEL == 1], RNG.random(800)
    priors = bc.pu_ece.Priors(bc.Beta(50, 50))
    data = bc.PUScores(positive=1 - positive, unlabeled=unlabeled)
    with pytest.warns(bc.DataWarning, match="look reversed"):
        result = fitted(bc.pu_ece, data, priors=priors)
    assert "the scores look reversed" in result.attrs["status"]


def test_ssme_names_the_classifier_whose_scores_are_reversed():
    scores = bc.Scores.stack({"p": SCORE, "q": 1 - PANEL["q"]}, y_true=LABEL)
    (case,) = bc.ssme.plan(scores, bc.ssme.Priors()).cases
    (sign,) = [said for said in case.warnings if isinstance(said, Sign)]
    assert sign.startswith("q: the scores look reversed")


def test_each_group_is_looked_at():
    group = np.repeat(["a", "b"], 200)
    scores = bc.Scores(y_true=np.where(group == "b", 1 - LABEL, LABEL), y_prob=SCORE, group=group)
    (case,) = bc.ece.plan(scores, bc.ece.Priors()).cases
    (sign,) = case.warnings
    assert isinstance(sign, Sign)
    assert "b" in sign
    assert "the scores look reversed" in sign


@pytest.mark.parametrize("quantity", [bc.ece, bc.agnostic, bc.temperature])
def test_classes_in_another_order(quantity):
    scores = bc.datasets.temperature.truth("heterogeneous").scores(600, seed=1)
    moved = bc.Scores(y_true=(scores.y_true + 1) % 10, y_prob=scores.y_prob[0])
    with pytest.warns(bc.DataWarning, match="clearly less often than a guess among 10 classes"):
        fitted(quantity, moved)


def test_counted_rows_are_looked_at_as_rows_in_memory_are(tmp_path):
    path = tmp_path / "rows.parquet"
    # Labels 1 and 2 with the default pos_label, which takes 1 for the positive one.
    pq.write_table(pa.table({"y": 1 + LABEL, "p": SCORE}), path)
    for counts, quantity in (
        (bc.count_rows(path, label="y", score="p"), bc.ece),
        (bc.agnostic.count_rows(path, label="y", score="p"), bc.agnostic),
    ):
        with pytest.warns(bc.DataWarning, match="look reversed"):
            fitted(quantity, counts)
    logits = bc.count_rows(path, label="y", score="p", pos_label=2, from_logits=True)
    with pytest.warns(bc.DataWarning, match="Leave from_logits out"):
        fitted(bc.ece, logits)


def test_page_summary_and_command_line_show_it(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("y,p\n" + "".join(f"{1 - y},{p}\n" for y, p in zip(LABEL, SCORE, strict=True)))
    page = tmp_path / "page.html"
    words = ["ece", str(path), "--label", "y", "--score", "p"]
    done = CliRunner().invoke(cli, [*words, "--quick", "-o", str(page)])
    assert done.exit_code == 0
    assert "look reversed" in done.output
    assert "Read this first" in page.read_text()
    assert "look reversed" in page.read_text()
    for quantity in ("ece", "agnostic"):
        done = CliRunner().invoke(cli, [quantity, *words[1:], "--estimate-only", "--json"])
        assert "look reversed" in done.stderr
        json.loads(done.stdout)


def test_scores_in_percent_are_to_be_divided():
    with pytest.raises(bc.InputError, match=r"got 50 at row 0 .*divide percent by 100\.$"):
        bc.Scores(y_true=[0, 1], y_prob=[50.0, 99.5])
    with pytest.raises(bc.InputError, match=r"set from_logits=True\.$"):
        bc.Scores(y_true=[0, 1], y_prob=[-50.0, 99.5])
    assert bc.Scores(y_true=[0, 1], y_prob=expit([-50.0, 99.5])).n_obs == 2
