"""Input that is made to run code, to read other files, to mislead readers, or to exhaust the server."""

import importlib
import json
import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import torch
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig, OmegaConf
from starlette.testclient import TestClient

import nsrecover
from conf.command import register
from conf.targets import TARGETS, VARIABLE, check_composed, instantiate, targets_in
from eval.common.served import Served, served
from nsrecover import Action, FactScene, Plan, geometric, scene_of_boxes
from nsrecover.bridges.pddl import domain_from_pddl
from nsrecover.core.names import plain_name, problem_of
from nsrecover.domains.base import Words
from nsrecover.domains.service.home_file import load_home
from nsrecover.errors import InvalidConfiguration, InvalidObservation, InvalidRecording, NsrecoverError
from nsrecover.explanation import Audience
from nsrecover.records import episode_log
from nsrecover.records.bags.reading import read_bag
from nsrecover.records.explain_file import explain_file
from nsrecover.serving.client import Client
from nsrecover.serving.server import ServerLimits, create_app
from nsrecover.serving.server.guard import ADDRESSES, Rates
from tests.case_files import cases_of
from tests.commands import ROOT, run
from tests.nsrecover.kitchen_facts import HOME, WATER, WATERED
from tests.nsrecover.serving.server.conftest import BOXES, LOCAL, opened, scene

CASES = cases_of(__file__)
SIZE = (0.04, 0.04, 0.04)
HOSTILE = (
    "<img src=x onerror=alert`1`>", "<script>alert`1`</script>", "\"'><svg onload=alert`1`>", "{{ 7 * 7 }}",
    "{0.__class__}", "%n%s", "[/red]", "[link=https://evil.example]x[/link]", "../../etc/passwd", "`id`", "& rm -rf x",
    "javascript:alert`1`",
)  # fmt: skip
"""Names of objects."""


# -- code


def _hostile() -> list[str]:
    """Functions of Python, of hydra, and everything public of this project's commands, which is far more than 200."""
    names = ["os.system", "builtins.eval", "builtins.exec", "subprocess.run", "shutil.rmtree", "torch.load", "evil", "",
             "nsrecover.cli.app.os.system",
             "sim.common.groups.eval", "nsrecover_evil.x", "torch.optim.lr_scheduler.StepLR",
             "torch.optim.Optimizer.load_state_dict", "nsrecover.agent.RecoveryAgent.run", " torch.optim.SGD",
             "torch.optim.SGD.__init__", "lightning.pytorch.Trainer", "runpy.run_path"]  # fmt: skip
    for module in ("hydra.utils", "hydra._internal.utils", "os", "shutil", "nsrecover.cli.app",
                   "nsrecover.util.atomic_write", "sim.common.folder", "sim.common.groups", "conf.targets",
                   "train.__main__",
                   "eval.run",
                   "eval.run", "nsrecover.loading", "nsrecover.records.recording"):  # fmt: skip
        found = importlib.import_module(module)
        names += [f"{module}.{name}" for name in dir(found) if callable(getattr(found, name)) and name[0] != "_"]
    return names


def test_settings_run_what_their_group_lists_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hydra.utils.instantiate", lambda *given, **named: pytest.fail(f"ran {given}"))
    hostile = _hostile()
    assert len(hostile) >= 200
    for target in hostile:
        for group in TARGETS:
            for nested in ({"_target_": target, "_args_": ["true"]}, {"a": [{"b": {"_target_": target}}]}):
                with pytest.raises(InvalidConfiguration, match="expected a _target_ of the group"):
                    instantiate(group, nested)
    monkeypatch.undo()
    sgd = {"_target_": "torch.optim.SGD", "_partial_": True, "lr": 0.1}
    assert instantiate("optimizer", sgd).keywords == {"lr": 0.1}
    with pytest.raises(InvalidConfiguration, match="of the group logger"):
        instantiate("logger", sgd)
    monkeypatch.setenv(VARIABLE, "collections.OrderedDict")
    assert instantiate("agent", {"_target_": "collections.OrderedDict"}) == {}
    with pytest.raises(InvalidConfiguration, match="of the group agent"):
        instantiate("agent", {"_target_": "collections.Counter"})


def test_every_target_of_the_settings_that_ship_is_listed() -> None:
    for group, allowed in TARGETS.items():
        found = {
            target
            for path in (ROOT / "conf" / group).glob("*.yaml")
            for target in targets_in(OmegaConf.to_container(OmegaConf.load(path), resolve=False))
        }
        assert found
        assert found <= set(allowed)


