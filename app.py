"""The map of Gna: every room's routes, and every schedule, queue and topic it answers to."""

from chalice.app import Chalice

from chalicelib.access import door
from chalicelib.web import health

app = Chalice(app_name="gna")
app.register_blueprint(door.authorizer)
app.register_blueprint(health.routes)
