import pytest

import bayescal as bc
from bayescal.results.text import probability


@pytest.fixture(scope="module")
def result():
    scores = bc.datasets.temperature.truth("binary").scores(150, seed=1)
    return bc.fit(bc.temperature, scores, method="direct", seed=20)


def test_a_report_has_the_probability_of_each_model(result, tmp_path):
    bc.report(result, tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    section = page[page.index('id="models"') : page.index('id="classes"')]
    weights = result["model_average"]["weight"]
    for name in ("one temperature", "class temperatures", "vector scaling"):
        assert name.capitalize() in section
        assert probability(float(weights.sel(description=name))) in section
    assert "<strong>" in section


def test_a_result_of_one_model_has_no_such_section(result, tmp_path):
    other = result.copy()
    del other["model_average"]
    bc.report(other, tmp_path / "r.html")
    assert 'id="models"' not in (tmp_path / "r.html").read_text(encoding="utf-8")
