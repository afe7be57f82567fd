"""Campaigns: written, reviewed, sent, and kept in a public archive.

Other rooms use: `service`, `model`, `fields`, `content.placeholders`, `review.preflight`, `review.previews`,
`sending.deliveries`, `sending.progress`.

`app.py` also uses `sending.jobs`.
"""
