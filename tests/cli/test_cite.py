"""``bayescal cite`` names the papers that the quantities name."""

from click.testing import CliRunner

from bayescal.cli.main import cli
from bayescal.quantities import QUANTITIES


def test_every_room_and_every_paper() -> None:
    out = CliRunner().invoke(cli, ["cite"]).stdout
    for name, quantity in QUANTITIES.items():
        assert f"{name}: {quantity.TITLE}" in out
        for reference in quantity.REFERENCES:
            assert reference.citation in out
            assert reference.where in out


def test_one_room() -> None:
    assert CliRunner().invoke(cli, ["cite", "ece"]).stdout.startswith("ece: ")


def test_an_unknown_room_is_refused() -> None:
    result = CliRunner().invoke(cli, ["cite", "auc"])
    assert result.exit_code == 2
    assert "ROOM must be one of ece" in result.stderr
