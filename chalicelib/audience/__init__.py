"""Readers: how they sign up, confirm, change their profile and leave, and what editors see of them.

Other rooms use: `service`, `model`, `erasure`, `listing`, `recipients`, `pausing`, `counts`, `personal_data`,
`editing`, `held`, `survey`, `opt_outs`, `milestones`, `imports.service`, `imports.model`, `imports.by_hand`,
`imports.reading.model`, `tags.service`, `tags.model`.

`app.py` also uses `leaving`, `jobs`, `imports.jobs`, `tags.jobs`, `tags.aim_keepers` and `welcome_writer`.
"""
