"""Words count as a whole, an unknown one is never mailable, and the most restrictive signal wins."""

import pytest

from chalicelib.audience.imports.reading import row_reader, statuses
from chalicelib.audience.imports.reading.model import Status

WORDS = {
    Status.MAILABLE: "subscribed active enabled confirmed regular premium gifted trialed unpaid paused churning "
    "past_due",
    Status.UNCONFIRMED: "pending unconfirmed unactivated inactive nonsubscribed transactional disabled blocked "
    "spammy cold archived unknown reactive activ subscribed! deactivated proactive true 1",
    Status.LEFT: "unsubscribed cancelled removed deleted blocklisted blacklisted",
    Status.COMPLAINED: "complained junk marked-as-spam",
    Status.BOUNCED: "cleaned bounced undeliverable unreachable invalid",
}


@pytest.mark.parametrize(
    ("word", "status"), [(word, status) for status, words in WORDS.items() for word in words.split()]
)
def test_a_status_word(opened, word, status):
    for cell in (word, word.upper(), f"  {word.title()} "):
        assert opened.rows(f"email,status\nann@example.org,{cell}\n")[0].status is status


@pytest.mark.parametrize("cell", ["", "  ", '""', "-", "null", "N/A"])
def test_an_empty_status_says_nothing(opened, cell):
    assert opened.rows(f"email,status\nann@example.org,{cell}\n")[0].status is Status.MAILABLE


def test_several_words_are_one(opened):
    assert opened.rows("email,status\na@example.org,needs approval\n")[0].status is Status.UNCONFIRMED
    assert opened.rows("email,status\na@example.org,active unsubscribed\n")[0].status is Status.UNCONFIRMED


@pytest.mark.parametrize(
    ("column", "cell", "status"),
    [
        ("subscribed", "yes", Status.MAILABLE),
        ("subscribed", "TRUE", Status.MAILABLE),
        ("subscribed", "no", Status.LEFT),
        ("subscribed", "false", Status.LEFT),
        ("subscribed", "2023-01-05", Status.MAILABLE),
        ("subscribed", "perhaps", Status.UNCONFIRMED),
        ("subscribed", "unsubscribed", Status.LEFT),
        ("subscribed_to_emails", "false", Status.LEFT),
        ("email_disabled", "true", Status.LEFT),
        ("email_disabled", "false", Status.MAILABLE),
        ("email_disabled", "", Status.MAILABLE),
        ("EMAIL_BLACKLISTED", "Yes", Status.LEFT),
        ("EMAIL_BLACKLISTED", "0", Status.MAILABLE),
        ("email_disabled", "perhaps", Status.UNCONFIRMED),
        ("unsubscribed", "2023-01-05 10:00", Status.LEFT),
        ("unsubscribed_at", "2023-01-05", Status.LEFT),
        ("unsubscribed_at", "last week", Status.LEFT),
        ("unsubscribed_at", "2999-01-01", Status.LEFT),
        ("unsubscribed_at", "0000-00-00 00:00:00", Status.MAILABLE),
        ("unsubscribed_at", "null", Status.MAILABLE),
        ("CLEAN_TIME", "2023-01-05", Status.BOUNCED),
        ("bounced", "false", Status.MAILABLE),
        ("complained_at", "2023-01-05", Status.COMPLAINED),
        ("UNSUB_REASON", "SPAM", Status.COMPLAINED),
        ("UNSUB_REASON", "The emails are spam and should be reported", Status.COMPLAINED),
        ("UNSUB_REASON", "NORMAL", Status.MAILABLE),
        ("UNSUB_REASON", "antispamming", Status.MAILABLE),
        ("active_subscription", "false", Status.MAILABLE),
        ("confirmed", "no", Status.UNCONFIRMED),
        ("confirmed", "yes", Status.MAILABLE),
        ("confirmed", "2023-01-05", Status.MAILABLE),
        ("DOUBLE_OPT-IN", "2", Status.UNCONFIRMED),
        ("DOUBLE_OPT-IN", "1", Status.MAILABLE),
        ("double_optin", "", Status.MAILABLE),
        ("Unsubscribed from all email", "true", Status.LEFT),
        ("Email Marketing Consent", "NEVER_SUBSCRIBED", Status.UNCONFIRMED),
        ("Email Marketing Consent", "UNSUBSCRIBED", Status.LEFT),
    ],
)
def test_a_column_of_its_own(opened, column, cell, status):
    assert opened.rows(f"email,{column},x\nann@example.org,{cell},y\n")[0].status is status


def test_the_most_restrictive_signal_of_a_row_wins_in_any_order(opened):
    head = "email,status,unsubscribed_at,bounced_at,complained_at\n"
    rows = opened.rows(
        head
        + "a@example.org,active,2023-01-01,,\n"
        + "b@example.org,pending,,2023-01-01,\n"
        + "c@example.org,complained,2023-01-01,2023-01-01,\n"
        + "d@example.org,bounced,2023-01-01,,\n"
        + "e@example.org,active,,,2023-01-01\n"
    )
    assert [row.status.name for row in rows] == ["LEFT", "BOUNCED", "COMPLAINED", "LEFT", "COMPLAINED"]


def test_inactive_differs_between_services(opened):
    kit = "first_name,email,created_at,status\nAnn,ann@example.org,2023-01-01T00:00:00Z,inactive\n"
    beehiiv = "email,status,tier,created_at\nann@example.org,inactive,free,2023-01-01 00:00:00 UTC\n"
    assert opened.rows(kit)[0].status is Status.UNCONFIRMED
    assert opened.rows(beehiiv)[0].status is Status.LEFT


def test_the_order_of_statuses_is_from_least_to_most_restrictive():
    assert sorted(Status) == [
        Status.MAILABLE,
        Status.UNCONFIRMED,
        Status.BOUNCED,
        Status.LEFT,
        Status.COMPLAINED,
    ]


@pytest.mark.parametrize("header", ["email,status\n", ""])
def test_a_column_of_statuses_is_one_without_a_header_and_with_a_word_nobody_knows(opened, header):
    lines = (
        "ada@example.net,unsubscribed\nbea@example.net,subscribed\ncy@example.net,subscribed\ndee@example.net,vip\n"
    )
    rows = [row for row in opened.rows(header + lines, header=False) if row.address]
    assert [row.status for row in rows] == [Status.LEFT, Status.MAILABLE, Status.MAILABLE, Status.UNCONFIRMED]


def test_long_cells_are_not_kept_in_memory(opened):
    statuses._read_word.cache_clear()
    row_reader._ip.cache_clear()
    lines = "".join(f"a{number}@example.net,{number:0200},{number:0200}\n" for number in range(50))
    rows = opened.rows(f"email,status,optin_ip\n{lines}")
    assert {row.status for row in rows} == {Status.UNCONFIRMED}
    assert statuses._read_word.cache_info().currsize == 0
    assert row_reader._ip.cache_info().currsize == 1, "the beginning of all of them"
