"""Why a mail was not sent, by what can be done about it. SES's error codes are known only here.

GnaError
├── Unavailable
│   ├── Transient        throttled, an error in SES, or the network: try again a little later
│   │   └── Unanswered   no answer, or one that leaves open whether the mail was sent: try again only where twice is
│   │                    better than never
│   ├── QuotaReached     today's quota is used up: continue tomorrow
│   └── Stopped          nothing can be sent until the operator has acted: `reason` says how
└── Rejected (Invalid)   only this message or this recipient

SES quotes addresses in its messages, so a message is read to tell two cases apart and never kept.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from chalicelib.kernel.errors import Invalid, Unavailable


class Transient(Unavailable):
    def __init__(self, reason: str = "The email service is busy", code: str = "") -> None:
        super().__init__(reason, retry_after=5)
        self.code = code


class Unanswered(Transient):
    def __init__(self, code: str = "Unanswered") -> None:
        super().__init__("The email service did not respond", code)


class QuotaReached(Unavailable):
    def __init__(self, code: str = "") -> None:
        super().__init__("Today's sending quota is used up; sending continues when SES allows it", retry_after=3600)
        self.code = code


class Stopped(Unavailable):
    def __init__(self, reason: str, code: str = "") -> None:
        super().__init__(reason, retry_after=3600)
        self.code = code


class Rejected(Invalid):
    def __init__(self, reason: str = "SES rejected the message", code: str = "") -> None:
        super().__init__(reason)
        self.code = code


Failure = Transient | QuotaReached | Stopped | Rejected

UNSENDABLE = "SES does not accept the address"
SANDBOXED = "The SES account is in the sandbox and the recipient is not verified"

_UNVERIFIED = "The sending domain or address is not verified in SES: verify the identity of FROM_EMAIL"
_NO_SET = "The SES configuration set does not exist: check CONFIGURATION_SET"
_SUSPENDED = "SES has suspended this account's sending: open a case with AWS support"
_PAUSED = "Sending is paused in SES: resume it in the SES console"
_SET_PAUSED = "Sending is paused for the SES configuration set: resume it in the SES console"
_DENIED = "AWS rejected the credentials or the permission to send: check the function's role"
_UNKNOWN = "SES refuses to send for a reason unknown to this version"

_TRANSIENT = frozenset(
    {
        "TooManyRequestsException",
        "Throttling",
        "ThrottlingException",
        "ThrottledException",
        "RequestThrottled",
        "RequestThrottledException",
        "RequestTimeout",
        "RequestTimeoutException",
        "ConcurrentModificationException",
        "ServiceUnavailable",
        "ServiceUnavailableException",
        "ExpiredTokenException",
        # Per entry of a bulk send:
        "ACCOUNT_THROTTLED",
        "TRANSIENT_FAILURE",
    }
)
_NOT_ACCEPTED = 503
# SES failed before or after it took the mail; a 5xx with any other code is from a server in between.
_UNSURE = frozenset({"InternalFailure", "InternalServiceErrorException", "InternalServerError"})
_QUOTA = frozenset({"LimitExceededException", "ACCOUNT_DAILY_QUOTA_EXCEEDED"})
_STOPPED = {
    "AccountSuspendedException": _SUSPENDED,
    "SendingPausedException": _PAUSED,
    "MailFromDomainNotVerifiedException": _UNVERIFIED,
    "NotFoundException": _NO_SET,
    # Per entry of a bulk send; two names differ between the API's model and its documentation.
    "MAIL_FROM_DOMAIN_NOT_VERIFIED": _UNVERIFIED,
    "CONFIGURATION_SET_NOT_FOUND": _NO_SET,
    "CONFIGURATION_SET_DOES_NOT_EXIST": _NO_SET,
    "TEMPLATE_NOT_FOUND": _UNKNOWN,
    "TEMPLATE_DOES_NOT_EXIST": _UNKNOWN,
    "ACCOUNT_SUSPENDED": _SUSPENDED,
    "ACCOUNT_SENDING_PAUSED": _PAUSED,
    "CONFIGURATION_SET_SENDING_PAUSED": _SET_PAUSED,
    "INVALID_SENDING_POOL_NAME": "The configuration set names an IP pool that does not exist: check it in SES",
}
_REJECTED = frozenset(
    {
        "MessageRejected",
        "BadRequestException",
        "MESSAGE_REJECTED",
        "INVALID_PARAMETER",
        "INVALID_PARAMETER_VALUE",
        "FAILED",
    }
)
# Of one entry of a bulk send: its address, since everything else of it is the same for all.
_UNSENDABLE = frozenset({"INVALID_PARAMETER", "INVALID_PARAMETER_VALUE"})
_DAILY = re.compile(r"daily .*quota", re.IGNORECASE)
_NOT_VERIFIED = re.compile(r"not verified", re.IGNORECASE)


def from_code(code: str, message: str = "", status: int = 400, sender: str = "") -> Failure:
    """The failure for an SES error code or for the status of a bulk entry."""
    if code in _QUOTA or (code in _TRANSIENT and _DAILY.search(message)):
        return QuotaReached(code)
    if code in _TRANSIENT or status == _NOT_ACCEPTED:
        return Transient(code=code)
    if code in _UNSURE or status >= 500:
        return Unanswered(code)
    if code in _STOPPED:
        return Stopped(_STOPPED[code], code)
    if code in _REJECTED:
        return _rejection(code, message, sender)
    if status in (401, 403):
        return Stopped(_DENIED, code)
    return Stopped(_UNKNOWN, code)


def _rejection(code: str, message: str, sender: str) -> Failure:
    """An unverified sender stops everything, an unverified recipient (in the sandbox) only that mail."""
    if not _NOT_VERIFIED.search(message):
        return Rejected(UNSENDABLE, code) if code in _UNSENDABLE else Rejected(code=code)
    if sender and _mentions(message, sender):
        return Stopped(_UNVERIFIED, code)
    return Rejected(SANDBOXED, code)


def _mentions(message: str, sender: str) -> bool:
    words = {word.strip(".,;:<>()[]\"'").casefold() for word in message.split()}
    return bool(words & {sender.casefold(), sender.rpartition("@")[2].casefold()})


@contextmanager
def translated(sender: str = "") -> Iterator[None]:
    """Turns exceptions of botocore into the failures above."""
    from botocore import exceptions

    try:
        yield
    except exceptions.ClientError as failure:
        raise _from_response(failure.response, sender) from failure
    except (exceptions.EndpointConnectionError, exceptions.ConnectTimeoutError, exceptions.ProxyConnectionError) as e:
        raise Transient("The email service cannot be reached", type(e).__name__) from e
    except exceptions.NoCredentialsError as failure:
        raise Stopped(_DENIED, "NoCredentials") from failure
    except exceptions.ParamValidationError as failure:
        raise Rejected(code="ParamValidation") from failure
    except (exceptions.HTTPClientError, exceptions.BotoCoreError) as failure:
        raise Unanswered from failure


def _from_response(response: dict[str, Any], sender: str) -> Failure:
    error = response.get("Error", {})
    status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 400)
    return from_code(error.get("Code", ""), error.get("Message", ""), int(status), sender)
