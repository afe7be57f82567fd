"""What editors may change of the publication, and how long the history of changes is kept."""

from datetime import timedelta

HISTORY_LIFE = timedelta(days=365)
