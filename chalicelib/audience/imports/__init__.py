"""Bringing a list from elsewhere, with consent: a file is read, tried without keeping anything, and then imported."""
