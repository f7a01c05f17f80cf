"""The ROS 2 packages: complete, and consistent with the library; `tests/ros` runs the node."""

import ast
import re

import yaml

from nsrecover.bridges.ros2.core import CoreSettings
from tests.commands import ROOT
from tests.nsrecover.bridges.ros2_types import FOLDER, PACKAGE, definitions, message_of, type_store

NODE = ROOT / "ros2" / "nsrecover_ros"
RESERVED = {"operator", "namespace", "template", "class", "default", "delete", "new", "this", "union", "private"}
"""Words of C++ that a field could be called by mistake."""


def test_every_definition_is_built_and_can_be_a_class_of_c() -> None:
    listed = re.findall(r'"((?:msg|srv)/\w+\.\w+)"', (FOLDER / "CMakeLists.txt").read_text(encoding="utf-8"))
    assert listed == sorted(each.relative_to(FOLDER).as_posix() for each in FOLDER.rglob("*.[ms][sr][gv]"))
    for kind in definitions():
        assert not RESERVED & {name for name, _ in type_store().fielddefs[kind][1]}, kind


def test_every_type_survives_the_wire() -> None:
    store = type_store()
    for kind in definitions():
        data = bytes(store.serialize_cdr(message_of(kind, {}), kind))
        assert bytes(store.serialize_cdr(store.deserialize_cdr(data, kind), kind)) == data
    action = {"operator_name": "top", "arguments": ["a", "b"], "target": [1, 2, 3, 4, 5, 6]}
    kind = PACKAGE + "RecoveryPlan"
    found = store.deserialize_cdr(store.serialize_cdr(message_of(kind, {"actions": [action]}), kind), kind)
    assert (found.actions[0].arguments, found.actions[0].target.tolist()) == (["a", "b"], [1, 2, 3, 4, 5, 6])


def test_parameters_are_those_of_the_library() -> None:
    node = ast.parse((NODE / "nsrecover_ros" / "monitor_node.py").read_text(encoding="utf-8"))
    (made,) = [
        each for each in node.body if isinstance(each, ast.AnnAssign) and ast.unparse(each.target) == "PARAMETERS"
    ]
    assert made.value is not None
    parameters = ast.literal_eval(made.value)
    given = yaml.safe_load((NODE / "config" / "monitor.yaml").read_text(encoding="utf-8"))
    assert given["nsrecover_monitor"]["ros__parameters"] == parameters
    settings = CoreSettings()
    parts = settings.buffer, settings.session
    for name, value in parameters.items():
        if name != "checkpoint":
            known = next(getattr(each, name) for each in (settings, *parts) if hasattr(each, name))
            known = (list(known) or [""]) if isinstance(known, tuple) else known  # ROS has no empty lists
            assert (-1 if known is None else known) == value, name
