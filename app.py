"""The map of Gna: every room's routes, and every schedule, queue and topic it answers to."""

from typing import Any

from chalice.app import Chalice, Cron, SQSEvent

from chalicelib.access import door
from chalicelib.audience import embed_routes, profile_routes
from chalicelib.audience import jobs as audience_jobs
from chalicelib.audience import routes as audience_routes
from chalicelib.kernel import lifetime, queues
from chalicelib.web import health

app = Chalice(app_name="gna")
app.register_blueprint(door.authorizer)
app.register_blueprint(health.routes)
app.register_blueprint(audience_routes.api)
app.register_blueprint(audience_routes.routes)
app.register_blueprint(profile_routes.api)
app.register_blueprint(profile_routes.routes)
app.register_blueprint(embed_routes.routes)


@app.on_sqs_message(queue=queues.name("mail"), batch_size=10)
def mail(event: SQSEvent) -> Any:
    return queues.consume(event.to_dict(), audience_jobs.handle)


@app.schedule(Cron(7, "*", "*", "*", "?", "*"))
def clean_up(event: Any) -> None:
    audience_jobs.clean_up(lifetime.left(event.context))
