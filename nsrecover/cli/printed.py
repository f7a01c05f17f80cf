"""What `nsrecover info` and `nsrecover check` print: a screen about a checkpoint, and steps as JSON data."""

from textwrap import shorten

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.text import Text

from nsrecover.core import StepRecord, Verdict
from nsrecover.core.sessions.supervision import Listener
from nsrecover.explanation.reasons import reason_text
from nsrecover.explanation.unseen import missing_texts
from nsrecover.util.untrusted_json import JsonMapping, JsonObject

_INDENT = 5
_WIDTH = 90
"""Characters of a value; longer ones end in dots."""

VERDICTS = {
    Verdict.AS_EXPECTED: "[green]as expected[/]",
    Verdict.DEVIATING: "[red]not as expected[/]",
    Verdict.CANNOT_TELL: "[yellow]cannot tell[/]",
}
"""Verdict -> its words on a terminal, for rich."""


def info_lines(document: JsonMapping) -> list[tuple[str, str]]:
    """Names and values about a checkpoint that fit one screen; what is not known is left out.

    Args:
        document: what `nsrecover info --json` prints.
    """
    metrics, provenance = document["metrics"], document["provenance"]
    lines = [
        ("version", document["version"]),
        ("checkpoint", document["checkpoint"]),
        ("operators", ", ".join(document["operators"])),
        ("an object is wrong below", f"P(as expected) = {document['threshold']:g}"),
    ]
    if "false_alarm_rate" in metrics:
        steps = f" of {metrics['test_steps']} steps" if "test_steps" in metrics else ""
        lines.append(("false alarms", f"{100 * metrics['false_alarm_rate']:.1f} %{steps}"))
    sensors = metrics.get("sensors", {})
    if sensors:
        rates = (f"{name} {100 * found['false_alarm_rate']:.1f} %" for name, found in sensors.items())
        lines.append(("  by sensor", ", ".join(rates)))
    if metrics.get("displacement_recall_by_mm"):
        recall = {int(mm): share for mm, share in metrics["displacement_recall_by_mm"].items()}
        noticed = [mm for mm in sorted(recall) if all(recall[other] == 1 for other in recall if other >= mm)]
        if noticed:
            lines.append(("displacements noticed", f"all of {noticed[0]} mm and more"))
    if metrics.get("box_error_mm"):
        errors = ", ".join(f"{mm:g} mm after {steps} steps" for steps, mm in metrics["box_error_mm"].items())
        lines.append(("imagined places are off by", errors))
    lines += [
        (f"trained: {name}", str(provenance[name])) for name in ("command", "seed", "episodes") if name in provenance
    ]
    return [(name, shorten(value, _WIDTH, placeholder=" ...")) for name, value in lines]


class Printer(Listener):
    """Prints the turns of a session for people.

    Args:
        console: where to.
    """

    def __init__(self, console: Console) -> None:
        self._console = console

    def recorded(self, record: StepRecord[object]) -> None:
        """Print a turn."""
        found = record.discrepancy
        line = f"{found.step + 1:>3}  {escape(str(found.action))}  {VERDICTS[found.verdict]}"
        self._console.print(line, highlight=False)
        if record.explanation is not None:
            self._console.print(Padding(Text(record.explanation.text), (0, 0, 0, _INDENT)))


def record_document(record: StepRecord[object]) -> JsonObject:
    """A checked step of a recording as JSON data."""
    discrepancy = record.discrepancy
    found: JsonObject = {
        "step": discrepancy.step + 1,
        "action": str(discrepancy.action),
        "as_expected": discrepancy.as_expected,
        "verdict": discrepancy.verdict.value,
        "missing_to_tell": list(missing_texts(discrepancy)),
        "probabilities": {name: round(chance, 4) for name, chance in discrepancy.chances.items()},
        "deviations": [
            {"name": each.name, "cause": each.cause.value, "other": each.other} for each in discrepancy.deviations
        ],
    }
    if record.recovery is not None:
        found["recovery"] = {
            "status": record.recovery.status.value,
            "actions": [str(action) for action in record.recovery.actions],
            "subgoal": record.recovery.subgoal,
            "reason": reason_text(record.recovery),
        }
    if record.explanation is not None:
        found["explanation"] = record.explanation.text
    return found
