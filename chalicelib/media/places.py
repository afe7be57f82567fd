"""Where the files of a picture are in the bucket.

Whoever is shown a picture sees its place in the link. From the picture's id one could read when it was uploaded, so
what is served lies under another name.
"""

import hashlib

from chalicelib.kernel.aws import objects


def incoming(id: str) -> str:
    """As it was uploaded, with everything a camera writes into it. A rule of the bucket empties this folder daily."""
    return f"incoming/{id}"


def photo(id: str) -> str:
    """As it is served."""
    return f"photos/{_name(id)}"


def small(id: str) -> str:
    """As it is served where many are shown at once."""
    return f"photos/{_name(id)}-small"


def public(name: str) -> str:
    """As everybody may see it, by the name of the copy."""
    return f"public/{name}"


def delete_all(id: str) -> None:
    for place in (incoming(id), photo(id), small(id)):
        objects.delete(place)


def _name(id: str) -> str:
    return hashlib.sha256(f"photo {id}".encode()).hexdigest()[:32]
