"""Exceptions: every one says what was expected, what was found and what to do."""

from __future__ import annotations

import contextlib
import difflib
import sys
from collections.abc import Iterable, Iterator


class NsrecoverError(Exception):
    """Base of every error a user can cause; the command line prints it in one line and exits with 2."""


class InvalidObservation(NsrecoverError):
    """An observation whose arrays do not fit together or hold values that cannot be used."""


class InvalidAction(NsrecoverError):
    """An action that its operator does not accept (unknown operator, wrong number or kind of arguments)."""


class UnknownObject(NsrecoverError):
    """A name that is not an object of the scene."""


class InvalidPlan(NsrecoverError):
    """A plan that cannot be parsed or that does not fit the scene."""


class InvalidCheckpoint(NsrecoverError):
    """A checkpoint that is missing, damaged, of another version or of other sizes than expected."""


class InvalidRecording(NsrecoverError):
    """A recorded episode or data file that is missing, damaged or of another version."""


class InvalidConfiguration(NsrecoverError):
    """A setting outside its range, or settings that contradict one another."""


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
        A sentence that starts with a space, naming the closest match (if any is close) and all known names.
    """
    options = sorted(known)
    close = difflib.get_close_matches(name, options, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    return f"{hint} Known: {', '.join(options) if options else '(none)'}."


@contextlib.contextmanager
def cli_errors(resumable: bool = False) -> Iterator[None]:
    """Return a context for entry points of commands: an error of the user is one line on stderr and exit code 2.

    An interruption exits with 130, as shells do.

    Args:
        resumable: whether the same command continues where it was interrupted; the message then says so.
    """
    try:
        yield
    except NsrecoverError as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("interrupted" + "; start the same command again to go on" * resumable, file=sys.stderr)
        sys.exit(130)
