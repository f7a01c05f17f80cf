"""Blocksworld, gripper and logistics for unified-planning, in PDDL; any number of small problems by seed."""

import itertools
import random

from unified_planning.io import PDDLReader
from unified_planning.model import Problem
from unified_planning.shortcuts import MinimizeSequentialPlanLength

BLOCKSWORLD = """
(define (domain blocksworld) (:requirements :strips :typing)
  (:types block)
  (:predicates (on ?x ?y - block) (ontable ?x - block) (clear ?x - block) (handempty) (holding ?x - block))
  (:action pick-up :parameters (?x - block)
    :precondition (and (clear ?x) (ontable ?x) (handempty))
    :effect (and (not (ontable ?x)) (not (clear ?x)) (not (handempty)) (holding ?x)))
  (:action put-down :parameters (?x - block)
    :precondition (holding ?x)
    :effect (and (not (holding ?x)) (clear ?x) (handempty) (ontable ?x)))
  (:action stack :parameters (?x ?y - block)
    :precondition (and (holding ?x) (clear ?y))
    :effect (and (not (holding ?x)) (not (clear ?y)) (clear ?x) (handempty) (on ?x ?y)))
  (:action unstack :parameters (?x ?y - block)
    :precondition (and (on ?x ?y) (clear ?x) (handempty))
    :effect (and (holding ?x) (clear ?y) (not (clear ?x)) (not (handempty)) (not (on ?x ?y)))))
"""

GRIPPER = """
(define (domain gripper) (:requirements :strips :typing)
  (:types room ball gripper)
  (:predicates (at-robby ?r - room) (at ?b - ball ?r - room) (free ?g - gripper) (carry ?b - ball ?g - gripper))
  (:action move :parameters (?from ?to - room)
    :precondition (at-robby ?from)
    :effect (and (at-robby ?to) (not (at-robby ?from))))
  (:action pick :parameters (?b - ball ?r - room ?g - gripper)
    :precondition (and (at ?b ?r) (at-robby ?r) (free ?g))
    :effect (and (carry ?b ?g) (not (at ?b ?r)) (not (free ?g))))
  (:action drop :parameters (?b - ball ?r - room ?g - gripper)
    :precondition (and (carry ?b ?g) (at-robby ?r))
    :effect (and (at ?b ?r) (free ?g) (not (carry ?b ?g)))))
"""

LOGISTICS = """
(define (domain logistics) (:requirements :strips :typing)
  (:types vehicle package place city - object truck airplane - vehicle airport - place)
  (:predicates (in-city ?p - place ?c - city) (at ?o - object ?p - place) (in ?p - package ?v - vehicle))
  (:action load :parameters (?o - package ?v - vehicle ?p - place)
    :precondition (and (at ?v ?p) (at ?o ?p))
    :effect (and (not (at ?o ?p)) (in ?o ?v)))
  (:action unload :parameters (?o - package ?v - vehicle ?p - place)
    :precondition (and (at ?v ?p) (in ?o ?v))
    :effect (and (at ?o ?p) (not (in ?o ?v))))
  (:action drive :parameters (?t - truck ?from ?to - place ?c - city)
    :precondition (and (at ?t ?from) (in-city ?from ?c) (in-city ?to ?c))
    :effect (and (at ?t ?to) (not (at ?t ?from))))
  (:action fly :parameters (?a - airplane ?from ?to - airport)
    :precondition (at ?a ?from)
    :effect (and (at ?a ?to) (not (at ?a ?from)))))
"""


def _problem(domain: str, name: str, objects: str, start: list[str], goal: list[str]) -> Problem:
    facts, wanted = " ".join(start), " ".join(goal)
    text = f"(define (problem p) (:domain {name}) (:objects {objects}) (:init {facts}) (:goal (and {wanted})))"
    problem = PDDLReader().parse_problem_string(domain, text)
    problem.add_quality_metric(MinimizeSequentialPlanLength())
    return problem


def blocksworld(rng: random.Random) -> Problem:
    """Five blocks from some towers to others."""
    blocks = [f"b{i}" for i in range(5)]

    def towers() -> list[list[str]]:
        order, found = rng.sample(blocks, len(blocks)), [list[str]()]
        for block in order:
            if found[-1] and rng.random() < 0.4:
                found.append([])
            found[-1].append(block)
        return found

    def on(built: list[list[str]]) -> list[str]:
        return [f"(on {upper} {lower})" for tower in built for lower, upper in itertools.pairwise(tower)]

    begin = towers()
    start = on(begin) + [f"(ontable {t[0]})" for t in begin] + [f"(clear {t[-1]})" for t in begin] + ["(handempty)"]
    end = towers()
    return _problem(BLOCKSWORLD, "blocksworld", f"{' '.join(blocks)} - block", start,
                    on(end) + [f"(ontable {t[0]})" for t in end])  # fmt: skip


def gripper(rng: random.Random) -> Problem:
    """Three balls in three rooms, two hands."""
    balls, rooms, hands = [f"ball{i}" for i in range(3)], [f"room{i}" for i in range(3)], ["left", "right"]
    start = [f"(at {ball} {rng.choice(rooms)})" for ball in balls] + [f"(at-robby {rng.choice(rooms)})"]
    objects = f"{' '.join(balls)} - ball {' '.join(rooms)} - room {' '.join(hands)} - gripper"
    return _problem(GRIPPER, "gripper", objects, start + [f"(free {hand})" for hand in hands],
                    [f"(at {ball} {rng.choice(rooms)})" for ball in balls])  # fmt: skip


def logistics(rng: random.Random) -> Problem:
    """Two cities of two places each, a truck in each, an airplane and two packages."""
    places = {f"c{c}": [f"c{c}air", f"c{c}post"] for c in range(2)}
    every = [place for city in places.values() for place in city]
    start = [f"(in-city {place} {city})" for city, own in places.items() for place in own]
    start += [f"(at truck{c} {rng.choice(places[f'c{c}'])})" for c in range(2)]
    start += [f"(at plane {rng.choice(every[::2])})"] + [f"(at pack{i} {rng.choice(every)})" for i in range(2)]
    objects = "c0 c1 - city c0air c1air - airport c0post c1post - place truck0 truck1 - truck plane - airplane"
    return _problem(LOGISTICS, "logistics", f"{objects} pack0 pack1 - package", start,
                    [f"(at pack{i} {rng.choice(every)})" for i in range(2)])  # fmt: skip


DOMAINS = {"blocksworld": blocksworld, "gripper": gripper, "logistics": logistics}
