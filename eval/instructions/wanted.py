"""What a task leads to, in the words of generated commands and paraphrases."""

from __future__ import annotations

from collections.abc import Sequence

from nsrecover.instructions.task import Stage, Task


def wanted(task: Task) -> tuple[str, ...]:
    """The goals of a task's stages, each with "@" and the place to which its search is limited.

    Taking something that a later stage moves, and meeting or finding someone or something before a later stage concerns
    it, are left out, as they are means; where they limit the search, that is noted at the later stage.
    """
    found, within = list[str](), dict[str, str]()
    for i, stage in enumerate(task.stages):
        limits = {**stage.things, **stage.people}
        for name, place in limits.items():
            within[name] = place or within.get(name, "")
        first = stage.goal[0]
        later = {name for after in task.stages[i + 1 :] for name in (*after.things, *after.people)}
        if first[0] in ("holding", "found", "beside") and first[1] in later and first[1] != "operator":
            continue
        found.append(_text(stage, within))
    return tuple(found)


def _text(stage: Stage, within: dict[str, str]) -> str:
    about = [fact for fact in sorted(stage.goal) if fact[0] != "counted"]
    words = [" ".join(fact) for fact in about]
    if stage.goal[0][0] in ("told", "answered"):
        words = [f"{stage.goal[0][0]} {next(iter(stage.people))}"]
    elif stage.goal[0][0] == "counted":
        words = [" ".join(sorted(stage.goal)[0])]
    names = [name for name in (*stage.things, *stage.people) if name != "operator"]
    place = next((within[name] for name in names if within.get(name)), "")
    return "; ".join(words) + (f" @{place}" if place else "")


def agrees(task: Task, want: Sequence[str]) -> bool:
    """Whether a task leads to what is wanted; a command may limit a search that the wanted goal does not."""
    found = wanted(task)
    return len(found) == len(want) and all(
        one == other or (" @" not in other and one.split(" @")[0] == other)
        for one, other in zip(found, want, strict=True)
    )
