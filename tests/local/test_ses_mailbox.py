"""The mailbox of the local SES: what it lists, keeps and shows."""

from pathlib import Path
from typing import Any

import pytest

from local.ses import main as local_ses
from local.ses.main import Client
from tests.local.ses_calls import bulk, connect, entry_to, send


def test_the_mailbox_lists_newest_first_by_recipient_and_limit(ses: Client, sesv2: Any) -> None:
    for to in ("ada@example.org", "xada@example.org", "ADA@example.org"):
        send(sesv2, to)
    assert [mail["to"][0] for mail in ses.mails("Ada@example.org")] == ["ADA@example.org", "ada@example.org"]
    assert [mail["to"][0] for mail in ses.mails(limit=1)] == ["ADA@example.org"]
    ses.clear()
    assert ses.mails() == []


def test_links_of_a_mail_open_in_a_new_tab(ses: Client, sesv2: Any) -> None:
    send(sesv2, Body={"Html": {"Data": "<!DOCTYPE html><html><head></head><body>Hi"}})
    assert ses.html(ses.mails()[0]["id"]).startswith('<!DOCTYPE html><html><head><base target="_blank">')


def test_another_host_name_is_refused(ses: Client) -> None:
    import http.client

    connection = http.client.HTTPConnection(ses.url.removeprefix("http://"))
    connection.request("GET", "/mailbox.json", headers={"Host": "evil.example:80"})
    assert connection.getresponse().status == 403
    connection.close()


def test_mails_survive_a_restart_and_only_so_many_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with local_ses.start(data=tmp_path) as first:
        send(connect(first))
    with local_ses.start(data=tmp_path) as second:
        assert len(second.mails()) == 1
    monkeypatch.setattr("local.ses.mailbox._TRIM_EVERY", 10)
    monkeypatch.setattr("local.ses.mailbox.Mailbox.__init__.__defaults__", (15,))
    with local_ses.start(data=tmp_path) as third:
        client = connect(third)
        for n in range(30):
            send(client, f"a{n}@example.org")
        mails = third.mails()
    assert [mails[0]["to"], mails[-1]["to"]] == [["a29@example.org"], ["a15@example.org"]]


def test_a_sink_only_counts(tmp_path: Path) -> None:
    with local_ses.start(sink=True) as sink:
        entries = [entry_to(f"a{n}@example.org", name="x", name_html="x", link="x") for n in range(50)]
        assert len(bulk(connect(sink), *entries)) == 50
        assert sink.stats()["recipients"] == 50
        assert sink.mails() == []
