(define (domain lamps) (:requirements :strips :typing :negative-preconditions :conditional-effects :action-costs
    :disjunctive-preconditions :quantified-preconditions)
  (:types lamp room - object big - lamp)
  (:predicates (lit ?l - lamp) (in ?l - lamp ?r - room) (at ?r - room) (broken ?l - lamp))
  (:functions (total-cost) - number)
  (:action go :parameters (?a ?b - room) :precondition (at ?a)
    :effect (and (at ?b) (not (at ?a)) (increase (total-cost) 2)))
  (:action light :parameters (?l - lamp ?r - room)
    :precondition (and (at ?r) (in ?l ?r) (not (broken ?l)) (or (not (lit ?l)) (exists (?o - lamp) (lit ?o))))
    :effect (and (lit ?l) (when (broken ?l) (not (lit ?l))) (increase (total-cost) 1)))
  (:action all-off :parameters (?r - room) :precondition (at ?r)
    :effect (forall (?l - lamp) (when (in ?l ?r) (not (lit ?l))))))
;;;;
(define (problem p) (:domain lamps) (:objects one two - lamp three - big hall study - room)
  (:init (at hall) (in one hall) (in two study) (in three study) (broken three) (= (total-cost) 0))
  (:goal (and (lit one) (lit two))) (:metric minimize (total-cost)))
;;;;
{"go": "go from {a} to {b}", "light": {"imperative": "turn on {l}"}, "lit": "the {0} is on"}
