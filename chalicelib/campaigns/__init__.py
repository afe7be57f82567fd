"""Campaigns: written, reviewed, sent, and kept in a public archive.

Other rooms use: `service`, `model`, `fields`, `content.corrections`, `content.placeholders`, `review.preflight`,
`review.previews`, `sending.deliveries`, `sending.progress`, `sending.stopping`.

`app.py` also uses `sending.jobs`.
"""
