"""SES's own check of addresses before it sends to them (Auto Validation, since December 2025). It belongs to a
configuration set, so emails to people who were imported have one of their own.

https://docs.aws.amazon.com/ses/latest/dg/email-validation-auto.html
"""

from chalicelib.kernel import log, settings
from chalicelib.kernel.aws import session
from chalicelib.kernel.errors import GnaError
from chalicelib.mail import failures

# SES does not send to addresses it takes to be invalid, by its own judgement of the account.
_MANAGED = {
    "ConditionThreshold": {
        "ConditionThresholdEnabled": "ENABLED",
        "OverallConfidenceThreshold": {"ConfidenceVerdictThreshold": "MANAGED"},
    }
}


def configuration_set() -> str:
    """For emails to imported people; the usual one where there is no other."""
    current = settings.current()
    return current.validating_configuration_set or current.configuration_set


def switch_on() -> bool:
    """Whether the account has it. An account or a region without it sends as before: it is a help, no condition."""
    name = settings.current().validating_configuration_set
    if not name:
        return False
    try:
        with failures.translated():
            session.client("sesv2").put_configuration_set_suppression_options(
                ConfigurationSetName=name, SuppressedReasons=["BOUNCE", "COMPLAINT"], ValidationOptions=_MANAGED
            )
    except GnaError as failure:
        log.exception("mail.no_validation", failure)
        return False
    return True
