import botocore.session
import pytest
from botocore import exceptions

from chalicelib.kernel.errors import Unavailable
from chalicelib.mail import failures
from chalicelib.mail.failures import QuotaReached, Rejected, Stopped, Transient, Unanswered
from chalicelib.web import responses

KINDS = {
    "TooManyRequestsException": Transient,
    "ThrottlingException": Transient,
    "InternalServiceErrorException": Unanswered,
    "LimitExceededException": QuotaReached,
    "AccountSuspendedException": Stopped,
    "SendingPausedException": Stopped,
    "MailFromDomainNotVerifiedException": Stopped,
    "NotFoundException": Stopped,
    "AccessDeniedException": Stopped,
    "MessageRejected": Rejected,
    "BadRequestException": Rejected,
    "MESSAGE_REJECTED": Rejected,
    "MAIL_FROM_DOMAIN_NOT_VERIFIED": Stopped,
    "CONFIGURATION_SET_NOT_FOUND": Stopped,
    "TEMPLATE_NOT_FOUND": Stopped,
    "ACCOUNT_SUSPENDED": Stopped,
    "ACCOUNT_THROTTLED": Transient,
    "ACCOUNT_DAILY_QUOTA_EXCEEDED": QuotaReached,
    "INVALID_SENDING_POOL_NAME": Stopped,
    "ACCOUNT_SENDING_PAUSED": Stopped,
    "CONFIGURATION_SET_SENDING_PAUSED": Stopped,
    "INVALID_PARAMETER": Rejected,
    "TRANSIENT_FAILURE": Transient,
    "FAILED": Rejected,
}


@pytest.mark.parametrize(("code", "kind"), KINDS.items())
def test_every_word_of_ses_has_its_kind(code: str, kind: type) -> None:
    assert type(failures.from_code(code)) is kind


def test_no_error_of_the_api_that_sending_can_give_is_forgotten() -> None:
    model = botocore.session.get_session().get_service_model("sesv2")
    names = {shape.name for op in ("SendEmail", "SendBulkEmail") for shape in model.operation_model(op).error_shapes}
    statuses = set(model.shape_for("BulkEmailStatus").enum) - {"SUCCESS"}
    assert names | statuses <= KINDS.keys()


@pytest.mark.parametrize("code", ["ThrottlingException", "TooManyRequestsException"])
def test_the_daily_quota_comes_in_the_dress_of_throttling(code: str) -> None:
    assert type(failures.from_code(code, "Daily message quota exceeded.", 429)) is QuotaReached
    assert type(failures.from_code(code, "Maximum sending rate exceeded.", 429)) is Transient


def test_an_unverified_sender_stops_all_and_an_unverified_recipient_only_one() -> None:
    said = "Email address is not verified. The following identities failed the check in region EU-WEST-1: {}"
    sender = "news@example.org"
    assert type(failures.from_code("MessageRejected", said.format("news@example.org"), 400, sender)) is Stopped
    assert type(failures.from_code("MessageRejected", said.format("example.org, x@y.z"), 400, sender)) is Stopped
    assert type(failures.from_code("MessageRejected", said.format("ada@example.org"), 400, sender)) is Rejected


def test_what_nobody_knows_is_waited_for_if_theirs_and_stops_if_ours() -> None:
    assert type(failures.from_code("Novelty", status=503)) is Transient
    assert type(failures.from_code("Novelty", status=500)) is type(failures.from_code("", status=504)) is Unanswered
    assert type(failures.from_code("Novelty", status=403)) is Stopped
    assert type(failures.from_code("Novelty", status=418)) is Stopped


@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        (exceptions.EndpointConnectionError(endpoint_url="x"), Transient),
        (exceptions.ConnectTimeoutError(endpoint_url="x"), Transient),
        (exceptions.ReadTimeoutError(endpoint_url="x"), Unanswered),
        (exceptions.ConnectionClosedError(endpoint_url="x"), Unanswered),
        (exceptions.NoCredentialsError(), Stopped),
    ],
)
def test_a_lost_answer_is_not_a_lost_connection(raised: Exception, kind: type) -> None:
    with pytest.raises(Transient if kind is not Stopped else Stopped) as caught, failures.translated():
        raise raised
    assert type(caught.value) is kind


def test_a_failure_never_repeats_what_ses_said() -> None:
    failure = failures.from_code("MessageRejected", "Email address is not verified: ada@example.org")
    assert "ada" not in str(failure)
    assert "ada" not in failure.reason


def test_a_failure_has_a_status_when_it_reaches_a_route() -> None:
    assert responses.error(Transient()).status == 503
    assert responses.error(Rejected()).status == 400
    assert issubclass(Stopped, Unavailable)
