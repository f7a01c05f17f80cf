"""The reader of explanations of household episodes, on texts of the agent and on others."""

import pytest

import nsrecover
from eval.kitchen.read_back import BEFORE, judged, read
from tests.nsrecover.kitchen_facts import HOME, WATER, WATERED, FactWorld, after

MOVED = after(1, ("at", "mug", "dining table"), less=(("at", "mug", "countertop"),))


def texts(world: FactWorld) -> list[str]:
    records = nsrecover.RecoveryAgent(nsrecover.symbolic(HOME, WATERED), world).run(WATER).records
    return [record.explanation.text for record in records if record.explanation]


def test_object_time_and_kind_are_read_from_the_text() -> None:
    (text,) = texts(FactWorld(hook=MOVED))
    parsed = read(text)
    assert parsed is not None
    assert (parsed.action, dict(parsed.kinds)) == ("pick_up(pot)", {"mug": "moved"})


@pytest.mark.parametrize(
    ("events", "right"),
    [
        ({"mug": ("pick_up(pot)", "moved")}, (True, True, True)),
        ({"mug": ("put_in(pot, sink)", "moved")}, (True, False, True)),
        ({"mug": ("pick_up(pot)", "dropped")}, (True, True, False)),
        ({"pot": ("pick_up(pot)", "moved")}, (False, True, False)),
        ({"mug": ("pick_up(pot)", "moved"), "egg": ("pick_up(pot)", "moved")}, (False, True, False)),
    ],
)
def test_a_text_is_judged_by_what_truly_happened(
    events: dict[str, tuple[str, str]], right: tuple[bool, bool, bool]
) -> None:
    assert judged(texts(FactWorld(hook=MOVED))[0], events) == right


def test_what_was_so_from_the_start_has_no_action() -> None:
    text = (
        "Before step 1, pick_up(pot), something was not as expected: the mug has changed, although no action should "
        "have changed it. The mug is filled with wine."
    )
    parsed = read(text)
    assert parsed is not None
    assert parsed.action == BEFORE
    assert judged("The pot is blue.", {"pot": ("", "changed")}) == (False, False, False)


def test_what_is_seen_before_an_action_has_happened_since_the_last_one() -> None:
    ahead = (
        "Before step 3, open_obj(microwave), the scene is already ahead of the plan. The microwave is already as "
        "it should be later: the microwave is open."
    )
    events = {"microwave": ("pick_up(plate)", "changed")}
    assert judged(ahead, events, "pick_up(plate)") == (True, True, True)
    assert judged(ahead, events, "put_on(plate, sink)") == (True, False, True)
    full = (
        "Step 6, put_on(pot, sink), cannot be done: there is no room for the pot in or on the sink. "
        "The mug is in the way of the sink: the mug is in or on the sink."
    )
    assert judged(full, {"mug": ("pick_up(pot)", "moved")}, "pick_up(pot)") == (True, True, True)
