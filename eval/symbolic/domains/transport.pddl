; vans of limited room drive along roads, whose lengths are their costs
(define (domain transport)
  (:requirements :strips :typing :action-costs)
  (:types place room movable - object van parcel - movable)
  (:predicates (road ?a ?b - place) (at ?x - movable ?p - place) (in ?g - parcel ?v - van) (space ?v - van ?n - room)
               (less ?n ?m - room))
  (:functions (total-cost) - number (distance ?a ?b - place) - number)
  (:action drive
    :parameters (?v - van ?a ?b - place)
    :precondition (and (at ?v ?a) (road ?a ?b))
    :effect (and (not (at ?v ?a)) (at ?v ?b) (increase (total-cost) (distance ?a ?b))))
  (:action pick-up
    :parameters (?v - van ?p - place ?g - parcel ?n ?m - room)
    :precondition (and (at ?v ?p) (at ?g ?p) (less ?n ?m) (space ?v ?m))
    :effect (and (not (at ?g ?p)) (in ?g ?v) (space ?v ?n) (not (space ?v ?m)) (increase (total-cost) 1)))
  (:action drop
    :parameters (?v - van ?p - place ?g - parcel ?n ?m - room)
    :precondition (and (at ?v ?p) (in ?g ?v) (less ?n ?m) (space ?v ?n))
    :effect (and (not (in ?g ?v)) (at ?g ?p) (space ?v ?m) (not (space ?v ?n)) (increase (total-cost) 1))))