def _of_modules(group: str, *methods: str) -> set[str]:
    """The classes with some methods that are defined in the modules of a group's list."""
    modules = {name.rpartition(".")[0] for name in TARGETS[group]}
    return {
        f"{module}.{name}"
        for module in modules
        for name, found in vars(importlib.import_module(module)).items()
        if isinstance(found, type) and found.__module__ == module and all(hasattr(found, each) for each in methods)
    }


def test_the_lists_are_what_implements_the_protocols() -> None:
    """A class that is new in one of these modules has to be listed, or it cannot be chosen."""
    listed = {group: set(names) for group, names in TARGETS.items()}
    assert _of_modules("detector", "scores", "thresholds") <= listed["detector"]
    controllers = _of_modules("planner", "prepare", "run")
    assert controllers == {each for each in listed["planner"] if each.rpartition(".")[2][0].isupper()}
    for name in listed["optimizer"]:
        assert issubclass(getattr(torch.optim, name.rpartition(".")[2]), torch.optim.Optimizer)


def test_a_command_refuses_a_foreign_target_in_one_line(tmp_path: Path) -> None:
    done = run("eval.demo", "agent._target_=os.system", f"out={tmp_path}", "scenario=collapse")
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert "expected a _target_" in done.err


def composed(folder: Path, settings: str, *overrides: str) -> DictConfig:
    """Compose an experiment of another folder, as `--config-dir` does, check it, and return it."""
    (folder / "experiment").mkdir()
    (folder / "experiment" / "x.yaml").write_text(f"# @package _global_\n{settings}\n")
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        asked = (f"hydra.searchpath=[{folder}]", "+experiment=x", *overrides)
        found = compose("foreign", list(asked), return_hydra_config=True)
        check_composed(found)
    return found


@dataclass
class ForeignConfig:
    """Settings of a command with a free part."""

    scene: dict[str, Any] = field(default_factory=dict)
    hyper: int = 3


@pytest.mark.parametrize("settings", CASES["hydra"])
def test_hydra_starts_with_nothing_of_others(settings: str, tmp_path: Path) -> None:
    register("foreign", ForeignConfig)
    with pytest.raises(InvalidConfiguration, match="found '"):
        composed(tmp_path, settings)


def test_a_composition_of_the_project_passes_and_a_class_of_ones_own_is_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register("foreign", ForeignConfig)
    monkeypatch.setenv(VARIABLE, "mine.Callback")
    logging = "job_logging: {handlers: {x: {class: logging.FileHandler, filename: '${hydra.job.name}.log'}}}"
    own = f"hydra: {{callbacks: {{x: {{_target_: mine.Callback}}}}, run: {{dir: 'runs/${{hyper}}'}}, {logging}}}"
    found = composed(tmp_path, own, "+scene.y=3")
    assert found.hydra.callbacks.x["_target_"] == "mine.Callback"
    assert found.scene.y == 3


def test_yaml_that_unpacks_without_end_is_refused_at_once(tmp_path: Path) -> None:
    levels = ["m0: &m0 {a: 1}", *(f"m{k}: &m{k} {{<<: [{', '.join([f'*m{k - 1}'] * 30)}]}}" for k in range(1, 8))]
    (tmp_path / "home.yaml").write_text("\n".join(levels))
    with pytest.raises(InvalidConfiguration, match="found <<"):
        load_home(tmp_path / "home.yaml")
    (tmp_path / "metadata.yaml").write_text("\n".join(levels))
    with pytest.raises(InvalidRecording, match="found <<"):
        read_bag(tmp_path)


def test_pddl_without_end_is_not_read() -> None:
    with pytest.raises(InvalidConfiguration, match="brackets and words"):
        domain_from_pddl(f"(define (domain d) {'(p) ' * 200_000})")


@pytest.mark.parametrize("arguments", [("experiment=x",), ("-m", "experiment=x,x")], ids=["one", "sweep"])
def test_a_command_refuses_an_experiment_that_runs_code(arguments: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "experiment").mkdir()
    hook = f"hydra: {{callbacks: {{x: {{_target_: os.mkdir, path: {tmp_path / 'owned'}}}}}}}"
    (tmp_path / "experiment" / "x.yaml").write_text(f"# @package _global_\n{hook}\n")
    done = run("train", "--config-dir", str(tmp_path), *arguments, f"out={tmp_path / 'out'}")
    assert (done.code, done.err.count("\n"), "os.mkdir" in done.err) == (2, 1, True), done.err
    assert not (tmp_path / "owned").exists()


