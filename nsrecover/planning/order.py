"""The order in which objects are recovered, from the executed plan (Kalithasan et al., section V, item 1)."""

from collections.abc import Iterable, Sequence
from graphlib import TopologicalSorter

from nsrecover.core.actions import Action


def recovery_order(names: Sequence[str], executed: Iterable[Action]) -> dict[str, int]:
    """Rank of every object: an object that others were placed relative to comes first.

    Every action with two objects adds an edge from the one it refers to, to the one it moves. Moving an object again
    takes back what its earlier placement said. An edge that would close a cycle is left out.

    Args:
        names: all objects; their order decides between objects that the plan does not relate.
        executed: the actions in the order of execution.

    Returns:
        Name -> rank, 0 first. Objects that no action placed or referred to come last.
    """
    before: dict[str, set[str]] = {}
    for action in executed:
        moved, *references = action.arguments
        before[moved] = set()
        for reference in references:
            before.setdefault(reference, set())
            if not _leads_to(before, reference, moved):
                before[moved].add(reference)
    sorter = TopologicalSorter({name: before[name] for name in names if name in before})
    ranked = [*sorter.static_order()]
    ranked += [name for name in names if name not in before]
    return {name: rank for rank, name in enumerate(ranked)}


def _leads_to(before: dict[str, set[str]], name: str, earlier: str) -> bool:
    """Whether `earlier` has to come before `name` already."""
    return name == earlier or any(_leads_to(before, other, earlier) for other in before.get(name, ()))
