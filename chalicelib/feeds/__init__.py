"""The feed of the author's own site: it is checked, and its new entries become a campaign.

Other rooms use: `service` (check the feed, view it), `model` (which entries are new), `state` (`Check`, `Trigger`,
`Result`) and `reading` (read any feed).
"""
