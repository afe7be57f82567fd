"""How many left after a campaign: those who went by their own act within a week, for the campaigns they may have
got."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from chalicelib.audience import erasure, leaving, model, opt_outs, pausing, recipients
from chalicelib.bounces import jobs, sent, tallies, tally_store
from chalicelib.bounces.model import Tally
from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.model import Counts, Targeting, Terms
from chalicelib.campaigns.sending import deliveries
from chalicelib.campaigns.service import Draft
from chalicelib.kernel import clock, ids, patience
from chalicelib.kernel.aws import raw, tables
from chalicelib.kernel.aws.failures import Contended
from chalicelib.kernel.errors import Unavailable
from tests.rooms.bounces.test_service import event
from tests.rooms.campaigns.crowd import gather, write

TEA = Targeting(tags=Terms(any=("tea",)))
COFFEE = Targeting(tags=Terms(any=("coffee",)))
EVERYBODY = Targeting()


@pytest.fixture(autouse=True)
def audience(http: Any, configure: Any) -> None:
    configure(BOUNCES="keep")


def began(targeting: Targeting = EVERYBODY, ago: timedelta = timedelta(hours=1)) -> str:
    delivery = ids.new()
    tables.transact(sent.begin_write(delivery, targeting.resolve("UTC"), clock.now() - ago))
    return delivery


def somebody(**more: Any) -> str:
    (id,) = gather(1, **more)
    write("emails", [{"address": _address(id), "subscriber_id": id}])
    return id


def left(*delivery_ids: str) -> list[int]:
    found = tallies.find(delivery_ids)
    return [found.get(id, Tally()).left for id in delivery_ids]


def unsubscribe(http: Any, id: str) -> Any:
    return http.get(f"/api/unsubscribe?token={id}.{'s' * 32}")


def _address(id: str) -> str:
    return recipients.look_up([id])[id].email.casefold()


def _one_click(http: Any, id: str) -> None:
    form = {"List-Unsubscribe": "One-Click"}
    assert http.post(f"/api/unsubscribe?token={id}.{'s' * 32}", form=form).status == 200


def _never_again(http: Any, id: str) -> None:
    token = opt_outs.make_token(_address(id))
    assert http.post("/never", form={"token": token}).status < 400


def _by_link(http: Any, id: str) -> None:
    assert unsubscribe(http, id).status == 200


@pytest.mark.parametrize("leave", [_by_link, _one_click, _never_again])
def test_who_leaves_by_their_own_act_is_counted_for_the_campaigns_of_the_week(
    http: Any, leave: Callable[[Any, str], None]
) -> None:
    id, recent, week_ago, older = somebody(), began(), began(ago=timedelta(days=6, hours=23)), began(ago=timedelta(8))
    move_activation(id)
    leave(http, id)
    assert not recipients.look_up([id])
    assert left(recent, week_ago, older) == [1, 1, 0]
    leave_again = unsubscribe(http, id)
    assert (leave_again.status, left(recent)) == (200, [1])


def move_activation(id: str, at: datetime | None = None) -> None:
    update = {
        "TableName": tables.name("subscribers"),
        "Key": {"id": {"S": id}},
        "UpdateExpression": "SET activated_at = :at",
        "ExpressionAttributeValues": {":at": {"S": clock.text(at or clock.now() - timedelta(days=30))}},
    }
    raw.dynamodb("UpdateItem", update)


def test_who_is_removed_by_others_has_not_left(http: Any) -> None:
    delivery = began()
    people = [somebody() for _ in range(4)]
    erasure.remove(people[0])
    erasure.remove(people[1], erasure.Bounced(_pseudonym(people[1]), clock.now()))
    erasure.suppress(_address(people[2]), "complaint")
    erasure.suppress(_address(people[3]), "admin")
    assert not recipients.look_up(people)
    assert left(delivery) == [0]


def _pseudonym(id: str) -> str:
    return model.address_pseudonym(_address(id))


def test_only_campaigns_that_were_for_them_count(http: Any) -> None:
    tea, coffee, everybody = began(TEA), began(COFFEE), began()
    unsubscribe(http, somebody(tags={"tea"}))
    assert left(tea, coffee, everybody) == [1, 0, 1]


def test_who_came_later_or_was_paused_or_was_not_written_to_yet_could_not_have_got_it(http: Any) -> None:
    delivery = began()
    newcomer = somebody(activated_at=clock.now())
    unmailed = somebody(joined=clock.now() - timedelta(days=100))
    paused = somebody(paused_at=clock.text(clock.now() - timedelta(days=2)), paused_because="editor")
    resumed = somebody(resumed_at=clock.text(clock.now()))
    for id in (newcomer, unmailed, paused, resumed):
        assert unsubscribe(http, id).status == 200
    assert left(delivery) == [0]


def test_who_was_paused_because_of_it_may_have_got_it(http: Any) -> None:
    id, delivery = somebody(), began()
    pausing.pause(id)
    unsubscribe(http, id)
    assert left(delivery) == [1]


def test_who_never_confirmed_has_not_left(http: Any) -> None:
    delivery = began()
    (id,) = gather(1, status="pending")
    write("emails", [{"address": "p@example.org", "subscriber_id": id}])
    unsubscribe(http, id)
    assert left(delivery) == [0]


def test_the_ten_newest_that_were_for_them_count(http: Any) -> None:
    id = somebody(tags={"tea"})
    older = [began(TEA, ago=timedelta(hours=3 + n)) for n in range(3)]
    others = [began(COFFEE, ago=timedelta(hours=2)) for _ in range(5)]
    newest = [began(TEA, ago=timedelta(minutes=1 + n)) for n in range(tallies.MOST_LEFT)]
    unsubscribe(http, id)
    assert left(*newest) == [1] * tallies.MOST_LEFT
    assert left(*older, *others) == [0] * 8


def test_sending_begins_the_week_and_a_retry_does_not_begin_it_again(http: Any) -> None:
    detail = campaigns.send_now(campaigns.create(Draft("Hello", "<p>Hi</p>", targeting=TEA)).campaign.id)
    (delivery,) = detail.deliveries
    (begun,) = sent.list_latest(clock.now() - timedelta(days=1), 10)
    assert (begun.delivery_id, begun.at) == (delivery.id, clock.parse(clock.text(delivery.started_at)))
    deliveries.finish(delivery, Counts(3, 1), "SES is down")
    deliveries.retry(detail.campaign.id, delivery.id)
    assert sent.list_latest(clock.now() - timedelta(days=1), 10) == [begun]
    people = recipients.look_up([somebody(tags={"tea"}), somebody()]).values()
    assert sorted(sent.is_for(begun, person) for person in people) == [False, True]


def test_a_campaign_of_the_feed_begins_with_the_transaction_that_makes_it(http: Any) -> None:
    detail, writes = campaigns.create_writes(Draft("From the feed", "<p>New</p>"), send=True)
    _, drafted = campaigns.create_writes(Draft("From the feed", "<p>New</p>"), send=False)
    tables.transact(*writes)
    tables.transact(*drafted)
    found = sent.list_latest(clock.now() - timedelta(days=1), 10)
    assert [one.delivery_id for one in found] == [detail.deliveries[0].id]


def test_nobody_stays_subscribed_because_it_cannot_be_counted(http: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    delivery, people = began(), [somebody() for _ in range(3)]

    def broken(*arguments: Any) -> Any:
        raise Unavailable

    with monkeypatch.context() as away:
        away.setattr(sent, "list_latest", broken)
        assert unsubscribe(http, people[0]).status == 200
    real, tries = tables.transact, [0]

    def crowded(*writes: tables.Write) -> None:
        if any(isinstance(write.row, tally_store.TallyRow) for write in writes):
            tries[0] += 1
            raise Contended("The database is busy")
        real(*writes)

    with monkeypatch.context() as busy:
        busy.setattr(tables, "transact", crowded)
        assert unsubscribe(http, people[1]).status == 200
    assert (tries, recipients.look_up(people[:2]), left(delivery)) == ([1], {}, [0])
    raw.dynamodb("PutItem", {"TableName": tables.name("bounces"), "Item": _damaged()})
    assert unsubscribe(http, people[2]).status == 200
    assert not recipients.look_up(people)


@pytest.mark.parametrize("failure", [Unavailable(), RuntimeError("a right is missing")])
def test_whatever_is_wrong_with_the_numbers_leaving_works(
    http: Any, monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    began()
    person, real = somebody(), tables.transact

    def refused(*writes: tables.Write) -> None:
        if any(isinstance(write.row, tally_store.TallyRow) for write in writes):
            raise failure
        real(*writes)

    monkeypatch.setattr(tables, "transact", refused)
    assert unsubscribe(http, person).status == 200
    assert recipients.look_up([person]) == {}


def test_time_that_is_lost_with_counting_is_not_missing_for_leaving(
    http: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    began()
    person, real = somebody(), tables.transact

    def lose_time(*given: Any) -> Any:
        lost = patience._lost.get()
        assert lost
        lost.seconds += 60
        raise Unavailable

    def transact(*writes: tables.Write) -> None:
        with patience.counted():
            real(*writes)

    monkeypatch.setattr(sent, "list_latest", lose_time)
    monkeypatch.setattr(tables, "transact", transact)
    assert unsubscribe(http, person).status == 200


def _damaged() -> dict[str, Any]:
    at = clock.text(clock.now())
    values = {"shelf": "sent", "key": f"{at}#{ids.new()}", "sent_at": at, "targeting": "{"}
    return {name: {"S": value} for name, value in values.items()} | {"expires_at": {"N": "4000000000"}}


def test_rows_of_an_earlier_version_are_known_and_are_not_among_the_latest(http: Any) -> None:
    at, id = clock.text(clock.now()), ids.new()
    terms = '{"any":[],"all":[],"none":[]}'
    item = {"shelf": "sent", "key": id, "sent_at": at, "targeting": f'{{"sources":{terms},"tags":{terms}}}'}
    row = {name: {"S": value} for name, value in item.items()} | {"expires_at": {"N": "4000000000"}}
    raw.dynamodb("PutItem", {"TableName": tables.name("bounces"), "Item": row})
    delivery = began()
    assert set(sent.list_by_id()) == {id, delivery}
    assert [one.delivery_id for one in sent.list_latest(clock.now() - timedelta(days=7), 30)] == [delivery]


def test_leaving_costs_one_more_request_and_only_who_leaves_by_themselves_pays_it(
    http: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    real = sent.list_latest
    monkeypatch.setattr(sent, "list_latest", lambda *given: asked.append(1) or real(*given))
    one, other = somebody(), somebody()
    erasure.remove(other)
    assert asked == []
    unsubscribe(http, one)
    assert asked == [1]


def test_counting_is_registered_once() -> None:
    leaving.register("bounces.tallies")
    assert leaving._counters == ["bounces.tallies"]


def test_a_complaint_counts_as_one_and_not_as_leaving(http: Any) -> None:
    id, delivery = somebody(), began()
    report = event("event_complaint")
    report["mail"] |= {"destination": [_address(id)], "tags": {"delivery": [delivery]}}
    jobs.handle(report)
    assert not recipients.look_up([id])
    assert tallies.find([delivery])[delivery] == Tally(complaints=1)
