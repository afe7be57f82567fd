"""What can go wrong, by meaning. Only `web` knows which HTTP status each becomes.

GnaError
├── Invalid           the request is not valid; the reason may be shown
├── TooLarge          a file that has to be sent in another way
├── Unauthenticated   the caller is not known
├── Refused           the caller is known and may not do this
├── NotFound
├── Conflict          not allowed in this state, or already taken
├── TooMany           a limit is reached; try again later
├── Unavailable       a service does not answer; try again later
├── Misconfigured     the operator has to set something; details go to the log only
└── Crashed           a defect; details go to the log only
"""

from chalicelib.kernel.wording import for_readers


class GnaError(Exception):
    """`reason` is written for the person who reads it and never repeats what they sent. `values` are put into its
    `%(name)s`; pages translate `sentence` first."""

    def __init__(self, reason: str, **values: str | int) -> None:
        self.sentence, self.values = reason, values
        self.reason = reason % values if values else reason
        super().__init__(self.reason)


class Invalid(GnaError):
    pass


class TooLarge(GnaError):
    pass


class Unauthenticated(GnaError):
    pass


class Refused(GnaError):
    pass


class NotFound(GnaError):
    pass


class Conflict(GnaError):
    pass


class TooMany(GnaError):
    def __init__(self, reason: str, retry_after: int) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


class Unavailable(GnaError):
    def __init__(self, reason: str = for_readers("Service unavailable"), retry_after: int = 5) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


class Misconfigured(GnaError):
    pass


class Crashed(GnaError):
    def __init__(self) -> None:
        super().__init__(for_readers("Something went wrong on our side"))
