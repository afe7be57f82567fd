"""Campaigns: written, reviewed, sent, and kept in a public archive.

Other rooms use: `service`, `model`, `fields`, `segments`, `uses`, `removal`, `results`, `serializers`, `versions`,
`content.blocks`, `content.corrections`, `content.placeholders`, `content.welcome`, `gallery`,
`review.preflight`, `review.previews`, `review.testing`, `sending.continuing`, `sending.deliveries`,
`sending.progress`, `sending.stopping`, `sending.waves`.

`app.py` also uses `sending.jobs` and `use_keepers`.
"""
