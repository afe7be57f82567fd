"""A campaign prepared for SES, once for each delivery and process; and the limits of the account."""

import time
from collections.abc import Sequence
from functools import lru_cache

from chalicelib.audience.recipients import Recipient
from chalicelib.bounces.model import DELIVERY_TAG, WAVE_TAG
from chalicelib.campaigns import service
from chalicelib.campaigns.content import renderer
from chalicelib.campaigns.sending.pacing import Pace
from chalicelib.kernel import clock, publication
from chalicelib.mail import account, validation
from chalicelib.mail.account import Account
from chalicelib.mail.bulk import BulkContent, BulkTemplate, Entry
from chalicelib.mail.failures import Failure, Transient
from chalicelib.site import service as site

_LOOK_AGAIN = 60.0


class Mailer:
    """One campaign, rendered; `post` sends it to a batch of people."""

    def __init__(self, campaign_id: str, delivery_id: str) -> None:
        detail = service.view(campaign_id)
        self._delivery_id = delivery_id
        # Everybody is sent the same, whatever an editor changes of the publication while it is being sent.
        started_at = next((one.started_at for one in detail.deliveries if one.id == delivery_id), None)
        self._shown = site.as_of(started_at or clock.now())
        self.targeting = detail.campaign.targeting.resolve(self._shown.time_zone)
        with publication.as_if(self._shown):
            self._mailing = renderer.render(detail)
            self._templates = {0: self._template(0)}

    def post(self, people: Sequence[Recipient], wave: int = 0) -> list[Failure | None]:
        """`wave` is that of the imported people it is for, 0 for everybody else."""
        with publication.as_if(self._shown):
            if wave not in self._templates:
                self._templates[wave] = self._template(wave)
            return self._templates[wave].post([self._entry(person) for person in people])

    def _template(self, wave: int) -> BulkTemplate:
        mailing, tags = self._mailing, {DELIVERY_TAG: self._delivery_id}
        if not wave:
            return BulkTemplate(
                BulkContent(mailing.subject, mailing.html, mailing.text, mailing.headers_for_all, tags)
            )
        content = BulkContent(
            mailing.subject,
            mailing.html,
            mailing.text,
            mailing.headers_for_all,
            {**tags, WAVE_TAG: str(wave)},
            validation.configuration_set(),
        )
        return BulkTemplate(content)

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
