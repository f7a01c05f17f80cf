"""Recoveries after a person's veto: others than the vetoed ones, if there are any."""

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from nsrecover.core.recovery import Recovery
from nsrecover.core.scene import SceneT

MOST_SEARCHES = 24
"""Searches for one other way."""
Part = TypeVar("Part")


def another_way(
    vetoed: Sequence[Recovery[SceneT]],
    parts: Callable[[Recovery[SceneT]], Iterable[Part]],
    search: Callable[[frozenset[Part]], Recovery[SceneT]],
    cancelled: Callable[[], bool],
) -> Recovery[SceneT] | None:
    """The cheapest way that leaves out a part at least of every vetoed way; None if there is none.

    So neither another order nor a detour to the same end counts as another way.

    Args:
        vetoed: the ways that are not wanted.
        parts: what may be left out of a way: its actions, or the objects that it moves.
        search: the way without some parts.
        cancelled: called before every search; if it returns true, the best way so far is returned.
    """
    choices = {frozenset(each) for each in itertools.product(*(dict.fromkeys(parts(way)) for way in vetoed))}
    least = [each for each in choices if not any(other < each for other in choices)]
    ordered = sorted(least, key=lambda each: (len(each), sorted(map(str, each))))[:MOST_SEARCHES]
    searched = map(search, itertools.takewhile(lambda _: not cancelled(), ordered))
    found = [way for way in searched if way.found]
    if not found:
        return None
    # the search was not free, so nothing is proven about all ways
    return replace(min(found, key=lambda way: way.cost), proven_optimal=False, lower_bound=0.0)
