; cars park at curbs, at most one behind another
(define (domain parking)
  (:requirements :strips :typing :equality :negative-preconditions)
  (:types car curb)
  (:predicates (at-curb ?c - car ?k - curb) (front ?c - car) (behind ?c ?d - car) (clear-car ?c - car)
               (clear-curb ?k - curb))
  (:action curb-to-curb
    :parameters (?c - car ?a ?b - curb)
    :precondition (and (clear-car ?c) (clear-curb ?b) (at-curb ?c ?a))
    :effect (and (not (clear-curb ?b)) (clear-curb ?a) (at-curb ?c ?b) (not (at-curb ?c ?a))))
  (:action curb-to-car
    :parameters (?c - car ?a - curb ?d - car)
    :precondition (and (clear-car ?c) (clear-car ?d) (at-curb ?c ?a) (front ?d) (front ?c) (not (= ?c ?d)))
    :effect (and (not (clear-car ?d)) (clear-curb ?a) (behind ?c ?d) (not (at-curb ?c ?a)) (not (front ?c))))
  (:action car-to-curb
    :parameters (?c - car ?b - curb ?d - car)
    :precondition (and (clear-car ?c) (clear-curb ?b) (behind ?c ?d))
    :effect (and (not (clear-curb ?b)) (clear-car ?d) (at-curb ?c ?b) (not (behind ?c ?d)) (front ?c)))
  (:action car-to-car
    :parameters (?c ?d ?e - car)
    :precondition (and (clear-car ?c) (clear-car ?e) (behind ?c ?d) (front ?e))
    :effect (and (not (clear-car ?e)) (clear-car ?d) (behind ?c ?e) (not (behind ?c ?d)))))
