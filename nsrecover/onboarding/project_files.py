"""The project template of `nsrecover new`."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from nsrecover.core.atomic_write import atomic_write_bytes
from nsrecover.errors import InvalidConfiguration

SUFFIX = ".txt"
"""Keeps tools from taking the files of the template for modules of the package."""


def new_project(folder: Path) -> tuple[Path, ...]:
    """Write a project: world adapter, camera file, domain file, test and README.

    Returns:
        The files.

    Raises:
        InvalidConfiguration: one of them exists.
    """
    template = resources.files("nsrecover.onboarding") / "project"
    texts = {e.name.removesuffix(SUFFIX): e.read_bytes() for e in template.iterdir() if e.name.endswith(SUFFIX)}
    present = [name for name in sorted(texts) if (folder / name).exists()]
    if present or (folder.exists() and not folder.is_dir()):
        raise InvalidConfiguration(
            f"expected a new folder for the project, found {', '.join(present) or 'a file'} in {folder}; choose "
            "another folder, nothing was changed"
        )
    for name, text in sorted(texts.items()):
        atomic_write_bytes(folder / name, text)
    return tuple(folder / name for name in sorted(texts))
