"""Logs of other people's robots, in the text format of REFLECT: read, checked, explained and corrected.

    from nsrecover.explain.logs import explain_log, read_logs, tell
    explanation = explain_log(read_logs(Path("log.json"))[0])
    print(tell(explanation))

Pure Python: neither torch nor a simulator is loaded.
"""

from nsrecover.explain.logs.explaining import LogExplanation, explain_log
from nsrecover.explain.logs.findings import Finding, Kind, RootCause
from nsrecover.explain.logs.reading import is_household_log, log_of, read_logs
from nsrecover.explain.logs.records import HouseholdLog, Step
from nsrecover.explain.logs.report import report_of
from nsrecover.explain.logs.telling import tell
from nsrecover.explain.logs.writing import document_of
from nsrecover.explain.voice import Register

__all__ = [
    "Finding",
    "HouseholdLog",
    "Kind",
    "LogExplanation",
    "Register",
    "RootCause",
    "Step",
    "document_of",
    "explain_log",
    "is_household_log",
    "log_of",
    "read_logs",
    "report_of",
    "tell",
]
