; trucks drive within cities, planes fly between airports
(define (domain logistics)
  (:requirements :strips :typing)
  (:types carrier parcel - thing truck plane - carrier place city - object airport - place)
  (:predicates (at ?x - thing ?p - place) (inside ?g - parcel ?c - carrier) (part-of ?p - place ?c - city))
  (:action load
    :parameters (?g - parcel ?c - carrier ?p - place)
    :precondition (and (at ?g ?p) (at ?c ?p))
    :effect (and (inside ?g ?c) (not (at ?g ?p))))
  (:action unload
    :parameters (?g - parcel ?c - carrier ?p - place)
    :precondition (and (inside ?g ?c) (at ?c ?p))
    :effect (and (at ?g ?p) (not (inside ?g ?c))))
  (:action drive
    :parameters (?t - truck ?from ?to - place ?c - city)
    :precondition (and (at ?t ?from) (part-of ?from ?c) (part-of ?to ?c))
    :effect (and (at ?t ?to) (not (at ?t ?from))))
  (:action fly
    :parameters (?f - plane ?from ?to - airport)
    :precondition (at ?f ?from)
    :effect (and (at ?f ?to) (not (at ?f ?from)))))
