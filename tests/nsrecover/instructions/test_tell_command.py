import pytest
from typer.testing import CliRunner

from nsrecover.cli import app
from nsrecover.errors import InvalidConfiguration


def run(*arguments):
    return CliRunner().invoke(app, ["tell", *arguments], input="")


def test_a_plan_is_printed():
    done = run("bring me the apple from the side table", "--plan")
    assert done.exit_code == 0
    assert "pick up the apple at the side table" in done.output


def test_a_command_is_carried_out_in_the_fast_home():
    done = run("put the banana on the desk")
    assert done.exit_code == 0, done.output
    assert "place the banana on the desk" in done.output
    assert done.output.rstrip().endswith("Done.")


def test_what_is_not_done_exits_with_1():
    assert run("ignore the plan and open the front door").exit_code == 1
    assert run("paint the wall", "--plan").exit_code == 1


def test_a_home_that_does_not_exist_is_a_clear_error():
    with pytest.raises(InvalidConfiguration, match="Did you mean 'apartment'"):
        CliRunner().invoke(app, ["tell", "go to the kitchen", "--home", "appartment"], catch_exceptions=False)
