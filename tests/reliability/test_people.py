"""What people say while the robot moves, or too late."""

import threading

import nsrecover
import nsrecover.serving.live
from nsrecover.core.episode import EpisodeStatus
from tests.nsrecover.serving.live.live_worlds import PLAN, Boxes, BoxTable, Client, Running, at_once, number_in, pushed


def test_what_a_person_decides_during_a_motion_counts_after_it() -> None:
    moving, may_end = threading.Event(), threading.Event()

    def hook(number: int, boxes: Boxes) -> None:
        pushed(number, boxes)
        if number == 1:
            moving.set()
            assert may_end.wait(20)

    world = BoxTable(hook)
    agent = nsrecover.RecoveryAgent(nsrecover.geometric(), world)
    with at_once(agent) as page:
        viewer, running = Client(page.url), Running(agent, PLAN)
        assert moving.wait(20)
        viewer.do("approve")
        viewer.do("pause")
        may_end.set()
        # the motion is finished, and judged; nothing else begins
        asked = viewer.wait_for("Take this way back?", "decision")
        assert len(world.done) == 1
        viewer.do("answer", number=number_in(asked), choice="do")
        viewer.wait_for("paused", "state")
        assert len(world.done) == 1
        viewer.do("resume")
        episode = running.episode()
    assert episode.status is EpisodeStatus.COMPLETED
    assert len(world.done) == 3


def test_an_answer_that_comes_too_late_is_refused_and_changes_nothing() -> None:
    with nsrecover.serving.live.page() as page:
        viewer, answers = Client(page.url), list[str]()
        asking = threading.Thread(target=lambda: answers.append(page.ask("Which mug?")))
        asking.start()
        first = number_in(viewer.wait_for("Which mug?", "decision"))
        viewer.do("answer", number=first, text="the red one")
        asking.join(20)
        late = viewer.do("answer", number=first, text="the blue one")
        assert late.status_code >= 400
        assert "expected a decision that is open" in late.json()["message"]
        again = threading.Thread(target=lambda: answers.append(page.ask("Which cup?")))
        again.start()
        asked = viewer.wait_for("Which cup?", "decision")
        assert viewer.do("answer", number=first, text="the blue one").status_code >= 400
        viewer.do("answer", number=number_in(asked), text="the green one")
        again.join(20)
    assert answers == ["the red one", "the green one"]
