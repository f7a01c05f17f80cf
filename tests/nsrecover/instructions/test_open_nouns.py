"""Objects that a home does not know are asked for once, and remembered in its file."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from eval.instructions.episodes import ScriptedOperator
from nsrecover.domains.service.home_file import SHIPPED, load_home, remember
from nsrecover.errors import InvalidConfiguration
from nsrecover.instructions.agent import OutcomeStatus, ServiceAgent
from nsrecover.instructions.understanding import Understanding
from nsrecover.testing.simulated_home import drawn_world


class Operator(ScriptedOperator):
    """Remembers the questions."""

    def __init__(self, *answers: str) -> None:
        super().__init__(answers)
        self.asked = list[str]()

    def ask(self, question: str) -> str:
        """The next answer."""
        self.asked.append(question)
        return super().ask(question)


def test_an_unknown_object_is_asked_for_once_and_remembered(tmp_path: Path) -> None:
    path = tmp_path / "home.yaml"
    path.write_text((SHIPPED / "apartment.yaml").read_text("utf-8"), "utf-8")
    asked = []
    for _ in range(2):
        home = load_home(path)
        world, operator = drawn_world(home, 1, None, ["stapler"], {"stapler": "desk"}), Operator("on the desk")
        agent = ServiceAgent(Understanding(home), world, operator, remember=partial(remember, path))
        assert agent.run("bring me the stapler").status is OutcomeStatus.DONE
        asked.append([each for each in operator.asked if "stapler" in each])
    assert (len(asked[0]), asked[1]) == (1, [])
    assert load_home(path).items["stapler"].place == "desk"
    assert "# " in path.read_text("utf-8")


def test_a_file_that_cannot_take_it_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "home.yaml"
    path.write_text("rooms: {hall: {}}\nplaces: {shelf: {room: hall}}\nobjects: {vase: {}}\n", "utf-8")
    with pytest.raises(InvalidConfiguration, match="braces"):
        remember(path, "stapler", "shelf")
    assert set(load_home(path).items) == {"vase"}
