"""The welcome mail: off by default, once, after the first confirmation only, by the campaigns' rules."""

import pytest
from msgspec import structs

from chalicelib.audience import jobs, mails, model
from chalicelib.audience.stores import subscribers
from chalicelib.audience.stores import tokens as token_store
from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.service import Draft
from chalicelib.kernel import clock, ids
from chalicelib.kernel.errors import Unavailable
from chalicelib.mail import sender
from chalicelib.site import service as site
from tests.conftest import received
from tests.rooms.campaigns.test_archive import published

ON = {
    "welcome.on": True,
    "welcome.subject": "Hello {{nickname|you}}",
    "welcome.body": "{{greeting}}\n\n*Welcome* & so on.",
}


@pytest.fixture
def welcome(http):
    site.change(ON, "ada@example.org")


def subjects(ses, to="ada@example.net"):
    return [mail["subject"] for mail in ses.mails() if mail["to"] == [to]]


def find(ses, subject):
    (mail,) = [mail for mail in ses.mails() if mail["subject"] == subject]
    return mail


def test_nobody_gets_one_unless_the_publication_wants_it(reader, ses, deliver):
    ada = reader()
    ada.join()
    deliver()
    assert len(subjects(ses)) == 1


def test_it_is_sent_once_after_the_first_confirmation(welcome, reader, ses, deliver):
    ada = reader()
    ada.join()
    deliver()
    assert subjects(ses)[:-1] == ["Hello you"]
    mail = find(ses, "Hello you")
    assert "<em>Welcome</em> &amp; so on." in mail["html"]
    assert "/api/unsubscribe?token=" in mail["html"]
    assert mail["headers"]["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert "/archive/" not in mail["html"]


def test_a_second_click_and_a_second_message_send_no_second_one(http, welcome, reader, ses, deliver):
    ada = reader()
    ada.subscribe()
    link = ada.link()
    http.get(link)
    messages = received("audience")
    assert [message["kind"] for message in messages] == [model.WELCOME]
    http.get(link)
    for message in messages * 3:
        jobs.handle(message)
    deliver()
    assert subjects(ses)[:-1] == ["Hello you"]


def test_who_adds_a_source_gets_none(welcome, reader, ses, deliver):
    ada = reader()
    ada.join()
    deliver()
    before = len(subjects(ses))
    ada.join(source="another")
    deliver()
    assert len(subjects(ses)) == before + 1  # the mail that asks


def owed(ada):
    """The mark of what is owed to her, before the worker has seen it."""
    ada.join()
    (message,) = received("audience")
    return message["subscriber_id"], token_store.find(message["subscriber_id"], model.WELCOME)


def test_who_leaves_before_it_is_sent_gets_none_and_nothing_stays(http, welcome, reader, ses, deliver):
    subscriber_id, row = owed(reader())
    assert row
    person = subscribers.find(subscriber_id)
    assert http.post(f"/api/unsubscribe?token={person.unsubscribe_token}").status == 200
    assert token_store.find(subscriber_id, model.WELCOME) is None
    mails.send(model.WELCOME, subscriber_id)
    assert len(subjects(ses)) == 1


def test_it_is_not_sent_if_it_was_switched_off_meanwhile(welcome, reader, ses):
    subscriber_id, _ = owed(reader())
    site.change({"welcome.on": False}, "ada@example.org")
    mails.send(model.WELCOME, subscriber_id)
    assert len(subjects(ses)) == 1
    assert token_store.find(subscriber_id, model.WELCOME) is None


def test_while_mail_cannot_be_sent_it_stays_owed(welcome, reader, ses, monkeypatch):
    subscriber_id, _ = owed(reader())

    def fail(*_):
        raise Unavailable

    with monkeypatch.context() as broken:
        broken.setattr(sender, "send", fail)
        with pytest.raises(Unavailable):
            mails.send(model.WELCOME, subscriber_id)
    mails.send(model.WELCOME, subscriber_id)
    assert subjects(ses)[0] == "Hello you"
    assert token_store.find(subscriber_id, model.WELCOME) is None


def test_a_worker_that_died_with_it_does_not_make_two(welcome, reader, ses, later, deliver):
    subscriber_id, row = owed(reader())
    assert token_store.take(row, clock.now())
    mails.send(model.WELCOME, subscriber_id)
    later(hours=1)
    jobs.clean_up(lambda: True)
    deliver()
    assert len(subjects(ses)) == 1


def test_beyond_the_limits_of_the_hour_it_waits_for_a_later_one(welcome, reader, ses, later, deliver, configure):
    configure(MAILS_PER_HOUR="1")
    subscriber_id, _ = owed(reader())
    mails.send(model.WELCOME, subscriber_id)
    assert len(subjects(ses)) == 1
    later(hours=1)
    jobs.clean_up(lambda: True)
    deliver()
    assert "Hello you" in subjects(ses)


def test_a_message_that_was_lost_is_made_up_for(welcome, reader, ses, later, deliver):
    owed(reader())
    later(hours=1)
    jobs.clean_up(lambda: True)
    deliver()
    assert subjects(ses).count("Hello you") == 1


def test_somebody_who_was_imported_is_no_newcomer(welcome, reader, monkeypatch):
    ada = reader()
    ada.subscribe()
    real = subscribers.find_with_tokens

    def find_imported(*asked):
        person, found = real(*asked)
        return structs.replace(person, import_id=ids.new()), found

    monkeypatch.setattr(subscribers, "find_with_tokens", find_imported)
    assert ada.confirm().status == 303
    for message in received("audience"):
        assert token_store.find(message["subscriber_id"], model.WELCOME) is None


def test_it_ends_with_the_last_campaign_if_that_is_wished(welcome, reader, ses, deliver):
    site.change({"welcome.link_last": True}, "ada@example.org")
    issue = published("Seeds & [tools] *now*")
    reader().join()
    deliver()
    html = find(ses, "Hello you")["html"]
    assert f"/archive/{issue.campaign.id}" in html
    assert "Seeds &amp; [tools] *now*</a>" in html


def test_of_several_campaigns_the_last_in_the_archive_is_linked(welcome, reader, ses, deliver):
    site.change({"welcome.link_last": True}, "ada@example.org")
    published("First")
    second, hidden = published("Second"), published("Hidden")
    campaigns.hide(hidden.campaign.id, True)
    campaigns.create(Draft("Not sent", body="<p>Hi</p>"))
    reader().join()
    deliver()
    text = find(ses, "Hello you")["text"]
    assert f"Our last issue: Second (https://news.example.org/archive/{second.campaign.id})" in text


def test_without_a_campaign_or_an_archive_there_is_no_link(welcome, reader, ses, deliver):
    site.change({"welcome.link_last": True}, "ada@example.org")
    reader().join()
    deliver()
    assert "Our last issue" not in find(ses, "Hello you")["text"]
    published("First")
    site.change({"archive": False}, "ada@example.org")
    reader("bob@example.net").join()
    deliver()
    assert "Our last issue" not in ses.mails(to="bob@example.net")[0]["text"]


def test_a_subject_of_nothing_but_the_name_is_the_usual_one_for_who_has_told_none(welcome, reader, ses, deliver):
    site.change({"welcome.subject": "{{nickname}}"}, "ada@example.org")
    reader().join()
    deliver()
    assert subjects(ses)[0] == "Welcome to The Daily Test"


def test_without_words_of_its_own_it_has_the_usual_ones(reader, ses, deliver):
    site.change({"welcome.on": True}, "ada@example.org")
    reader().join()
    deliver()
    assert "Thank you for subscribing to The Daily Test." in find(ses, "Welcome to The Daily Test")["text"]
