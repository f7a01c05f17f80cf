"""Logs of other robots in the text format of REFLECT: reading, verification, explanation and correction.

    from nsrecover.logs import explain_log, read_logs, verbalize
    explanation = explain_log(read_logs(Path("log.json"))[0])
    print(verbalize(explanation))

Pure Python: neither torch nor a simulator is loaded.
"""

from nsrecover.explanation.audience import Audience
from nsrecover.logs.explaining import LogExplanation, explain_log
from nsrecover.logs.findings import FailureKind, Finding, RootCause
from nsrecover.logs.reading.format import document_of, is_household_log, log_of, read_logs
from nsrecover.logs.reading.records import HouseholdLog
from nsrecover.logs.templates import report_of, verbalize

__all__ = [
    "Audience",
    "FailureKind",
    "Finding",
    "HouseholdLog",
    "LogExplanation",
    "RootCause",
    "document_of",
    "explain_log",
    "is_household_log",
    "log_of",
    "read_logs",
    "report_of",
    "verbalize",
]
