"""Gna's own providers at the small ones: both sides were written from the same documents, and must agree."""

from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from chalicelib.following.providers.contract import (
    Access,
    Down,
    GrantRefused,
    Known,
    QuotaExceeded,
    Throttled,
    Unauthorised,
    Unknown,
)
from chalicelib.following.providers.registry import GRANTS, SOURCES, recognise
from chalicelib.inbox.model import Provider
from local.providers.catalogue import ACCOUNT, CHANNELS, SHOWS, USER_ID
from tests.local.provider_calls import KEY, REDIRECT, VERIFIER, authorize_url

GARDEN, BIRDS, MENDING, COMPOST, MOSS = CHANNELS
SOIL, CHORUS, SHED = SHOWS
YOUTUBE, SPOTIFY = SOURCES[Provider.YOUTUBE], SOURCES[Provider.SPOTIFY]
NAMES = {Provider.YOUTUBE: "youtube", Provider.SPOTIFY: "spotify"}
BY_KEY = Access(key=KEY)


def tokens(providers, provider):
    """With the parameters Gna itself asks for consent with, and the script's own."""
    asked = dict(GRANTS[provider].authorize_parameters())
    challenge = parse_qs(urlsplit(authorize_url(providers, NAMES[provider])).query)["code_challenge"][0]
    asked |= {"redirect_uri": REDIRECT, "state": "s", "code_challenge": challenge}
    sent_to = providers.consent(f"{GRANTS[provider].authorize_url()}?{urlencode(asked)}")
    code = parse_qs(urlsplit(sent_to).query)["code"][0]
    return GRANTS[provider].exchange(code, VERIFIER, REDIRECT)


def access(providers, provider):
    return Access(token=tokens(providers, provider).access_token)


@pytest.mark.parametrize(("provider", "account"), [(Provider.YOUTUBE, ACCOUNT.id), (Provider.SPOTIFY, USER_ID)])
def test_gna_connects_renews_and_is_refused_once_consent_is_withdrawn(providers, provider, account):
    got = tokens(providers, provider)
    assert GRANTS[provider].account_id(Access(token=got.access_token)) == account
    renewed = GRANTS[provider].renew(got.refresh_token)
    assert bool(renewed.refresh_token) is (provider is Provider.SPOTIFY)
    providers.set_fault(NAMES[provider], revoked=True)
    with pytest.raises(GrantRefused) as refused:
        GRANTS[provider].renew(renewed.refresh_token or got.refresh_token)
    assert refused.value.code == "invalid_grant"


@pytest.mark.parametrize(
    ("link", "channel"),
    [
        ("https://www.youtube.com/@allotmentno9", GARDEN),
        ("{youtube}/@hedgebirds", BIRDS),
        ("{youtube}/c/mendandkeep", MENDING),
        (f"https://www.youtube.com/channel/{MOSS.id}", MOSS),
    ],
)
def test_gna_finds_a_channel_by_its_link(providers, link, channel):
    found = YOUTUBE.resolve(recognise(link.format(youtube=providers.youtube)), BY_KEY)
    assert (found.channel_id, found.name, found.handle) == (channel.id, channel.title, channel.handle)
    assert found.subscriber_count == channel.subscribers


@pytest.mark.parametrize("link", ["https://open.spotify.com/show/{id}", "{spotify}/show/{id}", "spotify:show:{id}"])
def test_gna_finds_a_show_by_its_link(providers, link):
    reference = recognise(link.format(spotify=providers.spotify, id=SOIL.id))
    assert SPOTIFY.resolve(reference, access(providers, Provider.SPOTIFY)).name == "Slow Soil"


def test_gna_reads_the_latest_videos_and_what_they_are(providers):
    normal = providers.publish(GARDEN.id, "New")
    short = providers.publish(GARDEN.id, "Brief", "short")
    premiere = providers.publish(GARDEN.id, "Soon", "upcoming")
    private = providers.publish(GARDEN.id, "Secret", "private")
    known = Known(GARDEN.id)
    page = YOUTUBE.latest(known, BY_KEY)
    ids = {item.id for item in page.items}
    assert {normal, short} <= ids
    assert private not in ids
    assert page.hub == f"{providers.youtube}/subscribe"
    complete = {item.id: item for item in YOUTUBE.complete(known, page.items, BY_KEY, tell_shorts=True)}
    assert premiere not in complete
    assert (complete[short].is_short, complete[normal].is_short) == (True, False)
    assert complete[normal].duration_seconds == 613


def test_gna_reads_the_latest_episodes_in_either_order(providers):
    allowed = access(providers, Provider.SPOTIFY)
    for show in (SOIL, CHORUS):
        episode = providers.publish(show.id, "Just now")
        providers.publish(show.id, "Not to be had", "hidden")
        page = SPOTIFY.latest(Known(show.id), allowed)
        assert episode in {item.id for item in page.items}
    assert SPOTIFY.refresh([episode], allowed)[episode].title == "Just now"


def test_gna_lists_what_somebody_follows_and_searches(providers):
    youtube, spotify = access(providers, Provider.YOUTUBE), access(providers, Provider.SPOTIFY)
    assert [channel.name for channel in YOUTUBE.mine(youtube)] == [
        "Allotment No. 9",
        "The Hedge Birds",
        "Mend & Keep",
    ]
    assert [show.name for show in SPOTIFY.mine(spotify)] == ["Slow Soil", "Dawn Chorus"]
    assert [channel.name for channel in YOUTUBE.search("mend", 10, BY_KEY)] == ["Mend & Keep"]
    assert [show.name for show in SPOTIFY.search("tool", 20, spotify)] == ["The Tool Shed"]


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ({"quota": True}, QuotaExceeded),
        ({"rate_limit": 900}, Throttled),
        ({"outage": True}, Down),
        ({"broken": True}, Down),
        ({"revoked": True}, Unauthorised),
    ],
)
def test_every_fault_is_what_gna_takes_it_for(providers, fault, error):
    for source, channel in ((YOUTUBE, GARDEN.id), (SPOTIFY, SOIL.id)):
        allowed = access(providers, source.provider)
        providers.set_fault(NAMES[source.provider], **fault)
        with pytest.raises(error) as failed:
            source.latest(Known(channel), allowed)
        if error is Throttled:
            assert failed.value.retry_after == 900


def test_searches_that_are_used_up_are_a_quota_and_no_rate(providers):
    providers.set_fault("youtube", search_quota=True)
    with pytest.raises(QuotaExceeded) as failed:
        YOUTUBE.search("mend", 10, BY_KEY)
    assert failed.value.bucket == "searches"


def test_what_does_not_exist_is_unknown(providers):
    with pytest.raises(Unknown):
        YOUTUBE.resolve(recognise("https://www.youtube.com/@nobody"), BY_KEY)
    with pytest.raises(Unknown):
        SPOTIFY.resolve(recognise(f"spotify:show:{'0' * 22}"), access(providers, Provider.SPOTIFY))
