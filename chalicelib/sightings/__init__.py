"""Sightings: which animal a member saw, where, when, with a photo if they like, and what of it they share.

`app.py` also uses `jobs` and `departures`.
"""
