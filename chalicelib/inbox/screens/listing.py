"""The list of what has arrived: in the inbox, saved, archived, or everything ever received."""

from urllib.parse import urlencode

from msgspec import Struct

from chalicelib.inbox import frames, model, search, service, waiting
from chalicelib.inbox.frames import Frame, Notice
from chalicelib.inbox.model import ContentType, Page, Provider, State, WholePage
from chalicelib.inbox.owners import owner_of
from chalicelib.inbox.screens import views
from chalicelib.inbox.screens.views import EntryView
from chalicelib.kernel.errors import Invalid
from chalicelib.web import cursors
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

ALL = "ALL"
_ON_A_PAGE = 30
# Of a page that has at most 60 KB; links may have thousands of characters and cannot be shortened.
_BYTES_FOR_ENTRIES, _MARKUP = 45_000, 1_350
# To other lists and pages, each with what is searched for.
_LINKS = 8
_TABS = {"INBOX": "Inbox", "BOOKMARKED": "Bookmarked", "ARCHIVED": "Archived", ALL: "Everything"}
NOTICES = {
    "bookmark": Notice("Saved: {entries}, among your bookmarks now."),
    "archive": Notice("Archived: {entries}."),
    "restore": Notice("Back in the inbox: {entries}."),
    "dismiss": Notice("Dismissed: {entries}, under Everything if you want it back after all."),
    "moved": Notice("Not done, for somebody else was faster or it was done in another tab: {entries}.", "bad"),
    "gone": Notice("Nothing to do: it was not in the list any more.", "info"),
    "none": Notice("Nothing was selected.", "info"),
    "composed": Notice("Nothing was selected to compose from.", "info"),
}


class Wanted(Struct, frozen=True):
    """What the list is narrowed down to. An empty field is no filter."""

    state: str = "INBOX"
    provider: str = ""
    type: str = ""
    q: str = ""

    @property
    def is_filtered(self) -> bool:
        return bool(self.provider or self.type or self.q)

    @property
    def query(self) -> dict[str, str]:
        asked = {"state": self.state.lower(), "provider": self.provider, "type": self.type, "q": self.q}
        return {name: value for name, value in asked.items() if value and (name, value) != ("state", "inbox")}

    @property
    def expected(self) -> State | None:
        """Where everything in the list was when it was shown."""
        return None if self.state == ALL else State(self.state)


def parse_wanted(given: dict[str, str]) -> Wanted:
    """What is not understood is no filter: a link may be old."""

    def known(name: str, values: type[Provider] | type[ContentType]) -> str:
        text = given.get(name, "").upper()
        return text if text in set(values) else ""

    state = given.get("state", "").upper()
    return Wanted(
        state if state in _TABS else "INBOX",
        known("provider", Provider),
        known("type", ContentType),
        " ".join(given.get("q", "").split())[: search.LONGEST_SEARCH],
    )


def show(frame: Frame, request: Request) -> Response:
    wanted, owner = parse_wanted(dict(request.query)), owner_of(request)
    try:
        words = search.parse_words(wanted.q)
    except Invalid:
        words = search.parse_words(" ".join(wanted.q.split()[: search.MOST_WORDS]))
    waiting.forget(owner)  # the number beside the list is that of the list
    listed = _List(owner, wanted, words)
    place = cursors.read(request, listed.scope)
    entries, next_place = listed.read(place)
    answer = frame.page(
        request,
        "inbox/list.html",
        _TABS[wanted.state],
        NOTICES,
        here=f"{frame.prefix}/inbox",
        wanted=wanted,
        tabs=_TABS.items(),
        providers=[(one.value, label) for one, label in views.SOURCES.items()],
        types=[(one.value, label) for one, label in views.TYPES.items()],
        states=views.STATES,
        entries=entries,
        cursor=request.query.get("cursor", ""),
        next_cursor=cursors.sign(next_place, listed.scope),
        url=lambda **changes: _url(frame, wanted, **changes),
    )
    return views.with_photos(answer, entries)


class _List(Struct, frozen=True):
    owner: str
    wanted: Wanted
    words: tuple[str, ...]

    @property
    def scope(self) -> str:
        return model.list_scope(self.owner, self.wanted.expected, self._provider, self._type, self.words)

    def read(self, place: str | None) -> tuple[list[EntryView], str | None]:
        """As many as the page has room for, and where the next page begins."""
        page = self._page(_ON_A_PAGE, place)
        entries = views.view_all(self.owner, page.entries)
        bytes_left = _BYTES_FOR_ENTRIES - _LINKS * len(urlencode(self.wanted.query))
        fitting = views.count_fitting(entries, bytes_left, _MARKUP)
        if fitting == len(entries):
            return entries, page.next_place
        last = entries[fitting - 1]
        return entries[:fitting], model.place_of(last.received_at, last.id)

    def _page(self, limit: int, place: str | None) -> Page | WholePage:
        state = self.wanted.expected
        if state is None:
            return service.list_whole_page(self.owner, self._provider, self._type, limit, place, self.words)
        return service.list_page(self.owner, state, self._provider, self._type, limit, place, self.words)

    @property
    def _provider(self) -> Provider | None:
        return Provider(self.wanted.provider) if self.wanted.provider else None

    @property
    def _type(self) -> ContentType | None:
        return ContentType(self.wanted.type) if self.wanted.type else None


def back(frame: Frame, given: dict[str, str], notice: str, entries: int = 1) -> Response:
    """To the list a form was sent from."""
    query: dict[str, str | int | None] = {
        **parse_wanted(given).query,
        "cursor": given.get("cursor", "")[:1_000],
        "items": entries,
    }
    return frames.back(f"{frame.prefix}/inbox", notice, **query)


def _url(frame: Frame, wanted: Wanted, **changes: str) -> str:
    asked = {**wanted.query, **changes}
    query = urlencode({name: value for name, value in asked.items() if value and (name, value) != ("state", "inbox")})
    return f"{frame.prefix}/inbox?{query}" if query else f"{frame.prefix}/inbox"
