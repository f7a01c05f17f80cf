"""Tables, figures, comparisons and a failure gallery from the folders that `python -m eval` leaves.

`load` reads them, `paper` has the numbers of Kalithasan et al., `tables` and `pairs` compute, `document` writes
Markdown and HTML, `figures` draws, `gallery` shows the episodes that failed, and `readme` keeps a section of the README
up to date.
"""
