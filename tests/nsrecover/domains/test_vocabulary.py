"""Nothing outside the domains names a predicate or an operator of one, but for the applications of a single domain."""

import ast
from collections.abc import Iterator
from pathlib import Path

from nsrecover.domains.household.domain import HOUSEHOLD
from nsrecover.domains.service.domain import SERVICE
from nsrecover.domains.tabletop.operators import TABLETOP
from tests.commands import ROOT

APPLICATIONS = (
    "logs/",  # logs of households, in REFLECT's format
    "instructions/",  # commands to a robot in a home
    "language/commands.py",  # the same
    "language/goals.py",  # goals of logs of households
    "perception/household.py",
    "perception/objects/support.py",
    "testing/simulated_home.py",  # the world of commands
    "testing/settings.py",  # the kitchen and the table of the conformance tests
)
"""What is made for one domain."""
NAMES = {name for domain in (HOUSEHOLD, SERVICE, TABLETOP) for name in (*domain.predicates, *domain.operators)}


def is_name(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value in NAMES


def found_in(tree: ast.AST) -> Iterator[ast.AST]:
    """Facts and actions that begin with a name, and comparisons of predicates and operators with names."""
    for node in ast.walk(tree):
        match node:
            case ast.Tuple(elts=[first, *rest]) if is_name(first) and not all(
                isinstance(e, ast.Constant) for e in rest
            ):
                yield node
            case ast.Call(func=ast.Name(id="Action" | "Fact" | "Atom" | "fact" | "absent"), args=[first, *_]):
                if is_name(first):
                    yield node
            case ast.Compare(left=ast.Subscript() | ast.Attribute(attr="operator" | "predicate"), comparators=others):
                parts = [part for other in others for part in ([*other.elts] if hasattr(other, "elts") else [other])]
                if any(map(is_name, parts)):
                    yield node


def test_the_check_finds_names() -> None:
    for text in ("('at', name, place)", "Action('put_in', things)", "fact[0] in ('at', 'atop')", "a.operator == 'top'"):
        assert list(found_in(ast.parse(text))), text
    assert not list(found_in(ast.parse("('left', 'right'); place = 'at'; name == 'open'")))


def test_no_other_package_names_a_predicate_or_operator() -> None:
    library = ROOT / "nsrecover"
    paths = [path.relative_to(library) for path in sorted(library.rglob("*.py"))]
    general = [path for path in paths if path.parts[0] != "domains" and not path.as_posix().startswith(APPLICATIONS)]
    assert len(general) > 100
    found = [
        f"{path}:{node.lineno}"  # type: ignore[attr-defined]
        for path in general
        for node in found_in(ast.parse((library / Path(path)).read_text(encoding="utf-8")))
    ]
    assert found == []
