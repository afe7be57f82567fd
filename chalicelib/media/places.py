"""Where the files of a picture are in the bucket."""

from chalicelib.kernel.aws import objects


def incoming(id: str) -> str:
    """As it was uploaded, with everything a camera writes into it. A rule of the bucket empties this folder daily."""
    return f"incoming/{id}"


def photo(id: str) -> str:
    """As it is served."""
    return f"photos/{id}"


def small(id: str) -> str:
    """As it is served where many are shown at once."""
    return f"photos/{id}-small"


def delete_all(id: str) -> None:
    for place in (incoming(id), photo(id), small(id)):
        objects.delete(place)
