"""Notice plan execution errors from camera images, say why, and find the shortest way back to the plan.

The names in `__init__.pyi` are the public interface; they follow semantic versioning. A name is imported when it is
first used, so that `import nsrecover` is quick; only `load()` loads torch.
"""

import lazy_loader

__version__ = "0.2.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__ += ["__version__"]
