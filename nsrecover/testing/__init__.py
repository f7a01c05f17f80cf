"""The conformance kit: checks that a simulator or a robot behaves as nsrecover expects of a world."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
