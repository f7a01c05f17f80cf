(define (problem spinning) (:domain laboratory)
  (:objects t1 t2 - tube r1 - rack cf - centrifuge)
  (:init (in t1 r1) (in t2 r1) (hand-empty) (fits t1 cf) (fits t2 cf))
  (:goal (and (spun t1) (in t1 r1) (not (lid-open cf)))))
