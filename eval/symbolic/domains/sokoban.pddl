; a keeper pushes crates on a grid; walking costs too
(define (domain sokoban)
  (:requirements :strips :typing)
  (:types cell side crate)
  (:predicates (next ?a ?b - cell ?s - side) (keeper ?c - cell) (crate-at ?x - crate ?c - cell) (free ?c - cell))
  (:action walk
    :parameters (?a ?b - cell ?s - side)
    :precondition (and (keeper ?a) (free ?b) (next ?a ?b ?s))
    :effect (and (keeper ?b) (free ?a) (not (keeper ?a)) (not (free ?b))))
  (:action push
    :parameters (?x - crate ?a ?b ?c - cell ?s - side)
    :precondition (and (keeper ?a) (crate-at ?x ?b) (free ?c) (next ?a ?b ?s) (next ?b ?c ?s))
    :effect (and (keeper ?b) (crate-at ?x ?c) (free ?a) (not (keeper ?a)) (not (crate-at ?x ?b)) (not (free ?c)))))
