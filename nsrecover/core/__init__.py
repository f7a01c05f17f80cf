"""The data that flows through the system, and the protocols of what can be plugged in.

Units are metres, radians and seconds; the frame is the robot base with z up. Shape letters: V views, H W pixels,
N objects, D features, T steps. `__init__.pyi` lists the names; a name is imported when it is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
