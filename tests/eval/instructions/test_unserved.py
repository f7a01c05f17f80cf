"""Commands with something that no skill serves never lead to a plan, and the answer names it."""

from eval.instructions.unserved import KINDS, unserved_commands


def test_no_kind_of_them_leads_to_a_plan() -> None:
    found = unserved_commands(10 * len(KINDS), seed=11)
    assert found["examples"] == []
    assert (found["plan"]["value"], found["named"]["value"]) == (0.0, 1.0)
