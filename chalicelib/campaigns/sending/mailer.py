"""A campaign prepared for SES, once for each delivery and process; and the limits of the account."""

import time
from collections.abc import Sequence
from functools import lru_cache

from chalicelib.audience.recipients import Recipient
from chalicelib.campaigns import service
from chalicelib.campaigns.content import renderer
from chalicelib.campaigns.sending.pacing import Pace
from chalicelib.mail import account
from chalicelib.mail.account import Account
from chalicelib.mail.bulk import BulkContent, BulkTemplate, Entry
from chalicelib.mail.failures import Failure, Transient

DELIVERY_TAG = "delivery"
_LOOK_AGAIN = 60.0


class Mailer:
    """One campaign, rendered; `post` sends it to a batch of people."""

    def __init__(self, campaign_id: str, delivery_id: str) -> None:
        detail = service.view(campaign_id)
        self.targeting = detail.campaign.targeting
        self._mailing = renderer.render(detail)
        content = BulkContent(
            self._mailing.subject,
            self._mailing.html,
            self._mailing.text,
            self._mailing.headers_for_all,
            {DELIVERY_TAG: delivery_id},
        )
        self._template = BulkTemplate(content)

    def post(self, people: Sequence[Recipient]) -> list[Failure | None]:
        return self._template.post([self._entry(person) for person in people])

    def _entry(self, person: Recipient) -> Entry:
        token = person.unsubscribe_token
        own_headers = {"List-Unsubscribe": f"<{self._mailing.unsubscribe_url}{token}>"}
        return Entry(person.email, self._mailing.values(person.nickname, token), own_headers)


@lru_cache(maxsize=4)
def load_mailer(campaign_id: str, delivery_id: str, attempt: int) -> Mailer:
    """What is being sent cannot be edited, so it is rendered once; a retry renders it again."""
    return Mailer(campaign_id, delivery_id)


class _AccountWatch:
    """The account's limits, requested once a minute: SES raises them while mail is well received."""

    def __init__(self) -> None:
        self._account: Account | None = None
        self._asked = 0.0

    def account(self) -> Account:
        if self._account is None or time.monotonic() - self._asked > _LOOK_AGAIN:
            self._asked = time.monotonic()
            try:
                self._account = account.account()
            except Transient:
                if self._account is None:
                    raise
        return self._account

    def rate(self) -> float:
        return max(1.0, self.account().per_second)


@lru_cache(maxsize=1)
def account_watch() -> _AccountWatch:
    return _AccountWatch()


@lru_cache(maxsize=1)
def shared_pace() -> Pace:
    return Pace(account_watch().rate)
