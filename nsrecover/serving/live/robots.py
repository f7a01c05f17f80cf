"""Follows the live page of a robot on any machine, and sends answers to it; nothing that comes from it is trusted."""

from __future__ import annotations

import contextlib
import http.client
import queue
import socket
import threading
import time
from collections.abc import Callable, Mapping
from typing import Annotated, Any
from urllib.parse import parse_qs, urlencode, urlsplit

from pydantic import AfterValidator, BaseModel, Field, ValidationError

from nsrecover.errors import InvalidConfiguration
from nsrecover.serving.live.app import CLOCK
from nsrecover.serving.live.board import CLICKED, PANEL
from nsrecover.serving.live.card import Card, Number, Text, Texts, finite, shown
from nsrecover.serving.live.desk import Chosen
from nsrecover.serving.server.sessions import SILENCE_S
from nsrecover.util.untrusted_json import InvalidJson, parse_json

MOST_LINE = 600_000
"""Longest line of a robot's events, bytes."""
LINE_S, BYTE_S = 0.002, 1e-6
"""Pause after every line and for every byte, seconds: a robot that floods is read slowly."""
PATIENCE_S = 2.5 * SILENCE_S
"""A connection that is silent for this time is lost, seconds."""
ANSWER_S = 5.0
"""Time for a robot to take an answer, seconds."""
AGAIN_S = (1.0, 2.0, 5.0, 10.0)
"""Pauses before the first and further attempts to connect again, seconds; the last one is repeated."""
LONGEST_S = 86_400.0
"""A time that is further away than this is no limit, seconds."""
MOST_STAKE = 1000.0
"""Stake of a question; what is beyond is left out."""
_TOO_LATE = 409


class RobotQuestion(BaseModel):
    """A decision that a robot waits for, as its page says it; see `nsrecover.serving.live.desk.Decision`."""

    number: Annotated[int, Field(ge=1, lt=2**53)]
    question: Text
    options: Annotated[list[tuple[Annotated[str, Field(pattern=r"^[\w-]{1,40}$")], Text]], Field(max_length=8)]
    actions: Texts = ()
    stake: Annotated[Number, Field(ge=0.0), AfterValidator(lambda stake: min(stake, MOST_STAKE))] = 1.0
    until: Number | None = None
    card: Card | None = None
    chosen: Chosen | None = None

    def follow_clock(self, ahead_s: float) -> None:
        """Convert its times to the clock of this machine, which is ahead of the robot's by some seconds."""
        if self.until is not None:
            until = self.until + ahead_s
            self.until = until if abs(until - time.time()) < LONGEST_S else None
        if self.chosen is not None:
            soon = min(max(self.chosen.at + ahead_s, time.time()), time.time() + LONGEST_S)
            self.chosen = Chosen(shown(self.chosen.text), shown(self.chosen.by), soon)


class _State(BaseModel):
    word: Text
    text: Text
    safety: Text = ""


class _PanelChange(BaseModel):
    """A change of a panel; what else is in it is not read."""

    panel: str
    facts: dict[str, Any] | None


