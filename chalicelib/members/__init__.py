"""Members: people with an account of their own. They sign up, sign in with a password, and leave.

Other rooms use: `service`, `model`, `member_data`, `guards`, `shell`, `invitations`, `listing`.

`app.py` also uses `jobs`.
"""
