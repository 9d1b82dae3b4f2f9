"""``bayescal cite`` names the papers that the quantities name."""

from click.testing import CliRunner

from bayescal.cli.main import cli
from bayescal.quantities import quantities


def test_every_quantity_and_every_paper() -> None:
    out = CliRunner().invoke(cli, ["cite"]).stdout
    for name, quantity in quantities().items():
        assert f"{name}: {quantity.TITLE}" in out
        for reference in quantity.REFERENCES:
            assert reference.citation in out
            assert reference.where in out


def test_one_quantity() -> None:
    assert CliRunner().invoke(cli, ["cite", "ece"]).stdout.startswith("ece: ")


def test_an_unknown_quantity_is_refused() -> None:
    result = CliRunner().invoke(cli, ["cite", "auc"])
    assert result.exit_code == 2
    assert f"QUANTITY must be one of {', '.join(sorted(quantities()))}; got 'auc'" in result.stderr


def test_a_command_name_is_a_name_too() -> None:
    assert CliRunner().invoke(cli, ["cite", "pu-ece"]).stdout.startswith("pu_ece: ")
