"""Dataset VII: worlds whose operator nobody has written; demonstrations show where it puts an object.

The task, for somebody who knows nothing else. A laboratory has one operator of its own, called `place`, with one to
three objects as arguments; the first one moves. Where it ends is the laboratory's convention: a place on the table, at
a distance on one side of another object, seen from the table, from the robot or from the other object; flush with an
edge, on it, in it, at the end of a row, in the next slot, between two others, or relative to where it was. Gaps and
sides may depend on the size or the kind of the object, and it may be turned by a quarter. Objects stand parallel to
the table. Given are N demonstrations, each of them boxes (centre and size, metres) by name before and after one
action, with a few millimetres of noise; the last word of a name is the object's kind. Wanted is the box after the
action in other scenes. An episode counts if all its objects end within the convention's tolerance (10 mm, 6 mm for
insertion) of where the convention has them, and turned as it has them.

`conventions` has the families and draws worlds, `scenes` draws scenes, demonstrations and episodes.
"""
