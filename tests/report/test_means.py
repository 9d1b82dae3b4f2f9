"""Means over classes, as the answer says them."""

from bayescal.report.answers import MOST_MEANS, means_over_classes
from bayescal.report.sections import answer
from bayescal.report.view import View
from bayescal.results.marginal import marginal
from tests.synthetic import make_result

CLASSES = ("cat", "dog", "owl")


def test_one_sentence_has_the_numbers() -> None:
    tree = make_result(("vit",), classes=CLASSES, draws=200)
    found = marginal(tree, "tce", 0.8)
    (said,) = means_over_classes(View(tree, 0.8))
    assert said.striptags() == (
        f"The calibration error of vit, averaged over its classes, is {found.mean:.3f} "
        f"(80% credible interval {found.lower:.3f} to {found.upper:.3f}; "
        f"the plug‑in ECE so averaged is {found.plug_in:.3f})."
    )


def test_names_are_escaped_and_groups_named() -> None:
    tree = make_result(("<b>",), classes=CLASSES, groups=("x", "y"), draws=100)
    said = means_over_classes(View(tree, 0.9))
    assert len(said) == 2
    assert "of <b> in group x, averaged" in said[0].striptags()
    assert "&lt;b&gt;" in said[0]


def test_there_is_none_without_classes_or_with_too_many() -> None:
    assert means_over_classes(View(make_result(("a", "b"), draws=100), 0.9)) == []
    names = tuple(f"c{k}" for k in range(MOST_MEANS + 1))
    many = make_result(names, classes=CLASSES, draws=50)
    assert means_over_classes(View(many, 0.9)) == []


def test_where_the_mean_is_the_estimand_it_comes_first() -> None:
    tree = make_result(("vit",), classes=CLASSES, draws=100)
    (said,) = means_over_classes(View(tree, 0.9))
    places = []
    for kind in ("class-wise", "marginal"):
        tree.attrs["multiclass"] = kind
        lead = str(answer(View(tree, 0.9))).split('class="lead">')[1]
        places.append(lead.index(str(said)))
    assert places[1] == 0 < places[0]
