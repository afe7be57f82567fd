"""YouTube, Spotify and feeds behind one contract: `registry` has them all (`SOURCES`, `GRANTS`, `recognise`), and
`contract` says what each of them does.
"""
