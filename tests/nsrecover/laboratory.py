"""A laboratory as a new user declares it: tubes are buffered from a bottle and spun in a centrifuge."""

from nsrecover import Plan
from nsrecover.domains.base import (
    Derived,
    Effect,
    Exists,
    Has,
    Kind,
    Not,
    Operator,
    Parameter,
    Role,
    StateVariable,
    Words,
    absent,
    both,
    either,
    fact,
)
from nsrecover.domains.domain import Domain
from nsrecover.domains.entrances import scene_of

TUBE, PLACE, MACHINE = Parameter("?tube", "tube"), Parameter("?place", "place"), Parameter("?machine", "centrifuge")
BOTTLE = Parameter("?bottle", "bottle")

LABORATORY = Domain.of(
    "laboratory",
    Kind("tube"),
    Kind("bottle"),
    Kind("rack", frozenset({"place"})),
    Kind("centrifuge", frozenset({"place"})),
    StateVariable("open", ("closed", "open"), "centrifuge"),
    StateVariable("spun", ("mixed", "spun"), "tube"),
    StateVariable("buffered", ("dry", "buffered"), "tube"),
    StateVariable("level", ("full", "low", "empty"), "bottle"),
    Operator(
        "take",
        (TUBE,),
        (absent("shut_in", "?tube"), fact("hand_free")),
        (Effect(adds=(("held", "?tube"),), deletes=(("in", "?tube", "*"),)),),
        words=Words("take {tube}"),
    ),
    Operator(
        "put",
        (TUBE, PLACE),
        (either(Not(Has("?place", "centrifuge")), fact("open", "?place")), fact("held", "?tube")),
        (Effect(adds=(("in", "?tube", "?place"),), deletes=(("held", "?tube"),)),),
        words=Words("put {tube} into {place}"),
    ),
    Operator("open-lid", (MACHINE,), (), (Effect(adds=(("open", "?machine"),)),)),
    Operator("close-lid", (MACHINE,), (), (Effect(deletes=(("open", "?machine"),)),)),
    Operator(
        "spin",
        (TUBE, MACHINE),
        (absent("open", "?machine"), fact("in", "?tube", "?machine")),
        (Effect(adds=(("spun", "?tube"),)),),
        cost=5.0,
        words=Words("spin {tube} in {machine}"),
    ),
    Operator(
        "dispense",
        (BOTTLE, TUBE),
        (absent("level", "?bottle", "empty"), absent("spun", "?tube")),
        (
            Effect(adds=(("buffered", "?tube"),)),
            Effect(adds=(("level", "?bottle", "low"),), when=fact("level", "?bottle", "full")),
            Effect(adds=(("level", "?bottle", "empty"),), when=fact("level", "?bottle", "low")),
        ),
        words=Words("dispense from {bottle} into {tube}"),
    ),
    Operator("refill", (BOTTLE,), (), (Effect(adds=(("level", "?bottle", "full"),)),), cost=2.0),
    Derived(
        "shut_in",
        ("?tube",),
        Exists("?machine", both(fact("in", "?tube", "?machine"), absent("open", "?machine")), "centrifuge"),
    ),
    Derived("hand_free", (), Not(Exists("?tube", fact("held", "?tube")))),
    relations={"in": Role.LOCATION, "held": Role.HELD},
    words={"hand_free": "the gripper is empty"},
)
SCENE = scene_of(LABORATORY, {"tube 1": "tube", "rack": "rack", "cf": "centrifuge", "buffer": "bottle"})
START = frozenset({("in", "tube 1", "rack"), ("level", "buffer", "low")})
GOAL = (("spun", "tube 1"), ("in", "tube 1", "rack"))
PLAN = Plan.parse(
    "dispense(buffer, tube 1); open-lid(cf); take(tube 1); put(tube 1, cf); close-lid(cf); spin(tube 1, cf); "
    "open-lid(cf); take(tube 1); put(tube 1, rack)"
)
