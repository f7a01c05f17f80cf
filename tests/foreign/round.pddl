(define (problem round) (:domain delivery) (:objects v-1 - van p-1 - parcel s-1 s-2 s-3 - shop)
  (:init (van-at v-1 s-1) (lies-at p-1 s-1) (= (way s-1 s-2) 9) (= (way s-1 s-3) 2) (= (way s-3 s-2) 2)
         (= (way s-2 s-1) 1) (= (way s-2 s-3) 1) (= (way s-3 s-1) 2))
  (:goal (and (lies-at p-1 s-2) (not (van-at v-1 s-2)))) (:metric minimize (total-cost)))
