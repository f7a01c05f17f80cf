"""The numbers of `python -m eval.planning` from cases, and its tables; pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from eval.common.detection import share
from eval.common.plans import PlannerSetting
from eval.models.tables import percent
from eval.planning.batched import as_text
from eval.planning.cases import PlanningCase
from nsrecover.planning.planner import Rejoin

INJECTED = ("I", "II", "III")
"""Datasets of errors that all can be recovered from: those of the paper."""

PROVEN_S = 1.0
"""Plans proven optimal within this time count."""

ORIGINAL = "original"
"""Name of the planner to the state at hand, which the anytime variants are compared with."""

ANYTIME_OBJECTS = (6, 8)
"""Objects of the scenes on which the anytime variants are compared (Kalithasan et al., section VII-B)."""


def summary(cases: Sequence[PlanningCase], settings: Mapping[str, PlannerSetting]) -> dict[str, Any]:
    """Everything that is measured.

    Args:
        cases: one for each error state.
        settings: the planners, by name; the first one is what the others are compared with.
    """
    names = list(settings)
    first = names[0]
    noticed = [case for case in cases if case.detected]
    way_back = [case for case in noticed if case.recoverable]
    datasets = _grouped(way_back, lambda case: case.dataset)
    planners = {
        name: {"datasets": {dataset: _figures(group, name, settings) for dataset, group in datasets.items()}}
        for name in names
    }
    injected = [case for case in way_back if case.dataset in INJECTED] or way_back
    headline = _figures(injected, first, settings) if injected else {}
    return {
        "recovery": headline.get("recovery", {}).get("value"),
        **{key: headline.get(key) for key in ("l_per_err", "l_over_opt", "t_per_err_s", "t_over_opt_s")},
        "proven_optimal": headline.get("proven_optimal", {}).get("value"),
        "expansions": headline.get("expansions", {}).get("median"),
        "error_states": len(cases),
        "detected": share(len(noticed), len(cases)),
        "unsteady": sum(bool(case.unsteady) for case in noticed),
        "optimum": _optimum(way_back),
        "planners": planners,
        "compared": {
            other: {dataset: _compared(group, first, other, settings) for dataset, group in datasets.items()}
            for other in names[1:]
        },
        "anytime": _anytime(way_back, settings),
        "groups": {
            "errors": _by(injected, lambda case: case.errors, first, settings),
            "objects": _by(injected, lambda case: case.objects, first, settings),
            "plan_length": _by(injected, lambda case: case.length, first, settings),
        },
        "decisions": {name: _decisions(noticed, name) for name in names},
        "failures": {name: failures(noticed, name, settings) for name in names},
    }


def succeeded(case: PlanningCase, name: str, settings: Mapping[str, PlannerSetting]) -> bool:
    """Whether a planner's plan led back: all where the subgoal has it, or all that is promised (relations)."""
    outcome = case.outcomes.get(name)
    if outcome is None:
        return False
    return outcome.completed if settings[name].rejoin is Rejoin.RELATIONS else outcome.recovered


def _figures(cases: Sequence[PlanningCase], name: str, settings: Mapping[str, PlannerSetting]) -> dict[str, Any]:
    good = [case for case in cases if succeeded(case, name, settings)]
    plans = [case.plans[name] for case in cases]
    known = [case for case in good if case.best is not None]
    lengths = [(_length(case, name), case.best.to[_subgoal(case, name)]) for case in known if _aimed(case, name)]
    return {
        "recovery": share(len(good), len(cases)),
        "completion": share(sum(_completed(case, name) for case in cases), len(cases)),
        "l_per_err": _mean([_length(case, name) / case.errors for case in good]),
        "l_over_opt": _mean([_over(case.plans[name].cost, case.best.cost) for case in known]),
        "optimal": share(sum(case.plans[name].cost <= case.best.cost for case in known), len(known)),
        "shorter_than_optimum": sum(case.plans[name].cost < case.best.cost for case in known),
        "l_over_opt_to_subgoal": _mean([_over(length, best) for length, best in lengths]),
        "t_s": _spread([plan.seconds for plan in plans]),
        "t_per_err_s": _spread([case.plans[name].seconds / case.errors for case in cases]),
        "cpu_per_err_s": _spread([case.plans[name].cpu_s / case.errors for case in cases]),
        "t_over_opt_s": _mean(
            [case.plans[name].seconds / case.best.actions for case in known if case.best.actions > 0]
        ),
        "first_plan_s": _spread([plan.improvements[0][0] for plan in plans if plan.improvements]),
        "proven_optimal": share(sum(plan.proven and plan.seconds <= PROVEN_S for plan in plans), len(plans)),
        "expansions": _spread([plan.expansions for plan in plans]),
        "cost": _mean([case.plans[name].cost for case in good]),
        "status": dict(Counter(plan.status for plan in plans)),
    }


