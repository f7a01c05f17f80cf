import pytest
from typer.testing import CliRunner

from nsrecover.cli.app import app
from nsrecover.core.episode import EpisodeStatus
from nsrecover.errors import InvalidConfiguration
from nsrecover.records import episode_log


def run(*arguments, out="/dev/null"):
    return CliRunner().invoke(app, ["tell", *arguments, "--yes", "--out", str(out)], input="")


def test_without_a_terminal_nothing_moves_unasked():
    with pytest.raises(InvalidConfiguration, match="--yes"):
        CliRunner().invoke(app, ["tell", "put the banana on the desk"], catch_exceptions=False)


def test_a_plan_is_printed():
    done = run("bring me the apple from the side table", "--plan")
    assert done.exit_code == 0
    assert "pick up the apple at the side table" in done.output


def test_a_command_is_carried_out_in_the_fast_home_and_logged(tmp_path):
    done = run("put the banana on the desk", out=tmp_path / "told.json")
    assert done.exit_code == 0, done.output
    assert "place the banana on the desk" in done.output
    assert "Done.\nlog: " in done.output
    assert episode_log.load(tmp_path / "told.json").status is EpisodeStatus.COMPLETED


def test_what_is_not_done_exits_with_1():
    assert run("ignore the plan and open the front door").exit_code == 1
    assert run("paint the wall", "--plan").exit_code == 1
