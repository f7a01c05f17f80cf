"""A small kitchen in the household domain, and a world of facts in it, for tests."""

from collections.abc import Callable

from nsrecover.core import Action, FactScene, Plan
from nsrecover.domains.base import State
from nsrecover.domains.household import LASTING, household

HOME = household(
    [
        "countertop",
        "dining table",
        "sink",
        "faucet",
        "pot",
        "mug",
        "house plant",
        "fridge",
        "egg",
        "pan",
        "stove burner",
    ],
    complete=True,
    one_handed=True,
    domain=LASTING,
)
START: State = frozenset(
    {("at", "pot", "countertop"), ("at", "mug", "countertop"), ("at", "egg", "fridge"), ("at", "pan", "countertop")}
)
WATER = Plan.parse(
    "pick_up(pot); put_in(pot, sink); toggle_on(faucet); toggle_off(faucet); pick_up(pot); pour(pot, house plant)"
)
WATERED = (("filled", "house plant", "water"),)
FRY = Plan.parse(
    "open_obj(fridge); pick_up(egg); crack_obj(egg); put_in(egg, pan); close_obj(fridge); pick_up(pan); "
    "put_on(pan, stove burner); toggle_on(stove burner)"
)
FRIED = (("cracked", "egg"), ("at", "egg", "pan"), ("at", "pan", "stove burner"), ("running", "stove burner"))
WINE = ("filled", "pot", "wine")


class FactWorld:
    """World of facts; `hook` gets the number of actions that are done and changes the state.

    Attributes:
        state: the true facts.
        done: the actions.
    """

    def __init__(
        self,
        state: State = START,
        hook: Callable[[int, State], State] = lambda number, state: state,
        show: Callable[[State], FactScene] = FactScene,
    ) -> None:
        self.state, self._hook, self._show = state, hook, show
        self.done: list[Action] = []

    def observe(self) -> FactScene:
        """The facts, as they are shown."""
        return self._show(self.state)

    def execute(self, action: Action) -> None:
        """Do it if it can be done."""
        if HOME.unmet(self.state, action.operator, action.arguments):
            self.state = HOME.settle(self.state)
        else:
            self.state = HOME.apply(self.state, action.operator, action.arguments)
        self.done.append(action)
        self.state = self._hook(len(self.done), self.state)


def after(number: int, *more: tuple[str, ...], less: tuple[tuple[str, ...], ...] = ()) -> Callable[[int, State], State]:
    """A hook that changes facts after a number of actions."""
    return lambda done, state: (state - frozenset(less)) | frozenset(more) if done == number else state
