; a robot on a ring of places with a parcel; the door between two places can be closed
(define (domain delivery) (:types location parcel)
  (:predicates (at ?a - location) (lies ?x - parcel ?a - location) (has ?x - parcel) (busy) (next ?a ?b - location))
  (:action go :parameters (?a ?b - location) :precondition (and (at ?a) (next ?a ?b))
    :effect (and (not (at ?a)) (at ?b)))
  (:action take :parameters (?x - parcel ?a - location) :precondition (and (at ?a) (lies ?x ?a) (not (busy)))
    :effect (and (not (lies ?x ?a)) (has ?x) (busy)))
  (:action drop :parameters (?x - parcel ?a - location) :precondition (and (at ?a) (has ?x))
    :effect (and (lies ?x ?a) (not (has ?x)) (not (busy)))))
