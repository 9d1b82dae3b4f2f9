"""Names that load on first use: found once, kept, refused as Python refuses."""

import sys

import pytest

from bayescal.core.lazy import lazy_names


def package() -> dict[str, object]:
    """What `globals()` gives in a package; the standard library's json stands in for it."""
    return {"__name__": "json"}


def test_a_name_comes_from_its_module_and_is_kept() -> None:
    names = package()
    load, _ = lazy_names(names, {"JSONDecoder": "decoder"})
    import json.decoder

    assert "JSONDecoder" not in names
    assert load("JSONDecoder") is json.decoder.JSONDecoder
    assert names["JSONDecoder"] is json.decoder.JSONDecoder


def test_a_module_is_a_name_of_its_own() -> None:
    load, _ = lazy_names(package(), {}, ("scanner",))
    assert load("scanner") is sys.modules["json.scanner"]


def test_other_names_are_refused_with_the_words_of_python() -> None:
    load, _ = lazy_names(package(), {"JSONDecoder": "decoder"})
    with pytest.raises(AttributeError, match=r"^module 'json' has no attribute 'dump_all'$"):
        load("dump_all")


def test_all_names_are_listed_loaded_or_not() -> None:
    _, listed = lazy_names(package(), {"JSONDecoder": "decoder"}, ("scanner",))
    assert listed() == ["JSONDecoder", "__name__", "scanner"]
