"""Dataset IX: free space on a table that the boxes around objects hide.

The task. Bars, corners, channels, open crates, crosses and cups with handles stand at any yaw on a table of 0.6 by
0.8 m. The boxes around them, parallel to the table, cover 60 to 80 % of it; the objects themselves cover far less.
One object must leave its place (it is set aside), or it is to be placed near a wished point. Wanted is a free place for
it, at the yaw that it has, as near as possible. It counts if the object's outline lies on the table and touches no
other outline. A place exists in every episode. Given is what two cameras see through the sensor `d435`.

`outlines` has the shapes and what touches what, `episodes` draws the scenes.
"""
