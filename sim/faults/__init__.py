"""Things that go wrong, injected physically: the hooks (`base`) and the concrete faults.

Adding one: a file with a frozen dataclass that overrides the hooks it needs, an entry in `FAULTS`, and a case in the
conformance test.
"""

from sim.faults.base import Fault, SkillPhase
from sim.faults.displaced import Displaced
from sim.faults.helping import HelpingPerson
from sim.faults.misled import Misled
from sim.faults.slip import Slip
from sim.faults.swap import Swap

FAULTS: dict[str, type[Fault]] = {
    "slip": Slip,
    "misled": Misled,
    "swap": Swap,
    "helping_person": HelpingPerson,
    "displaced": Displaced,
}
"""Every fault by its name in configurations."""

__all__ = ["FAULTS", "Displaced", "Fault", "HelpingPerson", "Misled", "SkillPhase", "Slip", "Swap"]
