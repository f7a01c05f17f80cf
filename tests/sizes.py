"""Counts code lines, without blank lines, comments and docstrings. Run it to lower the limits in sizes.toml."""

import ast
import io
import tokenize
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
LIMITS = ROOT / "sizes.toml"
TREES = ("nsrecover", "sim", "train", "eval", "tests")

_HEAD = """# Code lines of each package: no blank lines, comments or docstrings.
# A test fails if a package is more than 2 % over its number.
# `make sizes` lowers the numbers and never raises them. To let a package grow, raise its number by hand, in a commit
# of its own that says why.
"""
_LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def code_lines(source: str) -> int:
    """The number of code lines of a module."""
    documented = set[int]()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                documented.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    lines = set[int]()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _LAYOUT:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - documented)


def measured() -> dict[str, int]:
    """Package (`nsrecover/core`, or `nsrecover` for the modules beside the packages) -> its code lines."""
    sizes = dict[str, int]()
    for tree in TREES:
        for file in sorted((ROOT / tree).rglob("*.py")):
            parts = file.relative_to(ROOT).parts
            package = "/".join(parts[:2]) if len(parts) > 2 else tree
            sizes[package] = sizes.get(package, 0) + code_lines(file.read_text(encoding="utf-8"))
    return sizes


def limits() -> dict[str, int]:
    """The entries of sizes.toml."""
    return dict(tomllib.loads(LIMITS.read_text(encoding="utf-8")))


def main() -> None:
    """Lower the entries to what is measured, add new packages, and drop those that are gone."""
    before, now = limits() if LIMITS.exists() else {}, measured()
    entries = {package: min(size, before.get(package, size)) for package, size in sorted(now.items())}
    LIMITS.write_text(_HEAD + "".join(f'"{name}" = {size}\n' for name, size in entries.items()), encoding="utf-8")
    for tree in TREES:
        print(f"{tree:10} {sum(size for name, size in now.items() if name.split('/')[0] == tree):6} code lines")


if __name__ == "__main__":
    main()
