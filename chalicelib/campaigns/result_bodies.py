"""What became of campaigns, as JSON."""

from typing import Annotated

from msgspec import Meta, Struct, field

from chalicelib.web.paging import PageBody
from chalicelib.web.schemas import Count, Id, Moment

SoftBounced = Annotated[Count, Meta(description="Addresses that did not accept the email for now, as SES reported")]
HardBounced = Annotated[
    Count, Meta(description="Addresses that will not accept emails, or that SES does not send to any more")
]
Complaints = Annotated[Count, Meta(description="People who reported the email as spam")]
Left = Annotated[
    Count,
    Meta(description="People it was for who left by themselves within seven days after it began to be sent"),
]


class CampaignResult(Struct):
    campaign_id: Id
    subject: str
    published_at: Moment
    recipients: Count
    sent: Count = field(name="sent_count")
    failed: Count = field(name="failure_count")
    unknown: Count = field(name="unknown_count")
    soft_bounced: SoftBounced
    hard_bounced: HardBounced
    complaints: Complaints
    left: Left
    counted: Annotated[
        bool, Meta(description="`false`: sent by a version that did not count these four, which are 0")
    ]


class ResultPage(PageBody):
    items: list[CampaignResult]