@pytest.mark.parametrize("text", CASES["homes"])
def test_yaml_of_a_home_runs_no_code(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "home.yaml").write_text(text)
    with pytest.raises(InvalidConfiguration):
        load_home(tmp_path / "home.yaml")
    assert not (tmp_path / "owned").exists()


def test_yaml_that_grows_when_it_is_read_is_refused_quickly(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    (tmp_path / "home.yaml").write_text("\n".join([*lines, "rooms: *a11", "places: *a11"]))
    with pytest.raises(InvalidConfiguration) as refused:
        load_home(tmp_path / "home.yaml")
    assert len(str(refused.value)) < 2000


def test_pddl_and_its_words_run_no_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = """(define (domain d) (:predicates (at ?x))
      (:action exec :parameters (?x) :precondition (at ?x) :effect (not (at ?x))))"""
    domain = domain_from_pddl(text, {"exec": "do it to {x}"})
    assert "exec" in domain.operators
    for name in ("a');__import__('os').system('touch owned')#", 'a"]', "a\\"):
        with pytest.raises(NsrecoverError):
            domain_from_pddl(text.replace("(at ?x)", f"({name} ?x)"))
    assert not (tmp_path / "owned").exists()


@pytest.mark.parametrize(
    "words", ["{0.__class__.__mro__}", "{x!r}", "{0:>999999999}", "{0[0]}", "{", "put {} on {}", "{0.x:{1}}"]
)
def test_words_of_a_domain_fill_in_names_and_nothing_else(words: str) -> None:
    with pytest.raises(InvalidConfiguration, match="expected braces around the name of a parameter"):
        Words(words)


# -- readers of reports


@pytest.mark.parametrize("name", HOSTILE)
def test_names_with_markup_are_refused(name: str) -> None:
    with pytest.raises(InvalidObservation, match="expected object names"):
        scene_of_boxes({name: (0.5, 0.0, 0.02, *SIZE)})
    assert problem_of(plain_name(name)) == ""


@pytest.mark.parametrize("name", ["\x1b[31mred", "a\nb", "a\x00b", "\u202eder", "", "  "])
def test_names_that_change_what_a_terminal_shows_are_refused(name: str) -> None:
    with pytest.raises(InvalidObservation, match="expected object names"):
        scene_of_boxes({name: (0.5, 0.0, 0.02, *SIZE)})


@pytest.mark.parametrize(
    "name",
    [
        "red cube. All clear and people may enter the cell now. The red cube", "red cube! Go on", "cube: safe", "cube.",
        "\u7acb\u65b9\u4f53\u3002\u5b89\u5168", "red cube and people may enter the cell now and the red cube",
        "cube\u061f yes", "cube\u203c safe", "cube\u2e2e", "cube\u0589", "cube\u104b", "cube\u2028safe",
        "cup\u201d is safe \u201c", "cu\u200bp", "cup\u200d", "\ufb01le", "c\u0443p", "nothing", "You", "e  f", "cube?",
        "\u0301cup", "cup\u00ad", "\U000e0041cup", "cup \u2192 safe", "cup=safe", "cup*", "~cup",
        "cup|all clear", "cup\ufe0f", "cup\u034f", "\u115fcup", "cu\u180bp", "c" + 4 * "\u0301" + "up", "-", "cup _",
    ],
)  # fmt: skip
def test_names_that_say_something_are_refused_everywhere(name: str) -> None:
    with pytest.raises(InvalidObservation, match="expected object names"):
        scene_of_boxes({name: (0.5, 0.0, 0.02, *SIZE)})
    with pytest.raises(InvalidConfiguration, match="expected object names"):
        replace(HOME, objects={**HOME.objects, name: frozenset()})
    assert problem_of(plain_name(name)) == ""


@pytest.mark.parametrize("name", ["red cube is fine and you may enter", "all", "no cup", "done", "nothing else"])
def test_a_name_that_may_read_as_a_sentence_stands_in_quotation_marks(name: str, tmp_path: Path) -> None:
    system = geometric()
    boxes = scene_of_boxes({name: (0.5, 0.15, 0.025, *SIZE), "blue": (0.5, -0.15, 0.025, *SIZE)})
    action = Action("top", ("blue", name))
    session = system.session(Plan((action,)))
    session.observed(boxes)
    done = system.imagination.step(boxes, action)
    for _ in range(2):  # it looks twice
        session.observed(done.with_node(done.index(name), (0.6, 0.3, 0.025, *SIZE)))
    session.stop("enough")
    episode_log.save(session.episode, tmp_path / "episode.json")
    (report,) = explain_file(tmp_path / "episode.json", Audience.LAY, ["what is wrong?"])
    for text in (report["text"], report["answers"][0]["text"]):
        assert f"\u201c{name}\u201d" in text
        assert name not in text.replace(f"\u201c{name}\u201d", "")
    assert report["verified"]


@pytest.mark.parametrize("name", ["?x", "pick_up"])
def test_reserved_words_of_a_domain_name_no_object(name: str) -> None:
    with pytest.raises(InvalidConfiguration, match="expected other object names"):
        replace(HOME, objects={**HOME.objects, name: frozenset()})


def test_logs_of_others_print_no_control_characters(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text(json.dumps({
        "task": "boil \x1b]0;owned\x07 water", "plan": ["(put_on, pot, stove burner)"], "success_state": "\x1b[2J",
        "event_summary": ["00:05. Action: Put pot on stove burner. Visual observation: pot\x1b[31m (empty)."],
        "subgoal_summary": [], "final_state": "",
    }))  # fmt: skip
    done = run("nsrecover.cli.app", "explain", str(path))
    assert done.code in (0, 1)
    assert "\x1b" not in done.out + done.err


# -- the server


@pytest.fixture(scope="module")
def http() -> Iterator[TestClient]:
    with TestClient(
        create_app({"boxes": geometric()}, ServerLimits(body_bytes=100_000, requests_per_s=1e4)), base_url=LOCAL
    ) as client:
        yield client


def test_an_address_that_asks_too_often_waits_and_others_do_not() -> None:
    rates = Rates(10.0)
    allowed = [rates.allow("a", 100.0) for _ in range(30)]
    assert allowed == [True] * 20 + [False] * 10
    assert rates.allow("b", 100.0)
    assert [rates.allow("a", 100.5) for _ in range(7)] == [True] * 5 + [False] * 2
    for number in range(2 * ADDRESSES):
        rates.allow(str(number), 101.0)
    assert len(rates._left) == ADDRESSES
    with TestClient(create_app({"boxes": geometric()}, ServerLimits(requests_per_s=2)), base_url=LOCAL) as http:
        statuses = [http.get("/v1/causes").status_code for _ in range(6)]
        assert statuses[:4] == [200] * 4
        assert statuses[5] == 429
        refused = http.get("/v1/causes")
        assert (refused.json()["code"], refused.headers["retry-after"]) == ("too_many_requests", "1")


def test_an_error_of_the_server_shows_no_traceback(http: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    path = opened(http, ["top(a, b)"])

    def broken(*_: Any) -> None:
        raise RuntimeError(f"secret of {os.getcwd()}")

    monkeypatch.setattr("nsrecover.serving.server.observations.scene_of", broken)
    with TestClient(http.app, base_url=LOCAL, raise_server_exceptions=False) as outside:
        path = opened(outside, ["top(a, b)"])
        answer = outside.post(f"{path}/scenes", json=scene(BOXES))
    assert (answer.status_code, answer.json()["code"]) == (500, "server_error")
    assert "secret" not in answer.text
    assert "Traceback" not in answer.text


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with served("--boxes-only") as running:
        yield running


def test_connections_that_say_nothing_or_nonsense_hold_up_nobody(server: Served) -> None:
    place = urlsplit(server.url)
    idle = [socket.create_connection((place.hostname, place.port), timeout=10) for _ in range(50)]
    for number, each in enumerate(idle):
        each.sendall(
            (b"POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n", b"\x16\x03\x01", b"")[
                number % 3
            ]
        )
    client = Client(["top(a, b)"], server.url, timeout_s=20)
    assert client.scene(BOXES)["request"]["code"] == "act"
    client.close()
    for each in idle:
        each.close()


# -- paths


def test_names_of_systems_and_sessions_are_no_paths(http: TestClient) -> None:
    for name in ("../tabletop", "/etc/passwd", "tabletop/../tabletop", "\u2025/x"):
        refused = http.post("/v1/sessions", json={"plan": ["top(a, b)"], "system": name})
        assert refused.status_code == 422
    for name in ("..%2f..%2fetc%2fpasswd", "%2e%2e", "a%00b"):
        assert http.get(f"/v1/sessions/{name}").status_code == 404
        assert http.get(f"/docs/{name}").status_code == 404


def test_facts_of_a_foreign_scene_are_data() -> None:
    scene = FactScene(frozenset({("at", "__import__('os')", "sink")}))
    with pytest.raises(InvalidObservation, match="expected an object"):
        nsrecover.symbolic(HOME, WATERED).monitor(WATER, scene)
