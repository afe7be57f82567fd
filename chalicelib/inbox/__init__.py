"""The inbox: items that were received, and what every owner (the publication's desk, or a member) does with them.

It does not know where items come from: the rooms that find them deliver them here.
Other rooms use: `service`, `model`, `links`, `owners`, `departures`, `frames`, `screens`,
`offers`, `waiting`.

`app.py` also uses `uses`, `pictures`, `late_pages` and `recalls`.
"""
