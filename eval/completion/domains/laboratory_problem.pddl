(define (problem two_tubes) (:domain laboratory)
  (:objects tube flask - tube rack bench floor - place centrifuge - spinner)
  (:init (at tube rack) (at flask bench))
  (:goal (and (spun tube) (spun flask) (mixed flask) (at tube rack))))
