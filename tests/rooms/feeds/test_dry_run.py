"""`make feed URL=…` shows what would be made of a feed and stores nothing; anything else gets one line of error."""

import boto3
import pytest

from chalicelib.kernel.aws import queues
from local import feed


@pytest.fixture(autouse=True)
def on_this_machine(configure):
    configure(GNA_LOCAL="true")


def test_it_shows_the_entries_and_the_mail_and_leaves_no_trace(aws, blog, ses, capsys):
    blog.publish("News", undated=True)
    blog.publish("More news")
    assert feed.main(["check", f"{blog.url}/feed.xml", "--mail"]) == 0
    output = capsys.readouterr().out
    assert "Blog: 3 entries" in output
    assert "1 new: sent, or a draft in review mode.\n\nSubject: More news\nPreview: About More news." in output
    assert f"title: More news\nlink: {blog.url}/posts/3\n" in output
    assert ses.mails() == []
    for table in ("feeds", "campaigns", "events"):
        assert boto3.client("dynamodb").scan(TableName=queues.name(table))["Count"] == 0


@pytest.mark.parametrize(("since", "new"), [("2026-11-01", 12), ("2026-11-01T09:00:00+02:00", 12), ("2199-01-01", 0)])
def test_what_is_new_since_a_time(blog, capsys, since, new):
    blog.posts.clear()
    for number in range(12):
        blog.publish(f"Post {number}")
    assert feed.main(["check", f"{blog.url}/feed.xml", "--since", since]) == 0
    output = capsys.readouterr().out
    assert "Nothing new: no email." in output if not new else f"{new} new: a draft and a notice" in output


@pytest.mark.parametrize("url", ["", "no url", "/etc/passwd", "file:///etc/passwd", "http://127.0.0.1:1/"])
def test_what_cannot_be_fetched_is_one_line(aws, capsys, url):
    assert feed.main(["check", url]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("The feed cannot be fetched: ")
    assert printed.err.count("\n") == 1


@pytest.mark.parametrize("body", [b"", b"\0" * 99, b"<html>", b"[1]", b'{"items":', b"root:x:0:0"])
def test_what_is_not_a_feed_is_one_line(blog, capsys, body):
    blog.answer = (200, {}, body)
    assert feed.main(["check", f"{blog.url}/feed.xml"]) == 1
    assert capsys.readouterr().err.startswith("The feed cannot be read: ")


def test_an_invalid_time_is_reported(capsys):
    with pytest.raises(SystemExit):
        feed.main(["check", "https://blog.example.org/", "--since", "yesterday"])
    assert "must be a time such as 2026-11-01" in capsys.readouterr().err
