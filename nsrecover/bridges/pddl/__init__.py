"""Domains, problems and plans in PDDL.

    domain = domain_from_pddl("logistics.pddl", words={"load": "load {p} into {t}"})
    instance, state, goal = scene_from_pddl(domain, "logistics.pddl", "problem.pddl")
    system = nsrecover.symbolic(instance, goal)

docs/symbolic.md says what is read, and shows a whole program.
"""

from nsrecover.bridges.pddl.domain import domain_from_pddl
from nsrecover.bridges.pddl.problem import scene_from_pddl

__all__ = ["domain_from_pddl", "scene_from_pddl"]
