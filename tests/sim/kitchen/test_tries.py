"""The command that counts how often skills succeed."""

from dataclasses import replace

from nsrecover.core.actions import Action
from sim.kitchen.scenes import sample_kitchen
from sim.kitchen.tries import tries
from sim.kitchen.world import KitchenWorld
from tests.commands import run

SPEC = sample_kitchen(0, 0, ["apple"])
PLAIN = replace(SPEC, fixtures=tuple(one for one in SPEC.fixtures if one.door is None and one.kind != "stove knob"))


def test_every_skill_is_tried_and_judged_by_the_truth() -> None:
    found = list(tries(PLAIN, [(("sponge",), "pick_up(sponge)")]))
    assert [one.skill for one in found] == ["pick_up", *["toggle_on", "toggle_off"] * 3, "pick_up", "put_on"]
    assert {one.objects.split(", ")[0] for one in found[1:]} == {"apple", "faucet", "coffee machine", "toaster"}
    assert all(one.failure == "" and one.cpu_s > 0.0 for one in found)


def test_only_what_leads_to_the_chosen_skills_is_carried_out() -> None:
    plan = (("apple",), "pick_up(apple); put_on(apple, dining table); pick_up(apple)")
    assert [one.skill for one in tries(PLAIN, [plan], ["put_on"])][:1] == ["put_on"]
    assert not list(tries(PLAIN, [plan], ["wipe"]))


def test_a_failure_is_counted() -> None:
    with KitchenWorld(PLAIN) as world:
        world.cell.put("apple", [-0.6, 2.8, 0.04])
        world.execute(Action("pick_up", ("apple",)))
        assert world.failures[-1]


def test_a_wrong_option_is_one_line() -> None:
    done = run("sim.kitchen.tries", "--kitchen", "3")
    assert done.code == 2
    assert "kitchens" in done.err
    unknown = run("sim.kitchen.tries", "--skills", "wipe,slice")
    assert unknown.code == 2
    assert "expected a skill, found 'slice'" in unknown.err
