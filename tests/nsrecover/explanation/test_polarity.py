"""Yes and no about random episodes, checked against what the world itself has noted."""

import numpy as np
import pytest

from eval.completion.worlds import SIDE_M, Boxes, BoxWorld, Trouble, carry_out
from nsrecover.core.episode import EpisodeStatus, Fate
from nsrecover.explanation.answers.questions import AnswerValue, ask
from nsrecover.session import SessionSettings

EPISODES = 30


class NotedWorld(BoxWorld):
    """Cubes that note what was done to them, and by whom."""

    def execute(self, action):
        self.others, self.misdoing, self.did = set(), False, True
        super().execute(action)
        done = [] if not hasattr(self, "notes") else self.notes
        self.notes = [*done, (action, self.did, self.others, self.truth)]

    def misdo(self, action):
        self.misdoing, self.did = True, False
        super().misdo(action)
        self.misdoing = False

    def change(self, name):
        if not self.misdoing:
            self.others.add(name)
        super().change(name)


def on(boxes: Boxes, upper: str, lower: str) -> bool:
    if not {upper, lower} <= boxes.keys():
        return False
    apart = np.subtract(boxes[upper][:3], boxes[lower][:3])
    return bool(abs(apart[2] - SIDE_M) < 0.005 and np.hypot(*apart[:2]) < 0.04)


@pytest.mark.parametrize("seed", range(6100, 6100 + EPISODES))
def test_no_answer_has_the_wrong_polarity(seed: int) -> None:
    world = NotedWorld(np.random.default_rng(seed), Trouble(fails=0.3, drops=0.05, changes=0.2))
    names = sorted(world.truth)
    _, episode = carry_out(world, SessionSettings(budget_s=None, approve=seed % 3 > 0), ends=0.03 * (seed % 2))
    recorded = sum(record.action is not None for record in episode.records)
    if not recorded:
        return
    now, notes = world.notes[recorded - 1][3], world.notes
    true = {"did you stop?": episode.status is not EpisodeStatus.COMPLETED, "is the run over?": True}
    vetoes = sum(len(record.vetoed) + (record.fate is Fate.VETOED) for record in episode.records)
    true |= {"did anybody veto?": vetoes > 0, "did nobody veto?": vetoes == 0}
    for upper in names:
        if not any(upper in others for _, _, others, _ in notes):
            true[f"did a person move the {upper}?"] = False
        for lower in set(names) - {upper}:
            true[f"is the {upper} on the {lower}?"] = on(now, upper, lower)
            true[f"is it not true that the {upper} is on the {lower}?"] = not on(now, upper, lower)
    for action in episode.plan:
        done = [did or on(after, *action.arguments) for each, did, _, after in notes if each == action]
        true["did you put the {} on the {}?".format(*action.arguments)] = any(done)
    answers = ask(episode, list(true))
    assert all(each.understood for each in answers)
    wrong = {AnswerValue.YES: False, AnswerValue.NO: True}
    assert [each for each in answers if wrong.get(each.value) is true[each.question]] == []
