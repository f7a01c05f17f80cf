"""`python -m tests.ros.workspace`: build the ROS 2 packages from wheels of PyPI, and run the tests of the node there.

The environment and the interfaces are built once (about a minute) and kept in the user's cache, under a name that
changes with what they are made of. Standard library alone.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import time
import venv
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
WHEELS = HERE / "requirements.txt"
INTERFACES = (ROOT / "ros2" / "nsrecover_interfaces", HERE / "tf2_msgs")
NODE = ROOT / "ros2" / "nsrecover_ros"

PYTHON = (3, 11)
"""The wheels are for this one."""

FOREIGN = ("/opt/python/cp311-cp311", "/project/build/temp.linux-x86_64-cpython-311/install")
"""Prefixes of the machine on which the wheels were made, inside their files for CMake and for shells."""


def cache() -> Path:
    """The folder of the build for the present files; it may not exist yet."""
    digest = hashlib.sha256(sys.version.encode())
    for file in sorted([WHEELS, Path(__file__), *(each for folder in INTERFACES for each in folder.rglob("*.*"))]):
        digest.update(file.name.encode() + file.read_bytes())
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "nsrecover" / f"ros-{digest.hexdigest()[:12]}"


def environment(built: Path, install: Path | None = None) -> dict[str, str]:
    """Variables for processes that use the build, and the packages of a further `install` folder of colcon."""
    prefix, site = built / "venv", f"lib/python{PYTHON[0]}.{PYTHON[1]}/site-packages"
    bases = [each for each in (install, built / "install") if each is not None]
    folders = [each for base in bases for each in sorted(base.glob("*")) if each.is_dir()]
    libraries = [str(each / "lib") for each in (*folders, prefix)]
    libraries += [str(each) for each in (prefix / site).glob("ros_*.libs")]
    prefixes = os.pathsep.join(map(str, (*folders, prefix)))
    own = [str(ROOT), *(str(each / site) for each in folders), sysconfig.get_path("purelib")]
    return {
        **os.environ, "PATH": f"{prefix / 'bin'}{os.pathsep}{os.environ['PATH']}", "OMP_NUM_THREADS": "1",
        "AMENT_PREFIX_PATH": prefixes, "CMAKE_PREFIX_PATH": prefixes, "LD_LIBRARY_PATH": os.pathsep.join(libraries),
        "PYTHONPATH": os.pathsep.join(own), "_ROS_WHEELS_BOOTSTRAP_COMPLETE": "1",
        "RMW_IMPLEMENTATION": "rmw_fastrtps_cpp", "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        "ROS_LOG_DIR": str(ROOT / "outputs" / "ros" / "log"), "ROS_DOMAIN_ID": str(os.getpid() % 100 + 1),
    }  # fmt: skip


def build() -> Path | None:
    """Return the folder of the build, new or kept; None if the wheels cannot be had."""
    built = cache()
    built.parent.mkdir(parents=True, exist_ok=True)
    with built.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return built if (built / "install").is_dir() or _built(built) else None


def _built(built: Path) -> bool:
    venv.create(built / "venv", with_pip=True, clear=True)  # its place is written into its files
    python = built / "venv" / "bin" / "python"
    pip = [python, "-m", "pip", "install", "--disable-pip-version-check", "-q", "-r", WHEELS]
    done = subprocess.run(pip, capture_output=True, text=True)
    if done.returncode:
        print(f"skipped: no wheels of rclpy here ({done.stderr.strip().splitlines()[-1]})")
        return False
    _fix_prefixes(built / "venv")
    part = built / "install.part"
    shutil.rmtree(part, ignore_errors=True)
    _colcon(built, INTERFACES, part, [f"-DPython3_EXECUTABLE={python}", "-DBUILD_TESTING=OFF"])
    part.rename(built / "install")
    return True


def _fix_prefixes(prefix: Path) -> None:
    """Put the new environment in the place of the one in which the wheels were made."""
    paths = {
        f"{FOREIGN[0]}/include/python3.11": sysconfig.get_path("include"),
        **dict.fromkeys(FOREIGN, str(prefix)),
    }
    for file in (each for folder in ("share", "lib", "bin") for each in (prefix / folder).rglob("*")):
        if file.is_file() and file.suffix in ("", ".cmake", ".sh", ".bash", ".zsh", ".dsv", ".in", ".pc", ".py"):
            data = file.read_bytes()
            text = data
            for old, new in paths.items():
                text = text.replace(old.encode(), new.encode())
            if text != data and b"\0" not in data:
                file.write_bytes(text)


def _colcon(built: Path, packages: tuple[Path, ...], install: Path, options: list[str]) -> None:
    command = [
        built / "venv" / "bin" / "colcon", "--log-base", built / "log", "build", "--build-base", built / "build",
        "--install-base", install, "--base-paths", *packages, *(["--cmake-args", *options] if options else ()),
    ]  # fmt: skip
    subprocess.run(command, check=True, env=environment(built), cwd=built)


def main() -> int:
    """Build, install the node, and run the tests in the environment."""
    if sys.version_info[:2] != PYTHON:
        print(f"skipped: the wheels of rclpy are for Python 3.11, this is {sys.version.split()[0]}")
        return 0
    start = time.perf_counter()
    built = build()
    if built is None:
        return 0
    print(f"built in {time.perf_counter() - start:.0f} s: {built}", flush=True)
    return run(built, *sys.argv[1:])


def run(built: Path, *arguments: str) -> int:
    """Install the node beside the built interfaces, and run the tests there; the exit status of pytest."""
    install = ROOT / "outputs" / "ros" / "install"
    shutil.rmtree(install, ignore_errors=True)
    _colcon(built, (NODE,), install, [])
    command = [built / "venv" / "bin" / "python", "-m", "pytest", "-p", "no:cacheprovider", "-q", HERE, *arguments]
    return subprocess.run(command, env=environment(built, install), cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())
