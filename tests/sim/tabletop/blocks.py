"""A cube, a die and a brick on a table, and two actions with them."""

from nsrecover.core import Action
from sim.tabletop.scenes import ObjectKind, ObjectSpec, SceneSpec

SCENE = SceneSpec(
    (
        ObjectSpec("red cube", ObjectKind.CUBE, "red", (0.040, 0.040, 0.040), (0.45, 0.0), 0.2),
        ObjectSpec("blue die", ObjectKind.DIE, "blue", (0.044, 0.044, 0.044), (0.55, 0.15), -0.1),
        ObjectSpec("white lego", ObjectKind.LEGO, "white", (0.056, 0.036, 0.036), (0.60, -0.12), 0.1),
    ),
    seed=3,
)
STACK = Action("top", ("blue die", "red cube"))
ROW = Action("left", ("white lego", "red cube"))
