"""Logs of other robots as fact traces: reading, verification, explanation and correction.

    from nsrecover.logs import explain_log, read_logs, verbalize
    explanation = explain_log(read_logs(Path("log.json"))[0])
    print(verbalize(explanation))

Pure Python: neither torch nor a simulator is loaded.
"""

from nsrecover.explanation.audience import Audience
from nsrecover.logs.explaining import LogExplanation, explain_log
from nsrecover.logs.findings import FailureKind, Finding, RootCause
from nsrecover.logs.reading import is_log, log_of, read_logs
from nsrecover.logs.templates import report_of, verbalize
from nsrecover.logs.trace import FactTrace

__all__ = [
    "Audience",
    "FactTrace",
    "FailureKind",
    "Finding",
    "LogExplanation",
    "RootCause",
    "explain_log",
    "is_log",
    "log_of",
    "read_logs",
    "report_of",
    "verbalize",
]
