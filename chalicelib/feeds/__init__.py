"""The feed of the author's own site: it is checked, and its new entries become a campaign.

Other rooms use: `service`, `model`, `state`, `reading`, `websub`, `plan`, `waiting`.

`reading` reads any feed, and `websub` subscribes to the hub of any; the rest is about the one that is watched.
"""
