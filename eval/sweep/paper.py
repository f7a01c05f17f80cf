"""Numbers of the paper, from its Tables III to V; times are of its machine.

Kalithasan et al., "Learning to Recover from Plan Execution Errors during Robot Manipulation: A Neuro-symbolic
Approach".
"""

from __future__ import annotations

from collections.abc import Mapping

CITATION = "Kalithasan et al."
Row = tuple[str, str, str, str, str, str]
"""Recovered, L/N_err, L/L_opt, T/N_err, T/L_opt, completed."""

TABLES: Mapping[str, Mapping[str, Row]] = {
    "I": {
        "ours": ("99.61 %", "1.48", "1.06", "60 ms", "40 ms", "-"),
        "replan": ("98.83 %", "1.48", "1.07", "180 ms", "110 ms", "-"),
        "nofree": ("87.83 %", "1.46", "1.05", "750 ms", "420 ms", "-"),
    },
    "II": {
        "ours": ("99.85 %", "2.43", "1.06", "110 ms", "40 ms", "99.68 %"),
        "replan": ("98.46 %", "2.42", "1.06", "460 ms", "170 ms", "96.67 %"),
        "nofree": ("89.50 %", "2.40", "1.04", "2430 ms", "590 ms", "77.03 %"),
    },
    "III": {
        "ours": ("93.77 %", "4.60", "1.06", "940 ms", "190 ms", "-"),
        "replan": ("92.09 %", "4.59", "1.03", "1630 ms", "290 ms", "-"),
        "nofree": ("65.35 %", "4.50", "1.02", "7020 ms", "1120 ms", "-"),
    },
}
"""Dataset -> planner -> numbers: several errors at one step, one after every step, larger scenes (section VII-A)."""
