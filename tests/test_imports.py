"""No module imports itself through others, also not inside functions or for type checks alone."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]


def module_files() -> dict[str, Path]:
    """Module -> its file; the stub of a package that imports its names on first use."""
    found = {}
    for package in ("nsrecover", "sim", "train", "eval", "conf"):
        for file in sorted((ROOT / package).rglob("*.py")):
            parts = file.relative_to(ROOT).with_suffix("").parts
            stub = file.with_suffix(".pyi")
            found[".".join(parts).removesuffix(".__init__")] = stub if stub.exists() else file
    return found


def imports(module: str, file: Path, known: dict[str, Path]) -> Iterator[str]:
    """The modules that a module imports anywhere in its file."""
    package = module if file.stem == "__init__" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            home = ".".join([*start, *filter(None, [node.module])])
            for alias in node.names:
                yield f"{home}.{alias.name}" if f"{home}.{alias.name}" in known else home


def test_no_module_is_part_of_an_import_cycle() -> None:
    known = module_files()
    left = {name: {*imports(name, file, known)} & known.keys() - {name} for name, file in known.items()}
    assert len(left) > 300
    assert sum(map(len, left.values())) > 1000
    while done := {name for name, needed in left.items() if not needed}:
        left = {name: needed - done for name, needed in left.items() if name not in done}
    # what is left is in a cycle, or imports a module that is
    assert not left, {name: sorted(needed) for name, needed in left.items()}
