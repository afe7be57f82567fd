"""The map of Gna: every room's routes, and every schedule, queue and topic it answers to.

The rooms are listed in `chalicelib/web/routing.py`, and the routes of each in its `routes.py`. The modules behind
routes and handlers are imported when they are first needed, so that no call waits for rooms it does not visit.
"""

import gc

# Starting makes a few hundred thousand objects that stay. Looking through them for garbage again and again, as Python
# does by default, would be a seventh of a cold start; so this comes before all other imports.
gc.set_threshold(200_000, 20, 100)

from typing import Any

from chalice.app import AuthRequest, Chalice, Cron, Rate, SQSEvent

from chalicelib.audience import leaving, personal_data, welcome_writer
from chalicelib.audience.tags import aim_keepers
from chalicelib.campaigns import use_keepers
from chalicelib.kernel import deadlines, publication, settings
from chalicelib.kernel.aws import queues
from chalicelib.members import member_data
from chalicelib.web import routing
from chalicelib.web.guards import ACCESS_HEADER

app = Chalice(app_name="gna")
publication.register("site.effective")
welcome_writer.register("campaigns.content.welcome")
personal_data.register("bounces", "bounces.service")
leaving.register("bounces.tallies")
personal_data.register_address("members", "members.service")
member_data.register("sightings", "sightings.departures")
member_data.register("following", "following.departures")
member_data.register("inbox", "inbox.departures")
use_keepers.register("inbox.uses")
aim_keepers.register("campaigns.retagging")
routing.send_bytes(app)


# A verdict is not kept: a cached one would outlive the token's own end.
@app.authorizer(name="authorizer", ttl_seconds=0, header=ACCESS_HEADER)
def authorizer(request: AuthRequest) -> dict[str, Any]:
    from chalicelib.access.authorizer import decide

    return decide(request.token, request.method_arn)


routing.register(app, routing.all_routes(), authorizer)
routing.register(app, (*routing.unreadable(routing.all_routes()), routing.EVERYTHING_ELSE), authorizer)


@app.on_sqs_message(queue=queues.name("audience"), batch_size=10)
def audience(event: SQSEvent) -> Any:
    from chalicelib.audience import jobs

    return queues.consume(event.to_dict(), jobs.handle)


@app.on_sqs_message(queue=queues.name("deliveries"), batch_size=10)
def deliveries(event: SQSEvent) -> Any:
    from chalicelib.campaigns.sending import jobs

    return queues.consume(event.to_dict(), jobs.wake)


@app.on_sqs_message(queue=queues.name("sending"), batch_size=8)
def sending(event: SQSEvent) -> Any:
    from chalicelib.campaigns.sending import jobs

    return jobs.drive(event.to_dict(), event.context)


@app.on_sqs_message(queue=queues.name("mail-events"), batch_size=10)
def mail_events(event: SQSEvent) -> Any:
    from chalicelib.bounces import jobs

    return queues.consume(event.to_dict(), jobs.handle)


@app.schedule(Rate(5, unit=Rate.MINUTES))
def sweep_deliveries(event: Any) -> None:
    from chalicelib.campaigns.sending import jobs as sending_jobs
    from chalicelib.feeds import jobs as feeds_jobs
    from chalicelib.kernel import sweeping

    sweep = sweeping.Sweep("sweep_deliveries.failed", deadlines.time_left(event.context))
    sweep.each((feeds_jobs.sweep, sending_jobs.sweep), lambda step: step())
    sweep.finish()


@app.schedule(Cron(7, "*", "*", "*", "?", "*"))
def clean_up(event: Any) -> None:
    from chalicelib.audience import jobs

    jobs.clean_up(deadlines.time_left(event.context))


# One message at a time: a slow endpoint occupies one function, and no other endpoint waits behind it.
@app.on_sqs_message(queue=queues.name("events"), batch_size=1)
def send_events(event: SQSEvent) -> Any:
    from chalicelib.audience import service
    from chalicelib.events import jobs

    return queues.consume(event.to_dict(), jobs.worker(service.find_address))


