"""Tables III to V of Kalithasan et al. with their numbers next to ours, and what sweeps measure besides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval.common.tables import document, markdown_table, number, percent, seen_through
from eval.sweep import metrics
from eval.sweep.failures import failure_of
from eval.tables import paper
from eval.tables.load import Sweep

ORACLE = "oracle"
MODELS = ("ours", "replan", "nofree")
"""Models of Tables III to V; lengths and times are of episodes in which these and the oracle are right."""

LEFT = "An error that a planner has noticed and not corrected is part of the reference state from then on"
"""How planners are judged that do not correct everything."""

REPLANS = "The actions of replan lead to the end of the plan: its L includes the rest of the plan. "
"""Note about its lengths."""


@dataclass(frozen=True)
class Section:
    """A heading with a text and a table, as Markdown; no table without a head."""

    title: str
    text: str
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()


def markdown(sections: Sequence[Section]) -> str:
    """The document."""
    parts = [
        part
        for each in sections
        for part in (f"## {each.title}", each.text, markdown_table(each.head, each.rows) if each.head else "")
    ]
    return document("# Recovery in the simulator", *parts)


def sections(sweeps: Sequence[Sweep]) -> list[Section]:
    """All tables for which the sweeps have numbers."""
    found = [_overview(sweeps)]
    titles = {
        "I": ("Table III: several errors at one step (dataset I)", paper.TABLE_III),
        "II": ("Table IV: an error at every step (dataset II)", paper.TABLE_IV),
        "III": ("Table V: larger scenes (dataset III)", paper.TABLE_V),
    }
    for dataset, (title, theirs) in titles.items():
        chosen = [sweep for sweep in sweeps if sweep.dataset == dataset]
        if chosen:
            found.append(_planning_table(title, theirs, chosen))
    if decided := [sweep for sweep in sweeps if sweep.dataset == "V"]:
        found.append(_decisions(decided))
    return [*found, _detection(sweeps), _failures(sweeps), _measured(sweeps)]


def commands(sweeps: Sequence[Sweep]) -> list[str]:
    """The command of each sweep."""
    return [
        "python -m eval "
        + (
            sweep.metrics.get("asked")
            or f"dataset={sweep.dataset} planner={sweep.planner} episodes={sweep.metrics['episodes']} "
            f"seed={sweep.metrics['seed']}"
        )
        for sweep in sweeps
    ]


def revisions(sweeps: Sequence[Sweep]) -> list[str]:
    """Revisions of the code that ran some sweeps."""
    found = (sweep.metrics.get("runs") or [sweep.metrics["last_run"]] for sweep in sweeps)
    return list(dict.fromkeys(str(run["revision"]) for runs in found for run in runs))


def _measured(sweeps: Sequence[Sweep]) -> Section:
    run = sweeps[0].metrics["last_run"]
    lines = "\n\n".join(f"`{command}`" for command in commands(sweeps))
    return Section(
        "How it was measured",
        f"{lines}\n\nRevision {', '.join(revisions(sweeps))}; {run['processor']}, {run['cores']} cores.",
    )


def _overview(sweeps: Sequence[Sweep]) -> Section:
    rows = []
    for sweep in sweeps:
        found = sweep.metrics
        rows.append(
            [
                sweep.planner,
                sweep.dataset,
                str(found["episodes"]),
                *(
                    percent(found[name], found["intervals"][name])
                    for name in ("recovery", "completion", "completion_where_possible", "promised")
                ),
                _with(found, "l_per_err", 2),
                _with(found, "l_over_opt", 3),
                _with(found, "whole_over_opt", 3),
                _ms(found, "t_per_err_s"),
                _ms(found, "t_over_opt_s"),
            ]
        )
    return Section(
        "All planners",
        f"{seen_through([sweep.sensor for sweep in sweeps])} "
        "**Recovered**: share of the noticed, recoverable errors whose plan reaches its subgoal when the ideal "
        "executor carries it out; an error without a plan counts as not recovered. "
        "**Completed**: every object ends within 2 cm, and on the same support, of its place in the fault-free run; an "
        "episode that asks for help is not completed. **Where possible** leaves out episodes in which an object was "
        "truly out of reach when this planner noticed something; it does not compare planners. Of dataset V the "
        "recoverable episodes count. **Promised**: every relation that the plan promises holds at the end. **L** "
        "counts the actions to the state of the plan that the planner chose, **L_opt** the fewest to the same state; "
        "**recovery and rest** counts the rest of the plan too, over the fewest to any state. L can be below L_opt, "
        "which counts an action for each object: an object may fall into its place when another one is removed. "
        f"{LEFT}: the lengths of retry, whose L_opt includes all of them, mean little. 95 % intervals: Wilson for "
        "shares (recoveries of one episode count as independent), bootstrap over episodes for the rest.",
        (
            "planner", "dataset", "episodes", "recovered", "completed", "where possible", "promised", "L/N_err",
            "L/L_opt", "recovery and rest", "T/N_err", "T/L_opt",
        ),
        rows,
    )  # fmt: skip


def _planning_table(title: str, theirs: Mapping[str, paper.Row], sweeps: Sequence[Sweep]) -> Section:
    held = [sweep for sweep in sweeps if sweep.planner in (*MODELS, ORACLE)]
    common = common_episodes(held)
    rows = []
    for sweep in sweeps:
        if not any(action.looked for record in sweep.records for action in record.actions):
            continue
        row = theirs.get(sweep.planner)
        alike = [record for record in sweep.records if record.episode in common]
        ratios = {name: metrics.mean_ratio(alike, ratio) for name, ratio in metrics.RATIOS.items()}
        found = sweep.metrics
        rows.append(
            [
                sweep.planner,
                str(len(sweep.records)),
                str(len(alike)),
                percent(found["recovery"], found["intervals"]["recovery"]),
                _paper(row, "recovery", "%"),
                number(ratios["l_per_err"][0]),
                _paper(row, "l_per_err"),
                number(ratios["l_over_opt"][0], 3),
                _paper(row, "l_over_opt"),
                _seconds(ratios["t_per_err_s"][0]),
                _paper(row, "t_per_err_s", "s"),
                _seconds(ratios["t_over_opt_s"][0]),
                _paper(row, "t_over_opt_s", "s"),
                percent(found["completion"], found["intervals"]["completion"]),
                _paper(row, "completion", "%"),
            ]
        )
    names = ", ".join(sweep.planner for sweep in held) or "none"
    head = ["model", "episodes", "of these for L and T"]
    for name in ("Rec.", "L/N_err", "L/L_opt", "T/N_err", "T/L_opt", "Comp."):
        head += [name, f"{name} ({paper.CITATION})"]
    return Section(
        title,
        f"Lengths and times are of the {len(common)} episodes in which every recovery of {names} is right. "
        f"{REPLANS if any(sweep.planner == 'replan' for sweep in held) else ''}"
        "The datasets follow the recipe of the paper; the times of the paper are of another machine.",
        head,
        rows,
    )


def common_episodes(sweeps: Sequence[Sweep]) -> set[int]:
    """Numbers of the episodes that all sweeps contain and in which every recovery of every sweep is right."""
    sets = [
        {record.episode for record in sweep.records if all(recovery.right for recovery in metrics.to_recover([record]))}
        for sweep in sweeps
    ]
    return set.intersection(*sets) if sets else set()


def _decisions(sweeps: Sequence[Sweep]) -> Section:
    rows = [
        [
            sweep.planner,
            str(len(sweep.records)),
            *(
                percent(sweep.metrics[name], sweep.metrics["intervals"][name])
                for name in ("decided_right", "blamed_right", "completion")
            ),
        ]
        for sweep in sweeps
    ]
    return Section(
        "Is there a way back? (dataset V)",
        "Half of the episodes have none: an object that the plan needs is gone or out of reach. **Decided right**: the "
        "planner asks for help in these and in no others. **Blamed right**: and names exactly the lost objects.",
        ("planner", "episodes", "decided right", "blamed right", "completed where there is one"),
        rows,
    )


def _detection(sweeps: Sequence[Sweep]) -> Section:
    rows = [
        [
            sweep.planner,
            sweep.dataset,
            str(sweep.metrics["counts"]["accuracy"]),
            *(
                percent(sweep.metrics["detection"][name], sweep.metrics["intervals"][name])
                for name in ("accuracy", "precision", "recall")
            ),
            percent(sweep.metrics["culprits_exact"], sweep.metrics["intervals"]["culprits_exact"]),
        ]
        for sweep in sweeps
        if sweep.metrics["counts"]["accuracy"] and sweep.planner != ORACLE
    ]
    rows.append(
        [
            paper.CITATION,
            "their own",
            "",
            *(f"{paper.DETECTION[n]:g} %" for n in ("accuracy", "precision", "recall")),
            "",
        ]
    )
    return Section(
        "Detection, while acting",
        "Every observed action, in the plan and in recoveries, is a decision, and so is every alarm before "
        f"an action for which a recovery is planned. {LEFT}: when retry reports it again at the next step, that is a "
        "false alarm, unless it repeats that step because of it.",
        ("planner", "dataset", "decisions", "accuracy", "precision", "recall", "culprits exact"),
        rows,
    )


def _failures(sweeps: Sequence[Sweep]) -> Section:
    rows = []
    for sweep in sweeps:
        counts = Counter(str(reason) for reason in map(failure_of, sweep.records) if reason is not None)
        for reason, count in counts.most_common():
            episodes = [str(record.episode) for record in sweep.records if failure_of(record) == reason]
            share = 100 * count / len(sweep.records)
            listed = ", ".join(episodes[:12]) + ", …" * (len(episodes) > 12)
            rows.append([sweep.planner, sweep.dataset, reason, str(count), f"{share:.2f} points", listed])
    return Section(
        "Why episodes failed",
        "Each failed episode has one reason, the first that applies (`eval.sweep.records.Failure`).",
        ("planner", "dataset", "reason", "episodes", "costs", "which"),
        rows or [["none"] + [""] * 5],
    )


def _with(found: Mapping[str, Any], name: str, digits: int) -> str:
    low, high = found["intervals"][name]
    if found[name] is None:
        return "-"
    return f"{found[name]:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def _ms(found: Mapping[str, Any], name: str) -> str:
    low, high = found["intervals"][name]
    if found[name] is None:
        return "-"
    return f"{1000 * found[name]:.1f} [{1000 * low:.1f}, {1000 * high:.1f}] ms"


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f} s"


def _paper(row: paper.Row | None, name: str, unit: str = "") -> str:
    value = getattr(row, name, None)
    return "" if value is None else f"{value:g} {unit}".strip()
