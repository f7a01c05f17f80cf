; rovers collect samples and pictures and send the data to a lander
(define (domain rovers)
  (:requirements :strips :typing)
  (:types rover spot tank camera mode lander target)
  (:predicates
    (at ?r - rover ?s - spot) (lander-at ?l - lander ?s - spot) (path ?r - rover ?a ?b - spot) (sees ?a ?b - spot)
    (digs-soil ?r - rover) (digs-rock ?r - rover) (has-camera ?r - rover) (soil ?s - spot) (rock ?s - spot)
    (tank-of ?t - tank ?r - rover) (empty ?t - tank) (full ?t - tank) (knows-soil ?r - rover ?s - spot)
    (knows-rock ?r - rover ?s - spot) (on-board ?c - camera ?r - rover) (supports ?c - camera ?m - mode)
    (aims-at ?c - camera ?o - target) (calibrated ?c - camera ?r - rover) (shows ?o - target ?s - spot)
    (picture ?r - rover ?o - target ?m - mode) (sent-soil ?s - spot) (sent-rock ?s - spot)
    (sent-picture ?o - target ?m - mode))
  (:action go
    :parameters (?r - rover ?a ?b - spot)
    :precondition (and (at ?r ?a) (path ?r ?a ?b))
    :effect (and (at ?r ?b) (not (at ?r ?a))))
  (:action take-soil
    :parameters (?r - rover ?t - tank ?s - spot)
    :precondition (and (at ?r ?s) (soil ?s) (digs-soil ?r) (tank-of ?t ?r) (empty ?t))
    :effect (and (full ?t) (knows-soil ?r ?s) (not (empty ?t)) (not (soil ?s))))
  (:action take-rock
    :parameters (?r - rover ?t - tank ?s - spot)
    :precondition (and (at ?r ?s) (rock ?s) (digs-rock ?r) (tank-of ?t ?r) (empty ?t))
    :effect (and (full ?t) (knows-rock ?r ?s) (not (empty ?t)) (not (rock ?s))))
  (:action pour-out
    :parameters (?r - rover ?t - tank)
    :precondition (and (tank-of ?t ?r) (full ?t))
    :effect (and (empty ?t) (not (full ?t))))
  (:action calibrate
    :parameters (?r - rover ?c - camera ?o - target ?s - spot)
    :precondition (and (has-camera ?r) (on-board ?c ?r) (aims-at ?c ?o) (at ?r ?s) (shows ?o ?s))
    :effect (calibrated ?c ?r))
  (:action photograph
    :parameters (?r - rover ?s - spot ?o - target ?c - camera ?m - mode)
    :precondition (and (calibrated ?c ?r) (on-board ?c ?r) (has-camera ?r) (supports ?c ?m) (shows ?o ?s) (at ?r ?s))
    :effect (and (picture ?r ?o ?m) (not (calibrated ?c ?r))))
  (:action send-soil
    :parameters (?r - rover ?l - lander ?s ?here ?there - spot)
    :precondition (and (at ?r ?here) (lander-at ?l ?there) (knows-soil ?r ?s) (sees ?here ?there))
    :effect (sent-soil ?s))
  (:action send-rock
    :parameters (?r - rover ?l - lander ?s ?here ?there - spot)
    :precondition (and (at ?r ?here) (lander-at ?l ?there) (knows-rock ?r ?s) (sees ?here ?there))
    :effect (sent-rock ?s))
  (:action send-picture
    :parameters (?r - rover ?l - lander ?o - target ?m - mode ?here ?there - spot)
    :precondition (and (at ?r ?here) (lander-at ?l ?there) (picture ?r ?o ?m) (sees ?here ?there))
    :effect (sent-picture ?o ?m)))
