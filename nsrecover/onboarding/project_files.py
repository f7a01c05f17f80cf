"""The project template of `nsrecover new`."""

from importlib import resources
from pathlib import Path

from nsrecover.errors import InvalidConfiguration
from nsrecover.util.atomic_write import atomic_write_bytes

SUFFIX = ".txt"
"""Keeps tools from taking the files of the template for modules of the package."""


def new_project(folder: Path, cameras: bool = False, facts: bool = False) -> tuple[Path, ...]:
    """Write a project: world adapter, camera file, domain file, test and README.

    Args:
        folder: for the files.
        cameras: whether the robot is seen by RGB-D cameras, not as boxes.
        facts: whether scenes are facts of a domain of one's own.

    Returns:
        The files.

    Raises:
        InvalidConfiguration: one of them exists, or scenes are to be both.
    """
    if cameras and facts:
        raise InvalidConfiguration("expected --cameras or --facts, found both; leave one out")
    texts = {}
    for template in ("facts_project",) if facts else ("project", "camera_project") if cameras else ("project",):
        for file in (resources.files("nsrecover.onboarding") / template).iterdir():
            if file.name.endswith(SUFFIX):
                texts[file.name.removesuffix(SUFFIX)] = file.read_bytes()
    present = [name for name in sorted(texts) if (folder / name).exists()]
    if present or (folder.exists() and not folder.is_dir()):
        raise InvalidConfiguration(
            f"expected a new folder for the project, found {', '.join(present) or 'a file'} in {folder}; choose "
            "another folder, nothing was changed"
        )
    for name, text in sorted(texts.items()):
        atomic_write_bytes(folder / name, text)
    return tuple(folder / name for name in sorted(texts))
