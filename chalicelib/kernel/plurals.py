"""Numbers with their nouns: `1 message`, `1,200 messages`."""


def count_of(value: float, singular: str, plural: str = "") -> str:
    return f"{int(value):,} {singular if int(value) == 1 else plural or singular + 's'}"