@app.schedule(Rate(1, unit=Rate.MINUTES))
def sweep_events(event: Any) -> None:
    from chalicelib.events import jobs

    jobs.sweep()


@app.schedule(Cron(20, 3, "*", "*", "?", "*"))
def clean_up_events(event: Any) -> None:
    from chalicelib.events import jobs

    jobs.clean_up(deadlines.time_left(event.context))


@app.schedule(Rate(settings.current().feed_every, unit=Rate.MINUTES))
def check_feed(event: Any) -> None:
    from chalicelib.feeds import jobs

    jobs.on_schedule()


# What is read from elsewhere: the watched feed, followed channels, shows and feeds, and pictures of what they bring.
# Pages that were saved in a hurry, large pictures that editors uploaded, lists of people, and changes of tags on
# everybody. Also what members have withdrawn, to be taken out of drafts.
# One queue for all, because another would cost money while nothing happens; one message at a time, so that nothing
# waits for a slow server.
@app.on_sqs_message(queue=queues.name("feed"), batch_size=1)
def poll_sources(event: SQSEvent) -> Any:
    from chalicelib.audience.imports import jobs as import_jobs
    from chalicelib.audience.tags import jobs as tag_jobs
    from chalicelib.audience.tags import service as tag_service
    from chalicelib.feeds import jobs as feeds_jobs
    from chalicelib.following import jobs as following_jobs
    from chalicelib.inbox import late_pages, offers, pictures, recalls
    from chalicelib.media import jobs as media_jobs
    from chalicelib.media import service as media_service

    def handle(message: Any) -> None:
        if "trigger" in message:
            feeds_jobs.handle(message)
        elif message.get("kind") == import_jobs.KIND:
            import_jobs.work(str(message["import_id"]), deadlines.time_left(event.context))
        elif message.get("kind") == tag_service.KIND:
            tag_jobs.work(str(message["job_id"]), deadlines.time_left(event.context))
        elif message.get("kind") == pictures.COPY:
            pictures.copy(str(message["item"]))
        elif message.get("kind") == media_service.PREPARE:
            media_jobs.prepare(str(message["id"]))
        elif message.get("kind") == late_pages.READ:
            late_pages.read(str(message["item"]), int(message["tries"]))
        elif message.get("kind") == offers.RECALL:
            recalls.handle(message)
        else:
            following_jobs.handle(message, deadlines.time_left(event.context))

    return queues.consume(event.to_dict(), handle)


@app.schedule(Rate(15, unit=Rate.MINUTES))
def sweep_following(event: Any) -> None:
    from chalicelib.following import jobs

    jobs.sweep()


@app.schedule(Cron(0, 4, "*", "*", "?", "*"))
def maintain_following(event: Any) -> None:
    from chalicelib.following import jobs

    jobs.maintain(deadlines.time_left(event.context))


@app.on_sqs_message(queue=queues.name("members"), batch_size=10)
def members(event: SQSEvent) -> Any:
    from chalicelib.members import jobs

    return queues.consume(event.to_dict(), jobs.handle)


@app.schedule(Cron(17, "*", "*", "*", "?", "*"))
def clean_up_members(event: Any) -> None:
    from chalicelib.kernel import sweeping
    from chalicelib.members import jobs as members_jobs
    from chalicelib.sightings import jobs as sightings_jobs

    time_left = deadlines.time_left(event.context)
    sweep = sweeping.Sweep("clean_up_members.failed", time_left)
    sweep.each((members_jobs.clean_up, sightings_jobs.clean_up), lambda clean_up: clean_up(time_left))
    sweep.finish()


# One picture at a time: a large one takes the memory of many small ones.
@app.on_sqs_message(queue=queues.name("media"), batch_size=1)
def media(event: SQSEvent) -> Any:
    from chalicelib.media import jobs

    return queues.consume(event.to_dict(), jobs.handle)


@app.schedule(Cron(27, "*", "*", "*", "?", "*"))
def clean_up_media(event: Any) -> None:
    from chalicelib.media import jobs

    jobs.clean_up(deadlines.time_left(event.context))
