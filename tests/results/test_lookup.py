from __future__ import annotations

import pytest

from bayescal.core.errors import InputError
from bayescal.results.access import find_case
from tests.synthetic import make_result


def test_nothing_asked_is_the_first_case() -> None:
    assert find_case(make_result(("vit", "gbm"), classes=("cat", "dog"))).label == "vit / cat"


def test_names_narrow_the_choice() -> None:
    tree = make_result(("vit", "gbm"), classes=("cat", "dog"))
    assert find_case(tree, class_="dog").label == "vit / dog"
    assert find_case(tree, "gbm", "dog").label == "gbm / dog"


def test_a_lone_classifier_is_found_by_its_name() -> None:
    assert find_case(make_result(("vit",)), "vit").classifier == "vit"


def test_an_unknown_name_lists_the_choices() -> None:
    with pytest.raises(InputError, match=r"got 'resnet'\. Choose from 'vit', 'gbm'"):
        find_case(make_result(("vit", "gbm")), "resnet")


def test_a_dimension_that_is_not_there_is_said_to_be_missing() -> None:
    with pytest.raises(InputError, match="This result has no group dimension"):
        find_case(make_result(("vit",)), group="women")
