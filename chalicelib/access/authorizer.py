"""The authorizer's function: turns a verdict into what API Gateway understands. Loads neither app.py nor Chalice.

API Gateway knows four refusals, and `deploy/service.yaml` gives each its status and body:
raising exactly "Unauthorized" is a 401; a Deny is a 403 (its reason travels in the context); raising anything else is
AUTHORIZER_FAILURE, a 503; and an answer without a policy is AUTHORIZER_CONFIGURATION_ERROR, a 500.
Every failure here ends as one of them, so no failure lets anybody in.
"""

from typing import Any

from chalicelib.access import keys
from chalicelib.access.verify import Identity, verify
from chalicelib.kernel import clock, log, settings
from chalicelib.kernel.errors import Misconfigured, Refused, Unauthenticated, Unavailable


class Unauthorized(Exception):
    def __init__(self) -> None:
        super().__init__("Unauthorized")


def handle(event: dict[str, Any], context: Any) -> dict[str, Any]:
    log.begin(getattr(context, "aws_request_id", None))
    return decide(event.get("authorizationToken") or "", event["methodArn"])


def decide(token: str, method_arn: str) -> dict[str, Any]:
    try:
        current = settings.current()
        identity = verify(token, current, keys.keys_from(current.access_certs_url), clock.now())
    except Unauthenticated:
        raise Unauthorized from None
    except Refused as refusal:
        log.warning("authorizer.refused", reason=refusal.reason)
        log.metric("AccessRefused")
        return _policy("Deny", method_arn, "nobody", {"reason": refusal.reason})
    except Misconfigured as failure:
        log.error("misconfigured", reason=failure.reason)
        return {}
    except Unavailable:
        raise
    except Exception as failure:
        log.exception("authorizer.crashed", failure)
        log.metric("Crash")
        raise Unavailable from None
    return _policy("Allow", method_arn, identity.name, _context(identity))


def _context(identity: Identity) -> dict[str, str]:
    return {"identity": identity.name, "kind": identity.kind, "subject": identity.subject}


def _policy(effect: str, method_arn: str, principal: str, context: dict[str, str]) -> dict[str, Any]:
    """The policy covers /admin and nothing else, whichever route the authorizer is attached to."""
    stage = "/".join(method_arn.split("/")[:2])
    resources = [f"{stage}/*/admin", f"{stage}/*/admin/*"]
    statement = {"Effect": effect, "Action": ["execute-api:Invoke"], "Resource": resources}
    return {
        "principalId": principal,
        "policyDocument": {"Version": "2012-10-17", "Statement": [statement]},
        "context": context,
    }
