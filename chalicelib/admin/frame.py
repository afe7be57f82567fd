"""The dashboard as the frame of pages that members have, too."""

from chalicelib.admin import shell
from chalicelib.inbox.frames import Frame

DESK_FRAME = Frame(shell, "/admin", "admin")
