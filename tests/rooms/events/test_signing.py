"""Signatures, by the test vectors of the Standard Webhooks libraries."""

import base64

import pytest

from chalicelib.events.webhooks import signing


@pytest.mark.parametrize(
    ("secret", "id", "timestamp", "body", "expected"),
    [
        (
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1614265330,
            b'{"test": 2432232314}',
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        ),
        (
            "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",
            "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk",
            1649367553,
            b'{"email":"test@example.com","username":"test_user"}',
            "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=",
        ),
    ],
)
def test_signatures_are_those_of_the_specification(
    secret: str, id: str, timestamp: int, body: bytes, expected: str
) -> None:
    assert signing.sign(secret, id, timestamp, body) == expected


def test_a_secret_has_the_size_the_specification_asks_for_and_is_unique() -> None:
    secret, other = signing.derive_secret("hook", "key"), signing.derive_secret("hook", "other key")
    assert secret.startswith("whsec_")
    assert len(base64.b64decode(secret.removeprefix("whsec_"))) == 32
    assert secret == signing.derive_secret("hook", "key")
    assert len({secret, other, signing.derive_secret("other hook", "key")}) == 3
