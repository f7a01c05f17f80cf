"""A table of boxes whose robot waits for tests, and viewers of its live page."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx

import nsrecover
import nsrecover.serving.live
from nsrecover.core import Action, Episode, Plan
from nsrecover.serving.live.live_page import LivePage

SIDE = 0.05
PLAN = Plan.parse("top(red cube, blue cube); top(green cube, red cube)")
Boxes = dict[str, tuple[float, ...]]


def start() -> Boxes:
    """Three cubes on a table."""
    places = {"red cube": (0.4, 0.2), "blue cube": (0.5, 0.0), "green cube": (0.4, -0.2)}
    return {name: (x, y, SIDE / 2, SIDE, SIDE, SIDE) for name, (x, y) in places.items()}


class BoxTable:
    """A robot that puts boxes exactly where they should be; `hook` changes the scene after each action.

    Attributes:
        boxes: the true scene.
        done: the actions.
    """

    def __init__(self, hook: Callable[[int, Boxes], None] = lambda number, boxes: None) -> None:
        self.boxes, self.done, self._hook = start(), list[Action](), hook

    def observe(self) -> Boxes:
        return dict(self.boxes)

    def execute(self, action: Action) -> None:
        scene = nsrecover.geometric().imagination.step(nsrecover.scene_of_boxes(self.boxes), action)
        moved = action.arguments[0]
        self.boxes[moved] = tuple(map(float, scene.boxes[scene.index(moved)]))
        self.done.append(action)
        self._hook(len(self.done), self.boxes)


def pushed(number: int, boxes: Boxes) -> None:
    """A person takes the red cube away after the first action."""
    if number == 1:
        boxes["red cube"] = (0.55, 0.25, SIDE / 2, SIDE, SIDE, SIDE)


class Running:
    """An agent that runs in another thread."""

    def __init__(self, agent: nsrecover.RecoveryAgent, plan: Plan) -> None:
        self._thread = threading.Thread(target=self._run, args=(agent, plan))
        self._episode: Episode | None = None
        self._thread.start()

    def _run(self, agent: nsrecover.RecoveryAgent, plan: Plan) -> None:
        self._episode = agent.run(plan)

    @property
    def goes_on(self) -> bool:
        return self._thread.is_alive()

    def episode(self) -> Episode:
        """The episode, once it is over."""
        self._thread.join(20)
        assert self._episode is not None, "the run did not end"
        return self._episode


@contextmanager
def at_once(agent: Any = None, undo_s: float = 0.0, **options: Any) -> Iterator[LivePage]:
    """A live page on which a choice can be taken back for another time than usual, by default for none."""
    with nsrecover.serving.live.page(agent, **options) as page:
        page.desk.undo_s = undo_s
        yield page


class Client:
    """A viewer without a browser."""

    def __init__(self, url: str) -> None:
        self.base = url.partition("/enter")[0]
        self.http = httpx.Client(base_url=self.base, follow_redirects=True, timeout=10)
        entered = self.http.get(url)
        assert entered.status_code == 200
        self.http.base_url = entered.url

    def do(self, command: str, **fields: Any) -> httpx.Response:
        return self.http.post(f"/do/{command}", data=fields)

    @contextmanager
    def changes(self, after: str = "0") -> Iterator[Iterator[tuple[int, str, str]]]:
        """Number, panel and HTML of every change, as they come."""
        with self.http.stream("GET", "/events", headers={"Last-Event-ID": after}) as stream:
            yield _changes(stream.iter_lines())

    def wait_for(self, text: str, panel: str) -> str:
        """The HTML of a panel as soon as it holds a text."""
        with self.changes() as changes:
            return next(html for _, name, html in changes if name == panel and text in html)

    def wait_for_another(self, number: str, panel: str) -> str:
        """The HTML of a panel as soon as it asks for another decision."""
        other = f'name="number" value="{number}"'
        with self.changes() as changes:
            return next(
                html for _, name, html in changes if name == panel and 'name="number"' in html and other not in html
            )


def number_in(html: str) -> str:
    """The number of the decision in a panel."""
    return html.split('name="number" value="')[1].split('"')[0]


def _changes(lines: Iterator[str]) -> Iterator[tuple[int, str, str]]:
    number, kind = 0, ""
    for line in lines:
        if line.startswith("event: "):
            kind = line.removeprefix("event: ")
        if line.startswith("id: "):
            number = int(line.removeprefix("id: "))
        if line.startswith("data: ") and kind == "panel":
            change = json.loads(line.removeprefix("data: "))
            yield number, change["panel"], change["html"]