def _completed(case: PlanningCase, name: str) -> bool:
    return name in case.outcomes and case.outcomes[name].completed


def _length(case: PlanningCase, name: str) -> int:
    way = case.plans[name].way
    return 0 if way is None else len(way.actions)


def _subgoal(case: PlanningCase, name: str) -> int:
    way = case.plans[name].way
    return -1 if way is None else way.subgoal


def _aimed(case: PlanningCase, name: str) -> bool:
    return case.best is not None and _subgoal(case, name) in case.best.to


def _over(found: float, best: float) -> float:
    """A ratio of lengths; nothing to do is as good as nothing to do."""
    return 1.0 if found == best else found / max(best, 1.0)


def _mean(values: Sequence[float]) -> float | None:
    return round(float(np.mean(values)), 5) if values else None


def _spread(values: Sequence[float]) -> dict[str, float | None]:
    if not values:
        return {"median": None, "p95": None, "max": None}
    return {
        "median": round(float(np.median(values)), 5),
        "p95": round(float(np.quantile(values, 0.95)), 5),
        "max": round(float(np.max(values)), 5),
    }


def _grouped(cases: Iterable[PlanningCase], key: Callable[[PlanningCase], Any]) -> dict[Any, list[PlanningCase]]:
    groups: dict[Any, list[PlanningCase]] = {}
    for case in cases:
        groups.setdefault(key(case), []).append(case)
    return dict(sorted(groups.items()))


def _by(
    cases: Sequence[PlanningCase], key: Callable[[PlanningCase], int], name: str, settings: Mapping[str, PlannerSetting]
) -> dict[str, Any]:
    return {str(value): _figures(group, name, settings) for value, group in _grouped(cases, key).items()}


def _optimum(cases: Sequence[PlanningCase]) -> dict[str, int]:
    """How many optima are known, and how many of those that an independent planner was asked for are the same."""
    known = [case.best for case in cases if case.best is not None]
    checked = [best for best in known if best.independent is not None]
    return {
        "states": len(cases),
        "known": len(known),
        "without_room": sum(not best.room for best in known),
        "checked": len(checked),
        "agree": sum(best.independent == best.cost for best in checked),
    }


def _compared(
    cases: Sequence[PlanningCase], first: str, other: str, settings: Mapping[str, PlannerSetting]
) -> dict[str, Any]:
    """One planner against another on the states where both succeed, and on time on all of them."""
    both = [case for case in cases if succeeded(case, first, settings) and succeeded(case, other, settings)]
    saved = [case.plans[first].cost - case.plans[other].cost for case in both]
    shorter = [_length(case, first) - _length(case, other) for case in both]
    ours = [case.plans[first].seconds for case in cases]
    theirs = [case.plans[other].seconds for case in cases]
    causes: dict[str, list[float]] = {}
    for case, actions in zip(both, saved, strict=True):
        for cause in case.causes:
            causes.setdefault(cause, []).append(actions)
    return {
        "states": len(cases),
        "both_succeed": len(both),
        "cpu_ratio_of_medians": _ratio(
            np.median([case.plans[other].cpu_s for case in cases]),
            np.median([case.plans[first].cpu_s for case in cases]),
        ),
        "time_ratio_of_medians": _ratio(np.median(theirs), np.median(ours)),
        "time_ratio_of_means": _ratio(np.mean(theirs), np.mean(ours)),
        "time_ratio_median": round(float(np.median(np.divide(theirs, ours))), 3),
        "shorter_in_total": int(sum(value > 0 for value in saved)),
        "longer_in_total": int(sum(value < 0 for value in saved)),
        "actions_saved": float(sum(saved)),
        "recovery_actions_saved": int(sum(shorter)),
        "actions_in_total": float(sum(case.plans[first].cost for case in both)),
        "saved_by_cause": {
            cause: {"states": len(values), "shorter": sum(value > 0 for value in values), "actions": sum(values)}
            for cause, values in sorted(causes.items())
        },
    }


