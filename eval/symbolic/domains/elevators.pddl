; slow and fast lifts; what a trip costs is defined only from a lower to a higher floor that the lift serves
(define (domain elevators)
  (:requirements :strips :typing :action-costs)
  (:types lift - object slow fast - lift guest floor count)
  (:predicates (guest-at ?g - guest ?f - floor) (in ?g - guest ?l - lift) (lift-at ?l - lift ?f - floor)
    (serves ?l - lift ?f - floor) (above ?low ?high - floor) (load ?l - lift ?n - count) (fits ?l - lift ?n - count)
    (next ?n ?m - count))
  (:functions (total-cost) - number (slow-cost ?low ?high - floor) - number (fast-cost ?low ?high - floor) - number)
  (:action up-slow
    :parameters (?l - slow ?from ?to - floor)
    :precondition (and (lift-at ?l ?from) (above ?from ?to) (serves ?l ?to))
    :effect (and (lift-at ?l ?to) (not (lift-at ?l ?from)) (increase (total-cost) (slow-cost ?from ?to))))
  (:action down-slow
    :parameters (?l - slow ?from ?to - floor)
    :precondition (and (lift-at ?l ?from) (above ?to ?from) (serves ?l ?to))
    :effect (and (lift-at ?l ?to) (not (lift-at ?l ?from)) (increase (total-cost) (slow-cost ?to ?from))))
  (:action up-fast
    :parameters (?l - fast ?from ?to - floor)
    :precondition (and (lift-at ?l ?from) (above ?from ?to) (serves ?l ?to))
    :effect (and (lift-at ?l ?to) (not (lift-at ?l ?from)) (increase (total-cost) (fast-cost ?from ?to))))
  (:action down-fast
    :parameters (?l - fast ?from ?to - floor)
    :precondition (and (lift-at ?l ?from) (above ?to ?from) (serves ?l ?to))
    :effect (and (lift-at ?l ?to) (not (lift-at ?l ?from)) (increase (total-cost) (fast-cost ?to ?from))))
  (:action board
    :parameters (?g - guest ?l - lift ?f - floor ?n ?m - count)
    :precondition (and (lift-at ?l ?f) (guest-at ?g ?f) (load ?l ?n) (next ?n ?m) (fits ?l ?m))
    :effect (and (not (guest-at ?g ?f)) (in ?g ?l) (not (load ?l ?n)) (load ?l ?m)))
  (:action leave
    :parameters (?g - guest ?l - lift ?f - floor ?n ?m - count)
    :precondition (and (lift-at ?l ?f) (in ?g ?l) (load ?l ?n) (next ?m ?n))
    :effect (and (guest-at ?g ?f) (not (in ?g ?l)) (not (load ?l ?n)) (load ?l ?m))))
