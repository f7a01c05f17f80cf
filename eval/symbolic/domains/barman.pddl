; a barman with two hands mixes cocktails in a shaker; filling a glass at a dispenser is slow
(define (domain barman)
  (:requirements :strips :typing :action-costs)
  (:types hand level drink dispenser vessel - object ingredient cocktail - drink glass shaker - vessel)
  (:predicates
    (stands ?v - vessel) (holds ?h - hand ?v - vessel) (free ?h - hand) (gives ?d - dispenser ?i - ingredient)
    (empty ?v - vessel) (contains ?v - vessel ?b - drink) (clean ?v - vessel) (used ?v - vessel ?b - drink)
    (level-of ?s - shaker ?l - level) (lowest ?s - shaker ?l - level) (after ?a ?b - level) (unmixed ?s - shaker)
    (mixed ?s - shaker) (first-part ?c - cocktail ?i - ingredient) (second-part ?c - cocktail ?i - ingredient))
  (:functions (total-cost) - number)
  (:action take
    :parameters (?h - hand ?v - vessel)
    :precondition (and (stands ?v) (free ?h))
    :effect (and (not (stands ?v)) (not (free ?h)) (holds ?h ?v) (increase (total-cost) 1)))
  (:action place
    :parameters (?h - hand ?v - vessel)
    :precondition (holds ?h ?v)
    :effect (and (not (holds ?h ?v)) (free ?h) (stands ?v) (increase (total-cost) 1)))
  (:action fill
    :parameters (?g - glass ?i - ingredient ?h ?other - hand ?d - dispenser)
    :precondition (and (holds ?h ?g) (free ?other) (gives ?d ?i) (empty ?g) (clean ?g))
    :effect (and (not (empty ?g)) (contains ?g ?i) (not (clean ?g)) (used ?g ?i) (increase (total-cost) 10)))
  (:action refill
    :parameters (?g - glass ?i - ingredient ?h ?other - hand ?d - dispenser)
    :precondition (and (holds ?h ?g) (free ?other) (gives ?d ?i) (empty ?g) (used ?g ?i))
    :effect (and (not (empty ?g)) (contains ?g ?i) (increase (total-cost) 10)))
  (:action tip-out
    :parameters (?h - hand ?g - glass ?b - drink)
    :precondition (and (holds ?h ?g) (contains ?g ?b))
    :effect (and (not (contains ?g ?b)) (empty ?g) (increase (total-cost) 1)))
  (:action rinse
    :parameters (?g - glass ?b - drink ?h ?other - hand)
    :precondition (and (holds ?h ?g) (free ?other) (empty ?g) (used ?g ?b))
    :effect (and (not (used ?g ?b)) (clean ?g) (increase (total-cost) 1)))
  (:action pour-into-clean
    :parameters (?g - glass ?i - ingredient ?s - shaker ?h - hand ?l ?m - level)
    :precondition (and (holds ?h ?g) (contains ?g ?i) (empty ?s) (clean ?s) (level-of ?s ?l) (after ?l ?m))
    :effect (and (not (contains ?g ?i)) (empty ?g) (contains ?s ?i) (not (empty ?s)) (not (clean ?s)) (unmixed ?s)
                 (not (level-of ?s ?l)) (level-of ?s ?m) (increase (total-cost) 1)))
  (:action pour-into-used
    :parameters (?g - glass ?i - ingredient ?s - shaker ?h - hand ?l ?m - level)
    :precondition (and (holds ?h ?g) (contains ?g ?i) (unmixed ?s) (level-of ?s ?l) (after ?l ?m))
    :effect (and (not (contains ?g ?i)) (contains ?s ?i) (empty ?g) (not (level-of ?s ?l)) (level-of ?s ?m)
                 (increase (total-cost) 1)))
  (:action empty-shaker
    :parameters (?h - hand ?s - shaker ?c - cocktail ?l ?least - level)
    :precondition (and (holds ?h ?s) (contains ?s ?c) (mixed ?s) (level-of ?s ?l) (lowest ?s ?least))
    :effect (and (not (mixed ?s)) (not (level-of ?s ?l)) (level-of ?s ?least) (not (contains ?s ?c)) (empty ?s)
                 (increase (total-cost) 1)))
  (:action rinse-shaker
    :parameters (?h ?other - hand ?s - shaker)
    :precondition (and (holds ?h ?s) (free ?other) (empty ?s))
    :effect (and (clean ?s) (increase (total-cost) 1)))
  (:action shake
    :parameters (?c - cocktail ?i ?j - ingredient ?s - shaker ?h ?other - hand)
    :precondition (and (holds ?h ?s) (free ?other) (contains ?s ?i) (contains ?s ?j) (first-part ?c ?i)
                       (second-part ?c ?j) (unmixed ?s))
    :effect (and (not (unmixed ?s)) (not (contains ?s ?i)) (not (contains ?s ?j)) (mixed ?s) (contains ?s ?c)
                 (increase (total-cost) 1)))
  (:action serve
    :parameters (?b - drink ?g - glass ?h - hand ?s - shaker ?l ?m - level)
    :precondition (and (holds ?h ?s) (mixed ?s) (contains ?s ?b) (empty ?g) (clean ?g) (level-of ?s ?l) (after ?m ?l))
    :effect (and (not (clean ?g)) (not (empty ?g)) (contains ?g ?b) (not (level-of ?s ?l)) (level-of ?s ?m)
                 (increase (total-cost) 1))))
