"""Names of Python 3.11 for Python 3.10, which ROS 2 Humble has."""

import sys

if sys.version_info >= (3, 11):
    from enum import StrEnum
    from typing import Self
else:
    from backports.strenum import StrEnum
    from typing_extensions import Self

__all__ = ["Self", "StrEnum"]
