"""Metrics, tables and figure of `python -m eval.free_space`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.patches import Rectangle

from eval.common.figures import Axes, plt, save
from eval.common.statistics import share_of, spread
from eval.common.tables import document, markdown_table, percent_of
from eval.free_space.scenes import JudgedProblem
from nsrecover.core.scene import FloatArray
from nsrecover.models.free_place import Table

PROPOSAL, ANSWER = "proposal, unchecked", "proposal, checked"
NEAREST, GRID, UNIFORM = "exact nearest place", "10 mm grid", "uniform sampling"
AS_MANY = "nearest of as many draws"
GROUPS = ((2, 5), (6, 10), (11, 15), (16, 99))
"""Ranges of numbers of objects, one row of the table each."""

COLOURS = {
    PROPOSAL: "tab:orange",
    ANSWER: "tab:blue",
    NEAREST: "tab:green",
    GRID: "tab:grey",
    AS_MANY: "tab:purple",
    UNIFORM: "tab:red",
}


def summary(judged: Sequence[JudgedProblem]) -> dict[str, Any]:
    """Return all metrics except times: of all scenes, and by source and number of objects."""
    beyond = [item.on_grid_mm for item in judged if np.isfinite(item.on_grid_mm)]
    groups = {}
    for source in sorted({item.problem.source for item in judged}):
        for low, high in GROUPS:
            of_group = [i for i in judged if i.problem.source == source and low <= i.problem.objects <= high]
            if of_group:
                counts = [item.problem.objects for item in of_group]
                groups[f"{source}, {min(counts)} to {max(counts)}"] = _metrics(of_group)
    return {
        "all": _metrics(judged),
        "groups": groups,
        "proposal_free_by_objects": {
            str(count): _keeps([item for item in judged if item.problem.objects == count])
            for count in sorted({item.problem.objects for item in judged})
        },
        "grid_beyond_exact_mm": {"least": round(min(beyond), 3), "greatest": round(max(beyond), 3)} if beyond else None,
    }


def _keeps(judged: Sequence[JudgedProblem]) -> dict[str, Any]:
    """Gap in millimetres -> share of raw proposals that keep it, in scenes with room for it."""
    gaps = sorted({gap for item in judged for gap in item.keeps})
    rows = {gap: [item.keeps[gap] for item in judged if gap in item.keeps] for gap in gaps}
    return {f"{1000 * gap:g}": share_of(kept) for gap, kept in rows.items()}


def _metrics(judged: Sequence[JudgedProblem]) -> dict[str, Any]:
    roomy = [item for item in judged if item.gap_m is not None]
    gaps = Counter(item.gap_m for item in roomy if item.gap_m is not None)
    return {
        "scenes": len(judged),
        "no_room": len(judged) - len(roomy),
        "none_claimed": sum(item.answers[ANSWER].place is None for item in judged),
        "gaps_mm": {f"{1000 * gap:g}": count for gap, count in sorted(gaps.items())},
        "proposal_free": _keeps(judged),
        "ways": {name: _of_way(name, roomy) for name in roomy[0].answers} if roomy else {},
    }


def _of_way(name: str, roomy: Sequence[JudgedProblem]) -> dict[str, Any]:
    answers = [item.answers[name] for item in roomy]
    free = [answer.free for answer in answers]
    ratios = ratios_of(name, roomy)
    moved = [1000 * answer.moved_m for answer in answers if answer.free]
    found: dict[str, Any] = {"free": share_of(free)}
    if ratios:
        found["displacement_over_nearest"] = _spread(ratios)
        found["displacement_mm"] = _spread(moved)
    return found


def ratios_of(name: str, judged: Sequence[JudgedProblem]) -> list[float]:
    """Displacement of a method's free places over that of the nearest place with the same gap."""
    of_way = ((item.answers[name], item.nearest_m) for item in judged)
    return [answer.moved_m / nearest_m for answer, nearest_m in of_way if answer.free and nearest_m > 0]


def _spread(values: Sequence[float]) -> dict[str, float]:
    return spread(values, 4, median=np.median, p90=lambda found: np.quantile(found, 0.9), mean=np.mean)


def milliseconds(seconds: Mapping[str, Sequence[float]]) -> dict[str, dict[str, float]]:
    """Median and 95th percentile of the time of every method."""
    return {
        name: {"median": round(1000 * float(np.median(s)), 3), "p95": round(1000 * float(np.quantile(s, 0.95)), 3)}
        for name, s in seconds.items()
    }


def markdown(metrics: Mapping[str, Any]) -> str:
    """Table of all methods, and of the proposals by source and number of objects."""
    every = metrics["all"]
    beyond = metrics["grid_beyond_exact_mm"]
    gaps = ", ".join(f"{gap} mm: {count}" for gap, count in every["gaps_mm"].items())
    return document(
        _methods_table(metrics),
        _groups_table(metrics),
        f"Of {every['scenes']} scenes {every['no_room']} have no room at all, in {every['none_claimed']} the checked "
        f"answer is that there is none. Room with a gap of {gaps}. "
        + (
            f"The nearest point of a 2 mm grid is {beyond['least']} to {beyond['greatest']} mm farther than the exact "
            "nearest place. "
            if beyond
            else ""
        )
        + f"In batches a proposal takes {metrics['batched_proposal_ms']:.3f} ms.",
    )


