"""The help of every command fits 80 columns and cuts nothing; printed steps keep their indent."""

import io
import re
from dataclasses import replace

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

from nsrecover.cli.app import app
from nsrecover.cli.printed import Printer
from nsrecover.explanation.grounded import GroundedExplainer
from tests.nsrecover.explanation.made_episodes import fallen

COMMANDS = sorted(each.name or each.callback.__name__ for each in app.registered_commands if each.callback)


def helped(*command: str) -> str:
    return CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "80"}, terminal_width=80).output


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_80_columns_and_is_not_cut(command: str) -> None:
    text = helped(*filter(None, [command]))
    assert "Usage:" in text
    assert max(map(len, text.splitlines())) <= 80
    assert not re.search(r"…|[a-z,;:]\.\.\.$", text, re.MULTILINE)


def test_every_option_and_argument_of_a_command_has_its_own_name_and_help() -> None:
    """On Python 3.10, too, which wraps the types of options with a default of None."""
    bare = [
        f"{name} {parameter.name}"
        for name, command in typer.main.get_command(app).commands.items()  # type: ignore[attr-defined]
        for parameter in command.params
        if not getattr(parameter, "help", None)
    ]
    assert bare == []


def test_printed_explanations_keep_their_indent() -> None:
    episode, out = fallen(), io.StringIO()
    printer = Printer(Console(file=out, width=60))
    record = episode.records[1]
    printer.recorded(replace(record, explanation=GroundedExplainer()(record.discrepancy, record.recovery)))
    _, *explained = out.getvalue().rstrip().splitlines()
    assert len(explained) > 1
    assert all(line.startswith("     ") for line in explained)
