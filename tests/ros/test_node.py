"""The node over Fast DDS on loopback: launch file, life cycle, parameters, episodes, lost and late messages."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

rclpy = pytest.importorskip("rclpy", reason="there is no rclpy here; `make ros` has one")

from ament_index_python.packages import get_package_share_directory  # noqa: E402
from lifecycle_msgs.msg import Transition  # noqa: E402
from rcl_interfaces.srv import SetParameters  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402

from nsrecover.bridges.ros2.endpoints import DISCREPANCY, RECOVERY, STATE  # noqa: E402
from nsrecover.records import recording  # noqa: E402
from nsrecover.records.bags.messages import OBSERVE, PLAN, TF, stamp_fields  # noqa: E402
from nsrecover.records.bags.writing import BagSettings, RunMessages  # noqa: E402
from tests.ros.launching import Launched, wait_for, waited  # noqa: E402
from tests.ros.peer import SIDE, TOWER, Types, robot, sender  # noqa: E402

Launch = Callable[..., Launched]
NAME = "nsrecover_monitor"


@pytest.fixture(scope="module", autouse=True)
def network() -> Iterator[None]:
    rclpy.init()
    yield
    rclpy.try_shutdown()


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Launch]:
    started: list[Launched] = []

    def made(peer: Any, **parameters: Any) -> Launched:
        file = tmp_path / "parameters.yaml"
        lines = [f"    {name}: {value}" for name, value in ({"cameras": '[""]', "wait_s": 1.0} | parameters).items()]
        file.write_text(f"{NAME}:\n  ros__parameters:\n" + "\n".join(lines) + "\n")
        share = Path(get_package_share_directory("nsrecover_ros"))
        started.append(Launched(share / "launch/monitor.launch.py", peer.node, tmp_path / "log", params=str(file)))
        return started[-1]

    yield made
    for each in started:
        with suppress(ProcessLookupError):
            each.process.kill()
        each.process.wait()


def test_an_episode_with_a_collapse_is_detected_explained_and_recovered(launch: Launch, tmp_path: Path) -> None:
    with robot(falls=(1,)) as peer:
        node = launch(peer)
        node.until("active")
        assert peer.observed().code == "no_plan"
        peer.plan(plan=TOWER, stages=["stack green", "stack blue"], episode="7")
        answer = peer.observed()
        assert (answer.code, answer.request.action.stage) == ("ok", "stack green")
        peer.act(answer.request.action)
        assert peer.observed().request.code == "look"
        answer = peer.observed()
        assert answer.request.recovering
        wrong, way = peer.last(DISCREPANCY), peer.last(RECOVERY)
        assert (wrong.episode, wrong.verdict, [each.name for each in wrong.deviations]) == ("7", "deviating", ["green"])
        assert "green" in wrong.text
        assert (way.status, way.resume_stage, [each.stage for each in way.plan]) == (
            "recovered", "stack blue", ["", "stack blue"],
        )  # fmt: skip
        assert peer.carry_out(answer).request.code == "done"
        assert peer.done == [TOWER[0], *TOWER]
        assert peer.boxes["blue"][2] == pytest.approx(2.5 * SIDE)
        wait_for(lambda: peer.heard[STATE][-1].request.code == "done", 5)
        node.process.send_signal(signal.SIGINT)
        assert node.process.wait(60) == 0
        assert "Traceback" not in (tmp_path / "log").read_text()


def test_messages_that_are_lost_or_late_are_waited_for_and_asked_for_again(launch: Launch) -> None:
    with robot() as peer:
        launch(peer).until("active")
        peer.plan(plan=TOWER)
        peer.act(peer.observed().request.action)
        moment, future = time.time(), peer.ask("observed", not_before=stamp_fields(time.time()))
        peer.see(moment - 0.5)  # it was measured before the end of the motion
        time.sleep(0.4)
        assert not future.done()
        peer.see()
        answer = waited(future, 10)
        assert answer.request.action.arguments == ["blue", "green"]
        assert peer.observed().number == answer.number, "a report that is repeated gets the same answer"
        start = time.monotonic()
        assert peer.observed(sees=False).request.code == "look"
        assert 0.9 < time.monotonic() - start < 5


def test_a_peer_and_a_node_that_are_started_again_go_on(launch: Launch, tmp_path: Path) -> None:
    kept = str(tmp_path / "session")
    with robot("first", falls=(1,)) as peer:
        node = launch(peer, kept_in=kept)
        node.until("active")
        peer.plan(plan=TOWER)
        peer.carry_out(peer.observed(), turns=2)
        done, boxes = peer.done, peer.boxes
    with robot("second", falls=(1,)) as peer:
        peer.done, peer.boxes = done, boxes
        assert peer.last(STATE).number == 3
        assert peer.observed().code == "out_of_step"
        answer = peer.tell()
        assert (answer.number, answer.request.recovering) == (3, True)
        node.process.kill()
        node.process.wait()
        launch(peer, kept_in=kept).until("active")
        peer.plan(plan=TOWER)
        again = peer.tell()
        assert (again.number, again.request) == (answer.number, answer.request)
        assert peer.carry_out(again).request.code == "done"


def test_life_cycle_and_parameters(launch: Launch, tmp_path: Path) -> None:
    with robot() as peer:
        node = launch(peer, checkpoint='"no.such_module:system"')
        wait_for(lambda: "no.such_module" in (tmp_path / "log").read_text(), 60)
        assert "active" not in node.states
        client = peer.node.create_client(SetParameters, f"/{NAME}/set_parameters")
        assert client.wait_for_service(10)
        request = SetParameters.Request(parameters=[Parameter("checkpoint", value="").to_parameter_msg()])
        assert waited(client.call_async(request), 10).results[0].successful
        peer.plan(plan=TOWER)
        assert node.change(Transition.TRANSITION_CONFIGURE)
        node.until("active")
        assert peer.observed().request.code == "act"
        assert node.change(Transition.TRANSITION_DEACTIVATE)
        assert peer.tell().code == "not_active"
        assert node.change(Transition.TRANSITION_CLEANUP)
        wait_for(lambda: not peer.client.service_is_ready(), 10)
        peer.number = 0
        assert node.change(Transition.TRANSITION_CONFIGURE)
        assert node.change(Transition.TRANSITION_ACTIVATE)
        assert peer.observed().number == 1, "a new session"


def test_images_whose_transforms_arrive_later(launch: Launch) -> None:
    pytest.importorskip("torch", reason="images need the extra `learned`")
    run = recording.example("collapse")
    names = [f"/{each.name.strip('/')}" for each in run.observations[0].cameras]
    with robot() as peer:
        launch(peer, cameras=str(names).replace("'", '"'), wait_s=60.0).until("active")
        send, messages = sender(peer.node), RunMessages(BagSettings(), Types())
        send(PLAN, next(message for _, topic, _, message in messages.of_run(run) if topic == PLAN))
        answer, at = None, 0
        while answer is None or (answer.request.code in ("act", "look") and not answer.request.recovering):
            future, start, late = peer.ask("observed", not_before=stamp_fields(time.time())), time.monotonic(), None
            while not future.done():  # a camera at 4 Hz; each image may be lost
                for _, topic, _, message in messages.of(replace(run.observations[at], time_s=time.time())):
                    if topic not in (*TF, OBSERVE):
                        send(topic, message)
                    elif topic == TF[0]:
                        late, message = message, late
                        if message is not None and (answer is not None or time.monotonic() - start > 2):
                            send(topic, message)
                time.sleep(0.25)
            assert answer is not None or time.monotonic() - start > 2, "there was no transform before"
            answer = future.result()
            peer.number = answer.number
            assert answer.code == "ok"
            at += answer.request.code == "act"
        assert answer.request.recovering
        assert peer.last(DISCREPANCY).text
        assert peer.last(RECOVERY).status == "recovered"
