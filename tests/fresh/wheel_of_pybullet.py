"""Says, before pip starts, that pybullet has to be compiled, if there is no wheel of it for this Python and machine."""

import shutil
import subprocess
import sys

NAME = "pybullet" if sys.version_info < (3, 12) else "pybullet-arm64"
"""As in pyproject.toml."""


def main() -> int:
    """Return 2 if it would have to be compiled and there is no compiler."""
    asked = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-deps", "--only-binary", ":all:", "-q", NAME]
    if subprocess.run(asked, capture_output=True).returncode == 0:
        return 0
    version = ".".join(map(str, sys.version_info[:2]))
    if not (shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")):
        print(
            f"error: expected a wheel of {NAME} for Python {version}, or a C++ compiler, found neither; run "
            "`rm -r .venv` and `make PYTHON=python3.12`, or install a compiler (apt-get install g++)",
            file=sys.stderr,
        )
        return 2
    print(
        f"note: there is no wheel of {NAME} for Python {version} on this machine. It is compiled now: 20 minutes and "
        "more on two cores. Python 3.11, 3.12 and 3.13 have wheels: rm -r .venv; make PYTHON=python3.12",
        file=sys.stderr,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
