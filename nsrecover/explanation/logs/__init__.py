"""Logs of other people's robots, in the text format of REFLECT: read, checked, explained and corrected.

    from nsrecover.explanation.logs import explain_log, read_logs, tell
    explanation = explain_log(read_logs(Path("log.json"))[0])
    print(tell(explanation))

Pure Python: neither torch nor a simulator is loaded.
"""

from nsrecover.explanation.audience import Audience
from nsrecover.explanation.logs.explaining import LogExplanation, explain_log
from nsrecover.explanation.logs.findings import Finding, Kind, RootCause
from nsrecover.explanation.logs.reading import is_household_log, log_of, read_logs
from nsrecover.explanation.logs.records import HouseholdLog, Step
from nsrecover.explanation.logs.report import report_of
from nsrecover.explanation.logs.telling import tell
from nsrecover.explanation.logs.writing import document_of

__all__ = [
    "Audience",
    "Finding",
    "HouseholdLog",
    "Kind",
    "LogExplanation",
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
