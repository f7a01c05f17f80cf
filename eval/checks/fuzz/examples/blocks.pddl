(define (domain blocks) (:requirements :strips)
  (:predicates (on ?x ?y) (ontable ?x) (clear ?x) (handempty) (holding ?x))
  (:action pick-up :parameters (?x) :precondition (and (clear ?x) (ontable ?x) (handempty))
    :effect (and (not (ontable ?x)) (not (clear ?x)) (not (handempty)) (holding ?x)))
  (:action stack :parameters (?x ?y) :precondition (and (holding ?x) (clear ?y))
    :effect (and (not (holding ?x)) (not (clear ?y)) (clear ?x) (handempty) (on ?x ?y))))
;;;;
(define (problem p) (:domain blocks) (:objects a b c) (:init (ontable a) (ontable b) (ontable c) (clear a) (clear b)
  (clear c) (handempty)) (:goal (and (on a b) (on b c))))