def _ratio(above: float, below: float) -> float:
    return round(float(above / max(below, 1e-9)), 3)


def _anytime(cases: Sequence[PlanningCase], settings: Mapping[str, PlannerSetting]) -> dict[str, Any]:
    """Lengths beside those of the planner that knows only the state at hand (its setting is called `original`).

    The paper's recovery plan is the way to the subgoal and the rest of the plan from there (section V); the way alone
    is given as well.
    """
    low, high = ANYTIME_OBJECTS
    chosen = [case for case in cases if case.dataset == "III" and low <= case.objects <= high]
    if ORIGINAL not in settings or not chosen:
        return {}
    rows = {}
    for name in settings:
        both = [case for case in chosen if all(succeeded(case, n, settings) for n in (name, ORIGINAL))]
        plans = [(case.plans[name].cost, case.plans[ORIGINAL].cost) for case in both]
        rows[name] = {
            "recovery": share(sum(succeeded(case, name, settings) for case in chosen), len(chosen)),
            "l_plan_over_l_orig": _ratio(sum(cost for cost, _ in plans), sum(cost for _, cost in plans)),
            "l_plan_over_l_orig_mean": _mean([_over(cost, original) for cost, original in plans]),
            "actions_to_subgoal_over_orig": _ratio(*(sum(_length(case, n) for case in both) for n in (name, ORIGINAL))),
            "t_per_err_s": _spread([case.plans[name].seconds / case.errors for case in chosen]),
        }
    return rows


def _decisions(cases: Sequence[PlanningCase], name: str) -> dict[str, Any]:
    """Whether there is a way back: decided right, and explained right where there is none."""
    group = [case for case in cases if case.dataset == "V"]
    hopeless = [case for case in group if not case.recoverable]
    return {
        "decided": share(sum(case.decided_right(name) for case in group), len(group)),
        "explained": share(sum(case.explained_right(name) for case in hopeless), len(hopeless)),
    }


def failures(cases: Sequence[PlanningCase], name: str, settings: Mapping[str, PlannerSetting]) -> list[dict[str, Any]]:
    """Every error state in which a planner did not do what can be done, and what happened."""
    found = []
    for case in cases:
        plan = case.plans[name]
        if case.recoverable and succeeded(case, name, settings):
            continue
        if not case.recoverable and case.explained_right(name):
            continue
        outcome = case.outcomes.get(name)
        found.append(
            {
                "case": case.label(),
                "status": plan.status,
                "reason": plan.reason,
                "actions": [] if plan.way is None else [str(action) for action in plan.way.actions],
                "subgoal": _subgoal(case, name),
                "wrong": {} if outcome is None else dict(outcome.wrong),
                "unmet": [] if outcome is None else list(outcome.unmet),
                "log": [] if outcome is None else list(outcome.log),
                "lost": dict(case.lost),
            }
        )
    return found


# -- tables


