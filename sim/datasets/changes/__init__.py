"""Dataset VIII: pairs of observations between which something changes that place alone does not show.

The task. Two cameras look at a table twice through the sensor `d435`. Masks have no labels, and their numbers mean
nothing in the other view or at the other time; only in the first observation each object is named once, in one view, so
that one can speak of it. Between the two observations at most one event happens: an object is exchanged for another one
of the same shape and size, a state that shows only in appearance changes (a box is opened, a vessel filled, something
gets dirty or breaks), two look-alikes of the same shape and size swap places, an object moves, or it is taken away.
Often nothing happens. The light always changes a little. Given both observations, say for each object of the first one
what became of it and where it is. Truth is the event.

`things` draws objects and renders them, `episodes` draws the pairs.
"""
