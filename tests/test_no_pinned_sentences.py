"""Tests assert behaviour and facts: none but those of the templates expects a text of more than eight words."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent
TEMPLATES = ("test_templates", "test_english")
"""Beginnings of the names of tests of templates, which may expect whole sentences."""
WORDS = 8
_WORD = re.compile(r"(?<![\w{}()/=<>-])[A-Za-z][a-z'-]+(?=[,.;:?!\"')]*(?:\s|$))")
_ENDS = ("startswith", "endswith", "removeprefix", "removesuffix")


def text_of(node: ast.AST) -> str:
    """Return the constant text of an expression, with a gap for what is filled in; empty for no text."""
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(text_of(part) or "{}" for part in parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return text_of(left) + text_of(right)
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            return max(map(text_of, parts), key=number_of_words, default="")
    return ""


def number_of_words(text: str) -> int:
    return len(_WORD.findall(text))


def expected(tree: ast.AST) -> Iterator[ast.expr]:
    """Yield what is compared by == or `in`, or with the ends of a text."""
    for node in ast.walk(tree):
        match node:
            case ast.Compare(left=left, ops=ops, comparators=others):
                if any(isinstance(op, ast.Eq | ast.NotEq | ast.In | ast.NotIn) for op in ops):
                    yield from (left, *others)
            case ast.Call(func=ast.Attribute(attr=name), args=arguments) if name in _ENDS:
                yield from arguments
            case ast.Call(func=ast.Attribute(attr="raises"), keywords=keywords):
                yield from (keyword.value for keyword in keywords if keyword.arg == "match")


def parameters(function: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names and values of the parameters of a parametrized test."""
    for decorator in function.decorator_list:
        match decorator:
            case ast.Call(
                func=ast.Attribute(attr="parametrize"), args=[names, ast.List(elts=rows) | ast.Tuple(elts=rows), *_]
            ):
                known = [each.strip() for each in text_of(names).split(",")] if isinstance(names, ast.Constant) else []
                if isinstance(names, ast.Tuple | ast.List):
                    known = [text_of(each) for each in names.elts]
                for row in rows:
                    values = row.elts if isinstance(row, ast.Tuple | ast.List) and len(known) > 1 else [row]
                    yield from zip(known, values, strict=False)


def pinned(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of every expected text that is too long."""
    tree = ast.parse(source)
    nodes = list(expected(tree))
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            parts = (part for node in expected(function) for part in getattr(node, "elts", [node]))
            names = {part.id for part in parts if isinstance(part, ast.Name)}
            nodes += [value for name, value in parameters(function) if name in names]
    for node in nodes:
        if number_of_words(text := text_of(node)) > WORDS:
            yield node.lineno, text


def test_no_sentence_is_pinned() -> None:
    paths = [path for path in sorted(TESTS.rglob("*.py")) if not path.name.startswith(TEMPLATES)]
    found = [f"{path.relative_to(TESTS)}:{line}: {text}" for path in paths for line, text in pinned(path.read_text())]
    assert not found, "\n".join(["shorten these texts to 8 words, or compare facts:", *found])