def markdown(metrics: Mapping[str, Any]) -> str:
    """All planners side by side, and what else was asked for."""
    lines = [
        f"{metrics['error_states']} error states; the monitor noticed {percent(metrics['detected'])}. Times are those "
        "of planning alone, one thread.",
        "",
        "| planner | dataset | states | recovered | L/N_err | L/L_opt | T/N_err median | 95 % | processor time, median "
        "| T/L_opt | proven optimal in 1 s | expansions |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, details in metrics["planners"].items():
        for dataset, row in details["datasets"].items():
            per_error = row["t_per_err_s"]
            cells = [
                name,
                dataset,
                row["recovery"]["of"],
                percent(row["recovery"]),
                _number(row["l_per_err"]),
                _number(row["l_over_opt"], 4),
                _ms(per_error["median"]),
                _ms(per_error["p95"]),
                _ms(row["cpu_per_err_s"]["median"]),
                _ms(row["t_over_opt_s"]),
                percent(row["proven_optimal"]),
                _number(row["expansions"]["median"], 0),
            ]
            lines.append(f"| {' | '.join(str(cell) for cell in cells)} |")
    for other, datasets in metrics["compared"].items():
        first = next(iter(metrics["planners"]))
        lines += [
            "",
            f"{other} beside {first}:",
            "",
            "| dataset | both succeed | time, ratio of medians | of means | shorter in total | longer in total | "
            "actions saved | of | recovery actions saved |",
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
            *(
                f"| {dataset} | {row['both_succeed']} of {row['states']} | {row['time_ratio_of_medians']} | "
                f"{row['time_ratio_of_means']} | {row['shorter_in_total']} | {row['longer_in_total']} | "
                f"{row['actions_saved']:g} | {row['actions_in_total']:g} | {row['recovery_actions_saved']} |"
                for dataset, row in datasets.items()
            ),
        ]
    if metrics["anytime"]:
        lines += [
            "",
            "Dataset III with 6 to 8 objects: lengths, with the rest of the plan, beside those of `original`:",
            "",
            "| planner | recovered | L_plan/L_orig | mean of ratios | to the subgoal alone | T/N_err median |",
            "| --- | ---: | ---: | ---: | ---: | ---: |",
            *(
                f"| {name} | {percent(row['recovery'])} | {row['l_plan_over_l_orig']} | "
                f"{_number(row['l_plan_over_l_orig_mean'], 3)} | {row['actions_to_subgoal_over_orig']} | "
                f"{_ms(row['t_per_err_s']['median'])} |"
                for name, row in metrics["anytime"].items()
            ),
        ]
    for kind, groups in metrics["groups"].items():
        lines += [
            "",
            f"| {kind.replace('_', ' ')} | states | recovered | L/L_opt | T median | proven optimal in 1 s |",
            "| ---: | ---: | ---: | ---: | ---: | ---: |",
            *(
                f"| {value} | {row['recovery']['of']} | {percent(row['recovery'])} | {_number(row['l_over_opt'], 4)} | "
                f"{_ms(row['t_s']['median'])} | {percent(row['proven_optimal'])} |"
                for value, row in groups.items()
            ),
        ]
    if any(row["decided"]["of"] for row in metrics["decisions"].values()):
        lines += [
            "",
            "| planner | dataset V: decided right | impossible, with the right object and reason |",
            "| --- | ---: | ---: |",
            *(
                f"| {name} | {percent(row['decided'])} of {row['decided']['of']} | {percent(row['explained'])} of "
                f"{row['explained']['of']} |"
                for name, row in metrics["decisions"].items()
            ),
        ]
    optimum = metrics["optimum"]
    lines += [
        "",
        f"The optimum is known for {optimum['known']} of {optimum['states']} states ({optimum['without_room']} of them "
        f"without room to set everything aside); an independent planner agrees on {optimum['agree']} of "
        f"{optimum['checked']}.",
        "",
    ]
    if metrics.get("batched"):
        lines += [as_text(metrics["batched"]), ""]
    return "\n".join(lines)


def _number(value: float | None, digits: int = 2) -> str:
    return "none" if value is None else f"{value:.{digits}f}"


def _ms(seconds: float | None) -> str:
    return "none" if seconds is None else f"{1000 * seconds:.1f} ms"
