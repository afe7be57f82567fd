"""What a verdict costs a warm authorizer, beside the call to PyJWT within it; the difference is the narrow checks and
our own checks of the claims."""

import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from bench.table import Row, at_most

_CALLS = 500
_RUNS = 10


def rows() -> list[Row]:
    import jwt
    from cryptography.hazmat.primitives.asymmetric import rsa

    from chalicelib.access.verify import verify
    from chalicelib.kernel import settings

    private = rsa.generate_private_key(65537, 2048)
    key = jwt.PyJWK.from_dict(jwt.algorithms.RSAAlgorithm.to_jwk(private.public_key(), as_dict=True), "RS256")
    issuer = "https://myteam.cloudflareaccess.com"
    claims = {"aud": ["aud"], "iss": issuer, "exp": int(time.time()) + 3600, "email": "me@example.org", "type": "app"}
    token = jwt.encode(claims, private, "RS256", headers={"kid": "k"})
    current = settings.load({"CF_ACCESS_TEAM_NAME": "myteam", "CF_ACCESS_AUD": "aud"})
    ring = _Ring(key)
    verdicts, decodings = [], []
    for _ in range(_RUNS):
        verdicts.append(_microseconds(lambda: verify(token, current, ring, datetime.now(UTC))))
        decodings.append(_microseconds(lambda: jwt.decode(token, key, ["RS256"], audience="aud", issuer=issuer)))
    whole, alone = statistics.median(verdicts), statistics.median(decodings)
    return [
        at_most(
            "authorizer: a verdict ÷ PyJWT's decode alone",
            whole / alone,
            1.5,
            detail=f"{whole:.0f} µs of {alone:.0f} µs",
        )
    ]


class _Ring:
    def __init__(self, key: Any) -> None:
        self._key = key

    def find(self, kid: str, now: float) -> Any:
        return self._key


def _microseconds(work: Callable[[], object]) -> float:
    begun = time.process_time()
    for _ in range(_CALLS):
        work()
    return (time.process_time() - begun) / _CALLS * 1e6
