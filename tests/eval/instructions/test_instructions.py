import json

from eval.instructions.__main__ import MEASUREMENT, InstructionsConfig
from eval.instructions.asking import asked, sentences
from eval.instructions.generator import KINDS, UNSERVED, Generator
from eval.instructions.understood import (
    PARAPHRASES,
    agrees,
    paraphrases,
    understood_commands,
)
from eval.instructions.unserved import unserved_commands
from nsrecover.domains.service.home_file import load_home
from nsrecover.instructions.understanding import Understanding
from nsrecover.testing.simulated_home import drawn_home, drawn_world

HOME = load_home("apartment")


def test_a_seed_gives_the_same_commands_and_another_seed_others():
    one, same, other = Generator(HOME, 1), Generator(HOME, 1), Generator(HOME, 2)
    texts = [one.command().text for _ in range(20)]
    assert texts == [same.command().text for _ in range(20)]
    assert texts != [other.command().text for _ in range(20)]
    assert {one.command().kind for _ in range(600)} == set(KINDS)


def test_another_goal_or_place_does_not_agree():
    understanding = Understanding(HOME)
    task = understanding.task("bring me the apple from the side table")
    assert agrees(task, ["at apple operator @side table"])
    assert agrees(task, ["at apple operator"])
    assert not agrees(task, ["at apple operator @desk"])
    assert not agrees(task, ["at apple ashley @side table"])
    assert not agrees(task, [])


def test_most_generated_commands_are_understood():
    found = understood_commands(80, seed=3)
    assert found["understood"]["value"] > 0.9
    assert found["wrong_plan"]["value"] < 0.1


def test_the_paraphrases_are_different_sentences():
    sentences = {half: [sentence.lower() for _, sentence in paraphrases(half)] for half in PARAPHRASES}
    assert min(map(len, sentences.values())) >= 300
    assert not set(sentences["development"]) & {*sentences["held_out"], *sentences["another_hand"]}


def test_ambiguous_sentences_are_asked_about_and_their_twins_are_not():
    kinds = {half: [said.kind for said in sentences(half)] for half in ("development", "held_out", "another_hand")}
    assert all(
        kinds[half].count("ambiguous") == kinds[half].count("twin") == 20 for half in ("development", "held_out")
    )
    assert set(kinds["another_hand"]) == {"paraphrase"}
    found = asked("held_out")
    assert found["asked"]["ambiguous"]["value"] > 0.7
    assert found["asked"]["twin"]["value"] <= 0.25
    policies = found["policies"]
    assert policies["as shipped"]["wrongly_unasked"] < policies["never"]["wrongly_unasked"]
    assert policies["as shipped"]["questions_per_task"] < policies["always"]["questions_per_task"]


def test_drawn_homes_and_worlds_differ_and_repeat():
    assert drawn_home(1) == drawn_home(1)
    assert drawn_home(1).places != drawn_home(2).places
    home = drawn_home(1)
    assert drawn_world(home, 1).objects == drawn_world(home, 1).objects
    assert set(drawn_world(home, 1).objects.values()) <= set(home.furniture)


def test_the_command_writes_its_numbers(tmp_path):
    few = {"commands": 0, "episodes": 1, "homes": 0, "searches": 0, "corrections": 0, "half": "another_hand"}
    MEASUREMENT.run(InstructionsConfig(**few, workers=1, out=str(tmp_path)))
    metrics = json.loads((tmp_path / "metrics.json").read_text())
    assert set(metrics["recovered"]) == {"M1", "M2", "M3", "all", "false answers"}
    assert 0 <= metrics["paraphrases"]["understood"]["value"] <= 1
    assert "understood" not in metrics


# -- commands with something that no skill serves never lead to a plan, and the answer names it


def test_no_kind_of_them_leads_to_a_plan() -> None:
    found = unserved_commands(10 * len(UNSERVED), seed=11)
    assert found["examples"] == []
    assert (found["plan"]["value"], found["named"]["value"]) == (0.0, 1.0)