def _methods_table(metrics: Mapping[str, Any]) -> str:
    threads = list(metrics["ms"])
    head = ["way", "free, with the gap there is room for", "displacement / nearest, median", "90 % below", "median"]
    for count in threads:
        head += [f"{count} thread{'s' * (count != '1')}: median", "95 % below"]
    rows = []
    for name, row in metrics["all"]["ways"].items():
        ratio, moved = row.get("displacement_over_nearest"), row.get("displacement_mm")
        far = ["none", "", ""]
        if ratio:
            far = [f"{ratio['median']:.3f}", f"{ratio['p90']:.3f}", f"{moved['median']:.0f} mm"]
        times = [f"{metrics['ms'][count][name][level]:.2f} ms" for count in threads for level in ("median", "p95")]
        rows.append([name, percent_of(row["free"]), *far, *times])
    return markdown_table(head, rows)


def _groups_table(metrics: Mapping[str, Any]) -> str:
    gaps = list(metrics["all"]["proposal_free"])
    head = ["objects", "scenes", *(f"proposals that keep {gap} mm" for gap in gaps), "free after the check"]
    rows = []
    for name, group in {**metrics["groups"], "all": metrics["all"]}.items():
        if not group["ways"]:
            continue
        ratio = group["ways"][PROPOSAL].get("displacement_over_nearest")
        free = group["proposal_free"]
        kept = [percent_of(free[gap]) if gap in free else "" for gap in gaps]
        far = [f"{ratio['median']:.3f}", f"{ratio['p90']:.3f}"] if ratio else ["none", ""]
        rows.append([name, group["scenes"], *kept, percent_of(group["ways"][ANSWER]["free"]), *far])
    return markdown_table([*head, "proposal / nearest, median", "90 % below"], rows)


def draw(judged: Sequence[JudgedProblem], metrics: Mapping[str, Any], table: Table, folder: Path) -> None:
    """Draw a scene from above with all places, free proposals by number of objects, displacements and times."""
    figure, axes = plt.subplots(2, 2, figsize=(12, 9), layout="constrained")
    roomy = [item for item in judged if item.gap_m is not None]
    if roomy:
        # a scene with about a dozen objects
        _scene(axes[0, 0], min(roomy, key=lambda item: abs(item.problem.objects - 12)), table)
    by_objects = metrics["proposal_free_by_objects"]
    for gap in metrics["all"]["proposal_free"]:
        rows = [(int(count), row[gap]["value"]) for count, row in by_objects.items() if gap in row]
        axes[0, 1].plot(*zip(*rows, strict=True), marker="o", label=f"{gap} mm")
    axes[0, 1].set(
        title="proposals that keep a gap, before the check", xlabel="objects", ylabel="share", ylim=(0.7, 1.005)
    )
    axes[0, 1].legend(title="gap")
    for name in metrics["all"]["ways"]:
        ratios = np.sort(ratios_of(name, judged))
        if name != NEAREST and len(ratios):
            shares = np.arange(1, len(ratios) + 1) / len(ratios)
            axes[1, 0].step(ratios, shares, where="post", color=COLOURS[name], label=name)
    axes[1, 0].axvline(1.3, color="black", linewidth=0.8, linestyle=":")
    axes[1, 0].set(title="displacement / nearest place with the same gap", xlabel="ratio", ylabel="share below")
    axes[1, 0].set(xlim=(0.98, 3.0), ylim=(0, 1.01))
    axes[1, 0].legend()
    threads, times = next(iter(metrics["ms"].items()))
    names = list(times)
    medians = [times[name]["median"] for name in names]
    upper = [times[name]["p95"] - times[name]["median"] for name in names]
    axes[1, 1].barh(
        names, medians, xerr=[np.zeros(len(names)), upper], color=[COLOURS[n] for n in names], capsize=3
    )  # fmt: skip
    axes[1, 1].axvline(2.0, color="black", linewidth=0.8, linestyle=":")
    axes[1, 1].invert_yaxis()
    axes[1, 1].set(title=f"ms per scene ({threads} thread(s)): median to 95th percentile", xlabel="ms")
    for axis in (axes[0, 1], axes[1, 0], axes[1, 1]):
        axis.grid(alpha=0.3)
    save(figure, folder, "free_space", dpi=110)


def _scene(axis: Axes, item: JudgedProblem, table: Table) -> None:
    """Draw a scene from above: the robot's x axis points up, y to the left."""
    for obstacle in item.problem.obstacles:
        axis.add_patch(_rectangle(obstacle, facecolor="lightgrey", edgecolor="grey"))
    axis.add_patch(_rectangle(item.problem.box, facecolor="gold", edgecolor="black"))
    for name, answer in item.answers.items():
        if answer.place is not None:
            width = 3 if name == NEAREST else 1.5
            axis.add_patch(_rectangle(answer.place, fill=False, edgecolor=COLOURS[name], linewidth=width, label=name))
    x_min, y_min, x_max, y_max = table.workspace
    axis.set(
        xlim=(y_max + 0.02, y_min - 0.02),
        ylim=(x_min - 0.02, x_max + 0.02),
        aspect="equal",
        xlabel="y, m",
        ylabel="x, m",
    )
    axis.add_patch(Rectangle((y_min, x_min), y_max - y_min, x_max - x_min, fill=False, linestyle="--"))
    axis.set_title("where the yellow object may go (colours as below)", fontsize=11)


def _rectangle(box: FloatArray, **look: Any) -> Rectangle:
    return Rectangle((box[1] - box[4] / 2, box[0] - box[3] / 2), box[4], box[3], **look)
