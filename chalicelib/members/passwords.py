"""Password hashes: bcrypt, and the same work for whoever has none."""

from chalicelib.members import model

# Two to the power of this many rounds, about a quarter of a second.
COST = 12
# The hash of a password nobody has. It is compared with when there is none, so that the time of the answer does not
# tell whether an address has an account. It is written down, because making it would take as long once more.
_NOBODYS = b"$2b$12$hbT5f9Dfj.7xXDoXKMZ5B.rbZxMTCGnrXPrvACiyOVkTdFLJu/czy"


def make_hash(password: str) -> str:
    """Of a password that `model.check_password` has accepted."""
    import bcrypt

    return bcrypt.hashpw(model.normalize_password(password).encode(), bcrypt.gensalt(COST)).decode()


def matches(password: str, stored: str | None) -> bool:
    """Costs one hash, whatever is given: also without a stored hash, and for what is too long to be a password."""
    import bcrypt

    if stored is None or model.is_too_long(password):
        bcrypt.checkpw(b"", _NOBODYS)
        return False
    return bcrypt.checkpw(model.normalize_password(password).encode(), stored.encode())
