"""The report of a demo run: one HTML file that holds its pictures, drawings and video itself and asks for nothing."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Sequence
from html import escape
from pathlib import Path

from PIL import Image

from eval.common.demo_result import DemoResult, NoticedError, Picture, Turn
from eval.common.drawing import FROM_ABOVE, best_side, colour_of, draw
from eval.common.style import STYLE
from nsrecover.core.recovery import RecoveryStatus
from nsrecover.explanation.facts import violated_texts

PHOTO_SIZE = (320, 240)
"""Pictures are stored at this size: two stand side by side in a third of the page."""


def render(result: DemoResult, video: Path | None = None) -> str:
    """The report as one HTML page.

    Args:
        result: the run.
        video: an mp4 to put into the page.
    """
    photos = _Photos()
    turns = "".join(_turn(turn, photos) for turn in result.turns)
    errors = "".join(_error(number, error) for number, error in enumerate(result.errors, start=1))
    body = (
        f"{_header(result)}{_cards(result)}{_opening(result, video)}"
        f'<h2>Before and after each action</h2><section class="strip">{turns}</section>'
        f"{errors}{_outcome(result)}"
        f"<details><summary>metrics.json</summary><pre>{escape(json.dumps(result.metrics(), indent=2))}</pre></details>"
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>nsrecover: {escape(result.scenario)}, seed {result.seed}</title>"
        f"<style>{STYLE}{photos.style()}</style></head><body><main>{body}</main></body></html>\n"
    )


class _Photos:
    """Pictures of the page; each is stored once, however often it is shown."""

    def __init__(self) -> None:
        self._encoded: dict[bytes, str] = {}

    def show(self, picture: Picture, alt: str) -> str:
        """An element that shows a picture."""
        image = Image.fromarray(picture).resize(PHOTO_SIZE, Image.Resampling.LANCZOS)
        buffer = io.BytesIO()
        # Rendered scenes have few colours: a palette halves the file and does not show.
        image.quantize(128, dither=Image.Dither.NONE).save(buffer, "PNG", optimize=True)
        name = self._encoded.setdefault(buffer.getvalue(), f"photo{len(self._encoded)}")
        return f'<div class="photo {name}" role="img" aria-label="{escape(alt)}"></div>'

    def style(self) -> str:
        """The style rules that hold the pictures."""
        return "".join(
            f".{name}{{background-image:url(data:image/png;base64,{base64.b64encode(data).decode()})}}"
            for data, name in self._encoded.items()
        )


def _tag(text: str, kind: str, extra: str = "") -> str:
    return f'<span class="tag {kind} {extra}">{escape(text)}</span>'


def _header(result: DemoResult) -> str:
    verdict = _tag("goal reached", "good", "big") if result.goal_reached else _tag("goal not reached", "bad", "big")
    return (
        f"<header><div><h1>{escape(result.scenario.capitalize())}</h1><p>{escape(result.description)} "
        f"Seed {result.seed}.</p></div>{verdict}</header>"
    )


def _card(title: str, text: str, tag: str = "") -> str:
    return f'<div class="card"><h3>{escape(title)}</h3><b>{escape(text)}</b>{tag}</div>'


def _cards(result: DemoResult) -> str:
    cards = []
    if result.errors:
        first = result.errors[0]
        cards.append(_card("First noticed", _when(first)))
        right = first.culprits_right
        note = (
            ""
            if right is None
            else _tag("as in ground truth" if right else "ground truth differs", "good" if right else "bad")
        )
        cards.append(_card("Not as expected", ", ".join(first.discrepancy.deviating) or "a precondition", note))
    else:
        cards.append(_card("Noticed", "nothing went wrong"))
    count = len(result.recovery_actions)
    cards.append(
        _card(
            "Recovery",
            f"{count} action{'' if count == 1 else 's'}",
            f"in {len(result.errors)} recoveries" if len(result.errors) > 1 else "",
        )
    )
    cards.append(_card("Planning time", f"{result.recovery_time_s:.2f} s"))
    return f'<section class="cards">{"".join(cards)}</section>'


def _when(error: NoticedError) -> str:
    return f"{error.discrepancy.phase.value} {error.label}"


def _opening(result: DemoResult, video: Path | None) -> str:
    wrong = {error.step: error for error in reversed(result.errors) if error.step is not None}
    items = []
    for number, action in enumerate(result.plan, start=1):
        tag = _tag("error noticed", "bad") if number in wrong else ""
        items.append(f'<li><span class="n">{number}</span><code>{escape(str(action))}</code>{tag}</li>')
    done = "".join(_done(turn) for turn in result.turns)
    plan = (
        f'<div class="card"><h3>The plan</h3><ol class="plan">{"".join(items)}</ol>'
        f'<h3 class="next">What was done</h3><ol class="plan">{done}</ol></div>'
    )
    if video is None:
        return f'<section class="top">{plan}</section>'
    data = base64.b64encode(video.read_bytes()).decode()
    film = f'<video controls muted loop playsinline src="data:video/mp4;base64,{data}"></video>'
    return f'<section class="top">{film}{plan}</section>'


def _done(turn: Turn) -> str:
    """A line for what was carried out; nothing for an action that was not run."""
    if turn.record.action is None:
        return ""
    kind = _tag("recovery", "warn") if turn.record.recovering else ""
    number = "" if turn.record.recovering else turn.label.split()[1]
    return f'<li><span class="n">{number}</span><code>{escape(str(turn.record.action))}</code>{kind}</li>'


def _turn(turn: Turn, photos: _Photos) -> str:
    record = turn.record
    noticed = bool(record.discrepancy)
    action = str(record.action or record.discrepancy.action)
    if noticed:
        kind, tag = "bad", _tag("error noticed", "bad")
    elif record.recovering:
        kind, tag = "warn", _tag("recovery", "warn")
    else:
        kind, tag = "", _tag("as expected", "good")
    label = turn.label if record.action is not None else f"before {turn.label}, which was not run"
    before, after = photos.show(turn.before, f"before {action}"), photos.show(turn.after, f"after {action}")
    return (
        f'<figure class="turn {kind}"><div class="pair">{before}{after}</div><figcaption>'
        f'<span class="label">{escape(label)}</span><code>{escape(action)}</code>{tag}</figcaption></figure>'
    )


def _error(number: int, error: NoticedError) -> str:
    several = f"Error {number}: " if number > 1 else "The error: "
    return (
        f"<h2>{several}noticed {escape(_when(error))}</h2>{_explanation(error)}{_graphs(error)}{_scores(error)}"
        f"{_recovery(error)}"
    )


def _explanation(error: NoticedError) -> str:
    if error.explanation is None:
        return ""
    checked = ", read back and checked against the facts" if error.explanation.verified else ", not verified"
    facts = ", ".join(str(fact) for fact in error.explanation.facts)
    return (
        f'<blockquote title="{escape(facts)}">{escape(error.explanation.text)}'
        f"<footer>Explanation: {escape(error.explanation.source)}{checked}.</footer></blockquote>"
    )


def _graphs(error: NoticedError) -> str:
    discrepancy = error.discrepancy
    boxes = [*discrepancy.expected.boxes, *discrepancy.observed.boxes]
    wrong = discrepancy.deviating
    views = (best_side(discrepancy.expected, discrepancy.observed), FROM_ABOVE)
    columns = []
    for title, graph, ghosts in (
        ("Expected", discrepancy.expected, None),
        ("Observed", discrepancy.observed, discrepancy.expected),
    ):
        pictures = "".join(
            f'<p class="soft">{escape(view.title)}</p>{draw(graph, view, view.frame(boxes), wrong, ghosts)}'
            for view in views
        )
        columns.append(f'<div class="card"><h3>{title}</h3>{pictures}</div>')
    legend = (
        '<p class="soft">Lines join an object to what it stands on. Red: not as expected; dashed: where it should be. '
        "In the view from above the robot stands below the picture. Numbers as in the table.</p>"
    )
    return f'<section class="graphs">{"".join(columns)}</section>{legend}'


def _scores(error: NoticedError) -> str:
    discrepancy = error.discrepancy
    causes = {culprit.name: culprit for culprit in discrepancy.deviations}
    rows = []
    for index, (name, p) in enumerate(zip(discrepancy.expected.names, discrepancy.probabilities, strict=True)):
        culprit = causes.get(name)
        what = "as expected" if culprit is None else culprit.cause.value.replace("_", " ")
        tag = _tag(what, "good" if culprit is None else "bad")
        distance = "" if culprit is None or culprit.observed is None else f"{culprit.distance_m * 100:.1f} cm off"
        truth = ""
        if error.true_culprits is not None:
            truth = f'<td class="soft">{escape(error.true_culprits.get(name, "in its place"))}</td>'
        rows.append(
            f'<tr><td class="num">{index + 1}</td>'
            f'<td><span class="swatch" style="background:{colour_of(name, index)}"></span>{escape(name)}</td>'
            f'<td class="num">{float(p):.3f}</td><td><div class="bar {"bad" if culprit else ""}">'
            f'<i style="width:{max(float(p), 0.01) * 100:.1f}%"></i>'
            f'<u style="left:{discrepancy.threshold * 100:.1f}%"></u>'
            f"</div></td><td>{tag}</td><td>{distance}</td>{truth}</tr>"
        )
    truth_head = "<th>ground truth (for judging only)</th>" if error.true_culprits is not None else ""
    violated = "".join(f"<p>Precondition not met: {escape(text)}.</p>" for text in violated_texts(discrepancy))
    return (
        '<table><thead><tr><th></th><th>object</th><th colspan="2">P(as expected), threshold marked</th><th>cause</th>'
        f"<th>distance</th>{truth_head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
        f'<p class="soft">D = {discrepancy.total:.2f}, the number of objects less the sum of their probabilities; '
        f"an object below {discrepancy.threshold:.3f} counts as wrong.</p>{violated}"
    )


def _recovery(error: NoticedError) -> str:
    recovery = error.recovery
    if recovery is None:
        return ""
    words = {
        RecoveryStatus.RECOVERED: ("a way back was found", "good"),
        RecoveryStatus.ALREADY_AT_SUBGOAL: ("already on the plan", "good"),
        RecoveryStatus.IMPOSSIBLE: ("impossible", "bad"),
        RecoveryStatus.BUDGET_EXHAUSTED: ("out of time", "bad"),
    }
    tag = _tag(*words[recovery.status])
    items = "".join(
        f'<li><span class="n">{number}</span><code>{escape(str(action))}</code></li>'
        for number, action in enumerate(recovery.actions, start=1)
    )
    facts = [f"{recovery.expansions} nodes expanded", f"{recovery.seconds:.2f} s"]
    if recovery.proven_optimal:
        facts.append("proven optimal")
    if recovery.reason:
        facts.append(recovery.reason)
    listing = f'<ol class="plan">{items}</ol>' if items else ""
    return (
        f'<div class="card" style="margin-top:18px"><h3>Recovery plan</h3>{tag}{listing}'
        f'<p class="soft">{escape(", ".join(facts))}</p></div>'
    )


def _outcome(result: DemoResult) -> str:
    if result.goal_reached:
        text = "Everything is where a run of the same plan without faults puts it, within 2 cm and on the same support."
        tag = _tag("goal reached", "good")
    else:
        text = "; ".join(f"the {name}: {why}" for name, why in result.deviations.items()) + "."
        tag = _tag("goal not reached", "bad")
    reason = f"<p>The robot stopped: {escape(result.reason)}.</p>" if result.reason else ""
    missed = ""
    if result.undetected:
        missed = f"<p>Not noticed when it happened: {escape(', '.join(result.undetected))}.</p>"
    return (
        f'<h2>Outcome, judged by the simulator</h2><div class="card">{tag} '
        f'<span class="soft">the robot says: {escape(result.status.replace("_", " "))}</span>'
        f"<p>{escape(text)}</p>{reason}{missed}</div>"
    )


def write(result: DemoResult, folder: Path, video: Path | None = None) -> Sequence[Path]:
    """Write `report.html` and `metrics.json`.

    Args:
        result: the run.
        folder: where to; it is made if need be.
        video: an mp4 to put into the page.

    Returns:
        The files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    report, metrics = folder / "report.html", folder / "metrics.json"
    report.write_text(render(result, video), encoding="utf-8")
    metrics.write_text(json.dumps(result.metrics(), indent=2) + "\n", encoding="utf-8")
    return report, metrics
