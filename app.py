"""The map of Gna: every room's routes, and every schedule, queue and topic it answers to."""

from typing import Any

from chalice.app import Chalice, Cron, Rate, SQSEvent

from chalicelib.access import door
from chalicelib.admin.pages import api as desk_api_routes
from chalicelib.admin.pages import assets as desk_asset_routes
from chalicelib.admin.pages import bounces as desk_bounce_routes
from chalicelib.admin.pages import campaigns as desk_campaign_routes
from chalicelib.admin.pages import feed as desk_feed_routes
from chalicelib.admin.pages import overview as desk_overview_routes
from chalicelib.admin.pages import sending as desk_sending_routes
from chalicelib.admin.pages import settings as desk_settings_routes
from chalicelib.admin.pages import subscribers as desk_subscriber_routes
from chalicelib.admin.pages import webhooks as desk_webhook_routes
from chalicelib.audience import admin_routes as audience_admin_routes
from chalicelib.audience import embed_routes, profile_routes
from chalicelib.audience import jobs as audience_jobs
from chalicelib.audience import routes as audience_routes
from chalicelib.audience import service as audience_service
from chalicelib.bounces import jobs as bounces_jobs
from chalicelib.bounces import routes as bounces_routes
from chalicelib.bounces import service as bounces_service
from chalicelib.campaigns import archive_routes, preflight_routes, proof_routes
from chalicelib.campaigns import routes as campaign_routes
from chalicelib.campaigns.sending import jobs as campaigns_jobs
from chalicelib.events import jobs as event_jobs
from chalicelib.events.webhooks import routes as webhook_routes
from chalicelib.feeds import jobs as feed_jobs
from chalicelib.feeds import routes as feed_routes
from chalicelib.kernel import deadlines, settings
from chalicelib.kernel.aws import queues
from chalicelib.web import health

audience_service.kept_elsewhere["bounces"] = bounces_service.about

app = Chalice(app_name="gna")
app.register_blueprint(door.authorizer)
app.register_blueprint(health.routes)
app.register_blueprint(audience_routes.api)
app.register_blueprint(audience_routes.routes)
app.register_blueprint(profile_routes.api)
app.register_blueprint(profile_routes.routes)
app.register_blueprint(embed_routes.routes)
app.register_blueprint(audience_admin_routes.routes)
app.register_blueprint(webhook_routes.routes)
app.register_blueprint(campaign_routes.routes)
app.register_blueprint(proof_routes.routes)
app.register_blueprint(preflight_routes.routes)
app.register_blueprint(archive_routes.routes)
app.register_blueprint(bounces_routes.routes)
app.register_blueprint(feed_routes.api)
app.register_blueprint(feed_routes.admin)
app.register_blueprint(desk_asset_routes.routes)
app.register_blueprint(desk_overview_routes.routes)
app.register_blueprint(desk_subscriber_routes.routes)
app.register_blueprint(desk_campaign_routes.routes)
app.register_blueprint(desk_sending_routes.routes)
app.register_blueprint(desk_bounce_routes.routes)
app.register_blueprint(desk_feed_routes.routes)
app.register_blueprint(desk_webhook_routes.routes)
app.register_blueprint(desk_settings_routes.routes)
app.register_blueprint(desk_api_routes.routes)
app.register_blueprint(desk_api_routes.api)


@app.on_sqs_message(queue=queues.name("mail"), batch_size=10)
def mail(event: SQSEvent) -> Any:
    return queues.consume(event.to_dict(), audience_jobs.handle)


@app.on_sqs_message(queue=queues.name("deliveries"), batch_size=10)
def deliveries(event: SQSEvent) -> Any:
    return queues.consume(event.to_dict(), campaigns_jobs.wake)


@app.on_sqs_message(queue=queues.name("sending"), batch_size=8)
def sending(event: SQSEvent) -> Any:
    return campaigns_jobs.drive(event.to_dict(), event.context)


@app.on_sqs_message(queue=queues.name("mail-events"), batch_size=10)
def mail_events(event: SQSEvent) -> Any:
    return queues.consume(event.to_dict(), bounces_jobs.handle)


@app.schedule(Rate(5, unit=Rate.MINUTES))
def sweep_deliveries(event: Any) -> None:
    campaigns_jobs.sweep()


@app.schedule(Cron(7, "*", "*", "*", "?", "*"))
def clean_up(event: Any) -> None:
    audience_jobs.clean_up(deadlines.time_left(event.context))


# One message at a time: a slow endpoint occupies one function, and no other endpoint waits behind it.
@app.on_sqs_message(queue=queues.name("events"), batch_size=1)
def send_events(event: SQSEvent) -> Any:
    return queues.consume(event.to_dict(), event_jobs.worker(audience_service.find_address))


@app.schedule(Rate(1, unit=Rate.MINUTES))
def sweep_events(event: Any) -> None:
    event_jobs.sweep()


@app.schedule(Cron(20, 3, "*", "*", "?", "*"))
def clean_up_events(event: Any) -> None:
    event_jobs.clean_up(deadlines.time_left(event.context))


@app.schedule(Rate(settings.current().feed_every, unit=Rate.MINUTES))
def check_feed(event: Any) -> None:
    feed_jobs.on_schedule()


@app.on_sqs_message(queue=queues.name("feed"), batch_size=1)
def hurry_feed(event: SQSEvent) -> Any:
    return queues.consume(event.to_dict(), feed_jobs.handle)
