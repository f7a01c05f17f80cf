(define (problem frame) (:domain workshop)
  (:objects post beam - part store bench - place press - drill_press booth - spray_booth)
  (:init (at post store) (at beam store))
  (:goal (and (painted post) (dry post) (smooth beam) (joined beam post) (at beam bench) (at post bench))))
