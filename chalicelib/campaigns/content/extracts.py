"""The excerpts that lists show and the words that are searched, made from a campaign's text when they are first asked
for, and stored. Nothing has to be made beforehand, and what was sent before there were any has them as well."""

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta

from chalicelib.campaigns import extract_store, store
from chalicelib.campaigns.content import corrections, excerpts, renderer, words
from chalicelib.campaigns.content.catalogue import Issue
from chalicelib.campaigns.extract_store import Extract
from chalicelib.campaigns.model import CampaignDetail, Content
from chalicelib.kernel import deadlines, log
from chalicelib.kernel.errors import Invalid, Unavailable
from chalicelib.kernel.recent import Recent

# About 60 MB in memory if all of them are long.
MOST = 5_000
_AT_ONCE = 100
_SECONDS = 3.0
_kept: Recent[Extract] = Recent(timedelta(days=1), MOST)


def find(issues: Sequence[Issue]) -> dict[str, Extract]:
    """By id. After a few seconds the rest is left out: each request goes on where the last one ended."""
    has_time = deadlines.seconds_left(_SECONDS)
    found = {issue.id: extract for issue in issues if (extract := _kept.get((issue.id, issue.stamp)))}
    missing = [issue for issue in issues if issue.id not in found]
    for some in _batches(missing, has_time):
        found |= _read(some, has_time)
    return found


def _batches(issues: Sequence[Issue], has_time: Callable[[], bool]) -> Iterator[Sequence[Issue]]:
    for start in range(0, len(issues), _AT_ONCE):
        if not has_time():
            return
        yield issues[start : start + _AT_ONCE]


def _read(issues: Sequence[Issue], has_time: Callable[[], bool]) -> dict[str, Extract]:
    stored = extract_store.find_many(issue.id for issue in issues)
    current = {issue.id: stored[issue.id] for issue in issues if _is_current(issue, stored.get(issue.id))}
    current |= _make([issue for issue in issues if issue.id not in current], has_time)
    for issue in issues:
        if issue.id in current:
            _kept.put((issue.id, issue.stamp), current[issue.id])
    return current


def _is_current(issue: Issue, extract: Extract | None) -> bool:
    return bool(extract and extract.stamp == issue.stamp)


def _make(issues: Sequence[Issue], has_time: Callable[[], bool]) -> dict[str, Extract]:
    if not issues:
        return {}
    contents = store.list_web_contents(issue.campaign for issue in issues)
    made = {}
    for issue in issues:
        if issue.id in contents and has_time():
            made[issue.id] = _extract(issue, contents[issue.id])
    try:
        extract_store.put_all(made)
    except Unavailable as failure:
        log.exception("archive.extracts_not_stored", failure)  # the next request makes them again
    return made


def _extract(issue: Issue, content: Content) -> Extract:
    web_version = CampaignDetail(corrections.as_corrected(issue.campaign), content, ())
    outside = (issue.subject, issue.preheader)
    try:
        article = renderer.render_article(web_version)
    except Invalid as failure:
        # A body that today's rules refuse still has its subject in the list.
        log.exception("archive.unreadable", failure, campaign_id=issue.id)
        return Extract(issue.stamp, "", words.collect(*outside))
    excerpt = excerpts.shorten(article.text, issue.subject, article.has_title)
    return Extract(issue.stamp, excerpt, words.collect(*outside, excerpts.without_addresses(article.text)))
