"""Following YouTube channels, Spotify shows and feeds: who follows what, polls that find what is new, and the
connections to accounts that some of it needs. What is found goes to the inbox.

An owner is the publication's desk or a member; this room knows nothing else about them. Other rooms use: `service`,
`model`, `connections`, `discovery`, `notifications`, `quota`, `screens`, `unread`.

`app.py` also uses `jobs` and `departures`.
"""
