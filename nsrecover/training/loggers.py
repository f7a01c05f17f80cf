"""Loggers that Lightning lacks."""


def no_logger(name: str) -> bool:
    """Switch logging off for a stage, whatever its name."""
    del name
    return False
