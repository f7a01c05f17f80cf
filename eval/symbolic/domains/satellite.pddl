; satellites turn, calibrate instruments and take pictures
(define (domain satellite)
  (:requirements :strips :typing)
  (:types satellite direction instrument mode)
  (:predicates (carries ?s - satellite ?i - instrument) (supports ?i - instrument ?m - mode)
    (points ?s - satellite ?d - direction) (power-free ?s - satellite) (powered ?i - instrument)
    (calibrated ?i - instrument) (picture ?d - direction ?m - mode) (reference ?i - instrument ?d - direction))
  (:action turn
    :parameters (?s - satellite ?to ?from - direction)
    :precondition (points ?s ?from)
    :effect (and (points ?s ?to) (not (points ?s ?from))))
  (:action switch-on
    :parameters (?i - instrument ?s - satellite)
    :precondition (and (carries ?s ?i) (power-free ?s))
    :effect (and (powered ?i) (not (calibrated ?i)) (not (power-free ?s))))
  (:action switch-off
    :parameters (?i - instrument ?s - satellite)
    :precondition (and (carries ?s ?i) (powered ?i))
    :effect (and (not (powered ?i)) (power-free ?s)))
  (:action calibrate
    :parameters (?s - satellite ?i - instrument ?d - direction)
    :precondition (and (carries ?s ?i) (reference ?i ?d) (points ?s ?d) (powered ?i))
    :effect (calibrated ?i))
  (:action take-picture
    :parameters (?s - satellite ?d - direction ?i - instrument ?m - mode)
    :precondition (and (calibrated ?i) (carries ?s ?i) (supports ?i ?m) (powered ?i) (points ?s ?d))
    :effect (picture ?d ?m)))
