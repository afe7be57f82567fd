"""What editors change of the publication: its name, look, words and feed, with the history of changes.

What it is at the moment, everybody reads from `kernel/publication`. Other rooms use: `service`, `model`, `fields`.
"""
