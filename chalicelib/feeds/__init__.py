"""The feed of the author's own site: it is checked, and its new entries become a campaign.

Other rooms use: `service`, `model`, `state`, `reading`.

`reading` reads any feed; the rest is about the one that is watched.
"""
