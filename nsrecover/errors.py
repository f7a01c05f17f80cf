"""Exceptions: every one says what was expected, what was found and what to do."""

from __future__ import annotations

import contextlib
import difflib
import os
import re
import signal
import sys
import threading
import traceback
from collections.abc import Collection, Iterable, Iterator

LONGEST_ERROR = 400
"""Characters of the text of an error; what is longer is left out in its middle."""

LONGEST_LIST = 120
"""Characters of a list of known names; of a longer one the closest names are said."""

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that change what a terminal shows, but for the ends of lines."""


class NsrecoverError(Exception):
    """Base of every error a user can cause; the command line prints it in one line and exits with 2."""

    def __str__(self) -> str:
        text = _CONTROL.sub(lambda found: ascii(found[0])[1:-1], super().__str__())
        half = LONGEST_ERROR // 2 - 5
        return text if len(text) <= LONGEST_ERROR else f"{text[:half]} ... {text[-half:]}"


class InvalidObservation(NsrecoverError):
    """An observation whose arrays do not fit together or hold values that cannot be used."""


class InvalidAction(NsrecoverError):
    """An action that its operator does not accept (unknown operator, wrong number or kind of arguments)."""


class UnknownObject(NsrecoverError):
    """A name that is not an object of the scene."""


class InvalidPlan(NsrecoverError):
    """A plan that cannot be parsed or that does not fit the scene."""


class OutOfTurn(InvalidPlan):
    """Something was reported to a session that it had not asked for."""


class InvalidCheckpoint(NsrecoverError):
    """A checkpoint that is missing, damaged, of another version or of other sizes than expected."""


class InvalidRecording(NsrecoverError):
    """A recorded episode or data file that is missing, damaged or of another version."""


class InvalidConfiguration(NsrecoverError):
    """A setting outside its range, or settings that contradict one another."""


class CannotWrite(NsrecoverError, OSError):
    """A file that cannot be written: no permission, no space, or no file."""


class ModelFailure(NsrecoverError):
    """A language model that gives no answer, none in time, or none that can be read."""


class WorldNotConforming(NsrecoverError):
    """A world that breaks a rule of `nsrecover.testing.check_world`.

    Attributes:
        rule: name of the rule.
        reason: what was expected, what was found and what to do.
        report: the results of the rules up to then (a `nsrecover.testing.Report`).
    """

    def __init__(self, rule: str, reason: str, report: object = None) -> None:
        super().__init__(f"{rule}: {reason}")
        self.rule, self.reason, self.report = rule, reason, report


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint for a misspelt name.

    Args:
        name: the given name.
        known: the accepted names.

    Returns:
        A sentence that starts with a space, naming the closest match (if any is close) and the known names.
    """
    options = sorted(map(str, known))
    listed = ", ".join(options) if options else "(none)"
    if len(listed) > LONGEST_LIST:
        near = difflib.get_close_matches(name, options, n=5, cutoff=0.0)
        listed = f"{', '.join(near)[: LONGEST_LIST // 2]} and others, {len(options)} in all"
    folded = {option.casefold(): option for option in reversed(options)}
    close = difflib.get_close_matches(name.casefold(), folded, n=1)
    hint = f" Did you mean {folded[close[0]]!r}?" if close else ""
    return f"{hint} Known: {listed}."


def require_known(
    name: str, known: Collection[str], expected: str, error: type[NsrecoverError] = InvalidConfiguration
) -> None:
    """Refuse a name that is not among the accepted ones.

    Args:
        name: the given name.
        known: the accepted names.
        expected: what they are the names of, for the message.
        error: what is raised.

    Raises:
        NsrecoverError: the name is not accepted; the message has the closest one.
    """
    if name not in known:
        raise error(f"expected {expected}, found {name!r}.{did_you_mean(str(name), known)}")


DEBUG = "NSRECOVER_DEBUG"
"""Environment variable: if it is set, errors of users have a traceback, too; `nsrecover --debug` sets it."""


@contextlib.contextmanager
def cli_errors(resumable: bool = False) -> Iterator[None]:
    """Return a context for entry points of commands: an error of the user is one line on stderr and exit code 2.

    So is a file that cannot be read or written. An interruption exits with 130, a termination with 143, as shells do;
    both delete unfinished files.

    Args:
        resumable: whether the same command continues where it was interrupted; the message then says so.
    """
    again = "; start the same command again to go on" * resumable
    try:
        with _terminable():
            yield
    except BrokenPipeError:  # the reader of the output has enough, as `head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (NsrecoverError, OSError) as error:
        if os.environ.get(DEBUG):
            traceback.print_exc()
            sys.exit(2)
        ours = isinstance(error, NsrecoverError)
        said = str(error) if ours else f"expected files that can be read and written, found: {error}"
        print(f"error: {' '.join(said.split())}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt as stop:
        print(f"interrupted{f': {stop}' * bool(stop.args)}{again}", file=sys.stderr)
        sys.exit(130)
    except _Terminated:
        print(f"terminated{again}", file=sys.stderr)
        sys.exit(143)


class _Terminated(BaseException):
    """SIGTERM was sent."""


@contextlib.contextmanager
def _terminable() -> Iterator[None]:
    """Turn SIGTERM into an exception, so that what is open is closed and unfinished files are deleted."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    owner = os.getpid()

    def end(number: int, frame: object) -> None:
        if os.getpid() != owner:  # a worker that was forked off
            os._exit(143)
        raise _Terminated

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
