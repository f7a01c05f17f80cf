; a robot with two hands carries balls between rooms
(define (domain gripper)
  (:requirements :strips :typing)
  (:types room ball hand)
  (:predicates (robot-in ?r - room) (lies-in ?b - ball ?r - room) (empty ?h - hand) (holds ?h - hand ?b - ball))
  (:action drive
    :parameters (?from ?to - room)
    :precondition (robot-in ?from)
    :effect (and (robot-in ?to) (not (robot-in ?from))))
  (:action grasp
    :parameters (?b - ball ?r - room ?h - hand)
    :precondition (and (lies-in ?b ?r) (robot-in ?r) (empty ?h))
    :effect (and (holds ?h ?b) (not (lies-in ?b ?r)) (not (empty ?h))))
  (:action release
    :parameters (?b - ball ?r - room ?h - hand)
    :precondition (and (holds ?h ?b) (robot-in ?r))
    :effect (and (lies-in ?b ?r) (empty ?h) (not (holds ?h ?b)))))
