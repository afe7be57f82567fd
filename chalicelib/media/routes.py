"""Public copies of pictures, for mails, archives and pages."""

from chalicelib.web.routing import api

ROUTES = (api("GET /media/{name}", "media.handlers:show_picture", head=True),)
