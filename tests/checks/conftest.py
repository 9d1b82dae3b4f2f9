"""Checks of text and structure, run by `make lint`: marked `lint`, left out of `make test`."""

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/checks/" in item.path.as_posix():
            item.add_marker("lint")