class Robot:
    """Follows one live page in a thread of its own, and connects again whenever the connection is lost.

    Args:
        name: of the robot, for people.
        url: of its live page, with the token.
        on_change: called in that thread after every change.

    Attributes:
        connected: whether its page is followed now.
        text: what the robot is doing, or why there is no connection.
        safety: what people should know before they reach in, as it was said last.

    Raises:
        InvalidConfiguration: the address is not that of a live page.
    """

    def __init__(self, name: str, url: str, on_change: Callable[[], None]) -> None:
        try:
            parts = urlsplit(url)
            self._host, self._port = parts.hostname or "", parts.port
        except ValueError:
            parts = urlsplit("")
        self._token = "".join(parse_qs(parts.query).get("token", []))
        if parts.scheme not in ("http", "https") or not self._host or not self._token.isascii() or not self._token:
            raise InvalidConfiguration(
                f"expected the address of a live page with its token, as http://127.0.0.1:8700/enter?token=..., for "
                f"{name}, found another one; a robot's program prints it"
            )
        self._kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self.name, self._on_change = name, on_change
        self.connected, self.word, self.text = False, "no connection", "Connecting."
        self.safety, self._ahead_s = "", 0.0
        self.question: RobotQuestion | None = None
        """What it waits for, by the clock of this machine; None if it does not."""
        self._answering = threading.Lock()
        self._closed = threading.Event()
        self._connection = self._connect(PATIENCE_S)
        threading.Thread(target=self._follow, name=f"follows {name}", daemon=True).start()

    def close(self) -> None:
        """Follow no longer."""
        self._closed.set()
        connected = self._connection.sock
        if connected is not None:
            with contextlib.suppress(OSError):
                connected.shutdown(socket.SHUT_RDWR)

    def send(self, command: str, fields: Mapping[str, str]) -> str:
        """Send an answer, of which the first one counts, or take one back.

        Args:
            command: `answer` or `undo`.
            fields: of the command as the robot's page takes it, with the number of the question.

        Returns:
            What became of it, for the person.

        Raises:
            InvalidConfiguration: the robot has an answer already or has gone on without one, or does not take it.
        """
        if not self._answering.acquire(blocking=False):
            raise InvalidConfiguration(f"expected one answer at a time for {self.name}, found another one on its way")
        done: queue.SimpleQueue[int | str] = queue.SimpleQueue()
        threading.Thread(target=self._post, args=(command, fields, done), daemon=True).start()
        try:
            status = done.get(timeout=ANSWER_S)
        except queue.Empty:
            status = f"no reply within {ANSWER_S:g} s"
        if status == _TOO_LATE:
            raise InvalidConfiguration(
                f"expected an open question of {self.name}, found that the answer came too late: it has another answer "
                "or has gone on without one"
            )
        if status != http.client.OK:
            raise InvalidConfiguration(f"expected {self.name} to take the answer, found: {status}")
        return f"{self.name} has the answer." if command == "answer" else f"{self.name}: taken back, nothing was done."

    def _post(self, command: str, fields: Mapping[str, str], done: queue.SimpleQueue[int | str]) -> None:
        try:
            connection = self._connect(ANSWER_S)
            headers = {"Content-Type": "application/x-www-form-urlencoded", **self._authorised()}
            clicked = {CLICKED: f"{time.time() - self._ahead_s:.3f}"}  # it expires, whenever the robot reads it
            connection.request("POST", f"/do/{command}", urlencode({**fields, **clicked}), headers)
            done.put(connection.getresponse().status)
            connection.close()
        except (OSError, http.client.HTTPException) as problem:
            done.put(shown(str(problem)) or "the connection was closed")
        finally:
            self._answering.release()

    def _connect(self, limit_s: float) -> http.client.HTTPConnection:
        return self._kind(self._host, self._port, timeout=limit_s)

    def _authorised(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token}"}

    # --- following

    def _follow(self) -> None:
        failed = 0
        while not self._closed.is_set():
            try:
                self._listen()
                problem = "its page has ended the connection"
            except (InvalidJson, ValidationError):
                problem = "its page sent something that is no event of a live page"
            except (OSError, http.client.HTTPException, ValueError) as error:
                problem = shown(str(error)) or "the connection was closed"
            failed = 0 if self.connected else failed + 1
            pause_s = AGAIN_S[min(failed, len(AGAIN_S) - 1)]
            self.connected, self.question, self.word = False, None, "no connection"
            self.text = f"Trying again every {pause_s:g} s: {problem}."
            self._on_change()
            self._closed.wait(pause_s)

    def _listen(self) -> None:
        """Read the events of the page until it ends."""
        connection = self._connection = self._connect(PATIENCE_S)
        try:
            connection.request("GET", "/events?panels=state,decision", headers=self._authorised())
            response = connection.getresponse()
            if response.status != http.client.OK:
                wrong = "the token is wrong" if response.status == http.client.UNAUTHORIZED else "it is not a live page"
                raise ValueError(f"{wrong} (status {response.status})")
            kind = b""
            self._ahead_s = time.time() - _clock(response.getheader(CLOCK))
            while not self._closed.is_set() and (line := response.readline(MOST_LINE + 1)):
                if len(line) > MOST_LINE:
                    raise ValueError("its page sent a line that is too long")
                if line.startswith(b"event:"):
                    kind = line.removeprefix(b"event:").strip()
                if line.startswith(b"data:") and kind == PANEL.encode():
                    self._take(line.removeprefix(b"data:").decode("utf-8"))
                self._closed.wait(LINE_S + BYTE_S * len(line))
        finally:
            connection.close()

    def _take(self, data: str) -> None:
        """Take a change of the page."""
        change = _PanelChange.model_validate(parse_json(data, MOST_LINE))
        if change.panel == "decision":
            found = None if change.facts is None else RobotQuestion.model_validate(change.facts)
            if found is not None:
                found.follow_clock(self._ahead_s)
            self.question = found
        elif change.panel == "state":
            state = _State.model_validate(change.facts)
            self.word, self.text, self.safety = state.word, state.text, state.safety
        self.connected = True
        self._on_change()


def _clock(header: str | None) -> float:
    """The time of a robot; that of this machine if the robot does not say it."""
    try:
        return finite(float(header or "nan"))
    except ValueError:
        return time.time()
