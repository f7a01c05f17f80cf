"""The tables: Tables III to VI of Kalithasan et al. with their numbers beside ours, and what else was measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from eval.common.statistics import share
from eval.common.tables import number, percent
from eval.sweep import metrics
from eval.sweep.failures import failure_of
from eval.sweep.oracle import OURS
from eval.sweep.records import EpisodeRecord
from eval.tables import anytime, paper
from eval.tables.document import Section
from eval.tables.load import Sweep
from eval.tables.pairs import compare

ORACLE = "oracle"
"""The planner that shows what is possible at all."""

MODELS = ("ours", "replan", "nofree")
"""The models of Tables III to V; lengths and times are of episodes in which these and the oracle are right."""

LEFT = "Errors that a planner has noticed and leaves as they are count as given from then on"
"""How planners are judged that do not put everything right."""

REPLANS = "The actions of replan lead to the end of the plan, not to its next state: its L holds the rest of the plan. "
"""What to know about its lengths."""


def sections(sweeps: Sequence[Sweep]) -> list[Section]:
    """Every table that the sweeps have numbers for."""
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
    special = (_anytime(sweeps), _decisions(sweeps), _limit(sweeps))
    found += [section for section in special if section is not None]
    found += [_detection(sweeps), _cost(sweeps), _failures(sweeps)]
    pairs = _pairs(sweeps)
    return [*found, pairs] if pairs is not None else found


def commands(sweeps: Sequence[Sweep]) -> str:
    """What was run, on what, in words."""
    lines = []
    for sweep in sweeps:
        asked = sweep.metrics.get("asked") or (
            f"dataset={sweep.dataset} planner={sweep.planner} episodes={sweep.metrics['episodes']} "
            f"seed={sweep.metrics['seed']}"
        )
        run = sweep.metrics["last_run"]
        lines.append(
            f"`python -m eval {asked}` at revision {', '.join(revisions(sweep.metrics))}, {run['processor']}, "
            f"{run['cores']} cores"
        )
    return "\n\n".join(lines)


def revisions(found: Mapping[str, Any]) -> list[str]:
    """Of the code that ran the episodes of a sweep, in their order.

    Args:
        found: metrics.json.
    """
    return list(dict.fromkeys(str(run["revision"]) for run in found.get("runs") or [found["last_run"]]))


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
        "**Recovered**: of the errors that were noticed and have a way back, those whose plan leads back, carried out "
        "by an unerring hand; one that is left as it is has no plan. "
        "**Completed**: every object ends within 2 cm, and on the same support, of where the plan without faults puts "
        "it; who asked for help has not. **Where possible** leaves out episodes in which something was really out of "
        "reach when this planner noticed something, through a fault or through the robot itself: it says what a "
        "planner does with what it meets, and does not compare planners. Of V the episodes that have a way back count. "
        "**Promised**: every relation that the plan promises holds at the end. **L** "
        "counts the actions to the state of the plan that the planner chose, **L_opt** the fewest to the same state; "
        "**way and rest** counts the rest of the plan too, beside the fewest over all states. L is now and then below "
        "L_opt, which counts an action for each object: what is taken away may let what lies on it drop into its "
        f"place. {LEFT}: the lengths of retry, whose L_opt has them all, say little. 95 % intervals: Wilson's for "
        "shares (recoveries of one episode count as independent), bootstrap over episodes for the rest.",
        (
            "planner", "dataset", "episodes", "recovered", "completed", "where possible", "promised", "L/N_err",
            "L/L_opt", "way and rest", "T/N_err", "T/L_opt",
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
        f"Lengths and times are of the {len(common)} episodes in which every recovery of {names} is right, as there. "
        f"{REPLANS if any(sweep.planner == 'replan' for sweep in held) else ''}"
        "Datasets are made by the same recipe, not the same ones; their times are of another machine.",
        head,
        rows,
    )


def common_episodes(sweeps: Sequence[Sweep]) -> set[int]:
    """Numbers of the episodes that all sweeps have, and in which every recovery of each is right."""
    sets = [
        {record.episode for record in sweep.records if all(recovery.right for recovery in metrics.to_recover([record]))}
        for sweep in sweeps
    ]
    return set.intersection(*sets) if sets else set()


def _anytime(sweeps: Sequence[Sweep]) -> Section | None:
    rows = []
    for found in anytime.variants(sweeps):
        theirs = paper.TABLE_VI.get(found.name)
        rows.append(
            [
                found.name,
                str(found.episodes),
                percent(found.recovered),
                _paper(theirs, "recovery", "%"),
                number(found.length, 3),
                _paper(theirs, "length"),
                _seconds(found.t_per_err_s),
                _paper(theirs, "t_per_err_s", "s"),
            ]
        )
    if not rows:
        return None
    head = ["model", "episodes"]
    for name in ("Rec.", "L_plan/L_orig", "T/N_err"):
        head += [name, f"{name} ({paper.CITATION})"]
    return Section(
        "Table VI: anytime (dataset III with 6 to 8 objects)",
        "K nearest states of the plan, beside `original`, which knows only the state at which the error was noticed. "
        "A plan is the way back and the rest of the plan from there. Lengths are of the first recovery of each "
        "episode, where all are in the same state; shares and times of all recoveries.",
        head,
        rows,
    )


def _decisions(sweeps: Sequence[Sweep]) -> Section | None:
    chosen = [sweep for sweep in sweeps if sweep.dataset == "V"]
    if not chosen:
        return None
    rows = [
        [
            sweep.planner,
            str(len(sweep.records)),
            *(
                percent(sweep.metrics[name], sweep.metrics["intervals"][name])
                for name in ("decided_right", "blamed_right", "completion")
            ),
        ]
        for sweep in chosen
    ]
    return Section(
        "Is there a way back? (dataset V)",
        "Half of the episodes have none: an object that the plan needs is gone or out of reach. **Decided right**: it "
        "asks for help in these, and in no others. **Blamed right**: and names exactly the lost objects.",
        ("planner", "episodes", "decided right", "blamed right", "completed where there is one"),
        rows,
    )


def _limit(sweeps: Sequence[Sweep]) -> Section | None:
    """What not even the oracle completes is the simulator's and the arm's."""
    ours = {sweep.dataset: sweep for sweep in sweeps if sweep.planner == MODELS[0]}
    rows = []
    every, done, failed, others, told = 0, 0, list[str](), 0, 0
    asked, planned = 0, 0
    for sweep in sweeps:
        if sweep.planner != ORACLE:
            continue
        possible = [record for record in sweep.records if record.recoverable and not record.lost]
        short = [record for record in possible if not record.completed]
        every, done = every + len(possible), done + len(possible) - len(short)
        failed += [record.label() for record in short]
        also, ran = _both(short, ours)
        others, told = others + also, told + ran
        ways = [recovery for record in sweep.records for recovery in record.recoveries if recovery.found]
        asked, planned = asked + sum(way.reason != OURS for way in ways), planned + len(ways)
        mine = _both(possible, ours)
        beside = f"{mine[0]} of {mine[1]}" if mine[1] else ""
        rows.append([*_completed(sweep.dataset, len(possible) - len(short), len(possible)), beside])
    if not rows:
        return None
    rows.append([*_completed("all", done, every), ""])
    least = "nothing."
    if failed:
        beaten = f"; ours completes {others} of {told} that it ran" if told else ""
        least = f"{100 * len(failed) / every:.2f} points: {', '.join(failed)}{beaten}."
    return Section(
        "What the simulator and the arm allow",
        "The oracle sees the true state and plans optimally: of the episodes in which nothing was lost it should "
        f"complete all. What it does not is at the limit of the simulator and the arm's skills: this costs {least} "
        f"Fast Downward planned {asked} of its {planned} recoveries, the others our own optimal search, where it looks "
        "at too many arrangements to ask anybody else, what was nudged has to be put right, or the places of Fast "
        "Downward's way do not all fit.",
        ("dataset", "nothing lost", "the oracle completes", "share", "ours, of these"),
        rows,
    )


def _completed(name: str, done: int, every: int) -> list[str]:
    found = share(done, every)
    return [name, str(every), str(done), percent(found["value"], [found["low"], found["high"]])]


def _both(records: Sequence[EpisodeRecord], ours: Mapping[str, Sweep]) -> tuple[int, int]:
    """How many of some episodes of one dataset our planner completes, of those that it ran."""
    if not records or records[0].dataset not in ours:
        return 0, 0
    chosen = {record.episode for record in records}
    mine = [record for record in ours[records[0].dataset].records if record.episode in chosen]
    return sum(record.completed for record in mine), len(mine)


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
        "Every action that was looked at, in the plan and in recoveries, is a decision, and so is every alarm before "
        f"an action that a planner plans for. {LEFT}: when retry sees them again at the next step, that is a false "
        "alarm, unless it repeats that step on their account.",
        ("planner", "dataset", "decisions", "accuracy", "precision", "recall", "culprits exact"),
        rows,
    )


def _cost(sweeps: Sequence[Sweep]) -> Section:
    rows = [
        [
            sweep.planner,
            sweep.dataset,
            str(sweep.metrics["actions"]["total"]),
            number(sweep.metrics["actions"]["mean"]),
            number(sweep.metrics["faults"]["mean"]),
            str(sweep.metrics["recoveries"]),
            number(sweep.metrics["wall_s"]["mean"], 1),
            number(sweep.metrics["cpu_s"]["mean"], 1),
            number(sweep.metrics["planning_s"]["mean"], 3),
        ]
        for sweep in sweeps
    ]
    return Section(
        "What it took",
        "Seconds are of the whole episode, simulator, rendering and judging included; planning is the part of it that "
        "planners take. **Faults struck**: those of a step that a recovery jumps over do not, so planners that rejoin "
        "the plan at other states, or move things by other actions than the plan's, meet other numbers of them in "
        "dataset II.",
        (
            "planner", "dataset", "actions", "per episode", "faults struck per episode", "recoveries",
            "s per episode", "of the processor", "of planning",
        ),
        rows,
    )  # fmt: skip


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


def _pairs(sweeps: Sequence[Sweep]) -> Section | None:
    rows = []
    for dataset in sorted({sweep.dataset for sweep in sweeps}):
        chosen = [sweep for sweep in sweeps if sweep.dataset == dataset]
        for other in chosen[1:]:
            found = compare(chosen[0].records, other.records)
            if found is None:
                continue
            low, high = found.interval
            actions = "-"
            if found.actions is not None and found.actions_interval is not None:
                actions = f"{found.actions:+.2f} [{found.actions_interval[0]:+.2f}, {found.actions_interval[1]:+.2f}]"
            rows.append(
                [
                    dataset,
                    f"{chosen[0].planner} and {other.planner}",
                    str(found.episodes),
                    str(found.both),
                    str(found.first_only),
                    str(found.second_only),
                    "< 0.0001" if found.p_value < 1e-4 else f"{found.p_value:.4f}",
                    f"{100 * found.difference:+.2f} [{100 * low:+.2f}, {100 * high:+.2f}]",
                    actions,
                    number(found.time_ratio, 1),
                ]
            )
    if not rows:
        return None
    return Section(
        "Planners on the same episodes",
        "How many end as they should under both, under the first only, and under the second only; p by McNemar's exact "
        "test; differences are of the first minus the second, with 95 % intervals by Newcombe's method for pairs. "
        "Actions are counted where both end as they should (intervals by resampling episodes). The last column is the "
        "second's median planning time by the first's.",
        (
            "dataset", "planners", "episodes", "both", "first only", "second only", "p", "difference, points",
            "actions", "planning time",
        ),
        rows,
    )  # fmt: skip


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


def _paper(row: paper.Row | paper.AnytimeRow | None, name: str, unit: str = "") -> str:
    value = getattr(row, name, None)
    return "" if value is None else f"{value:g} {unit}".strip()
