"""`python -m deploy.licences`: writes the page of licences in the deployed package, from the packages' metadata."""

import re
import sys
from importlib.metadata import metadata
from pathlib import Path

PAGE = Path("docs/licences.md")
REQUIREMENTS = Path("requirements.txt")

# Licences that allow distributing the package, also in a closed deployment. A person has to look at any other.
ALLOWED = re.compile(r"(MIT(-0|-CMU)?|BSD(-[23]-Clause)?|Apache-2\.0|ISC|PSF-2\.0|Unlicense)\Z")
_CLASSIFIERS = {
    "MIT License": "MIT",
    "BSD License": "BSD",
    "Apache Software License": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "The Unlicense (Unlicense)": "Unlicense",
}


def page() -> str:
    rows = [f"| {name} | {version} | {licence(name)} |" for name, version in pinned()]
    return "\n".join(
        [
            "# Licences",
            "",
            "What the deployed package carries, as its packages say themselves; written by `make pages`.",
            "",
            "| package | version | licence |",
            "|---|---|---|",
            *rows,
            "",
        ]
    )


def pinned() -> list[tuple[str, str]]:
    return re.findall(r"^([\w.-]+)==(\S+)", REQUIREMENTS.read_text(), re.MULTILINE)


def licence(name: str) -> str:
    """From the expression, the field or the classifiers, the most exact first."""
    described = metadata(name)
    for field in ("License-Expression", "License"):
        value = str(described[field] or "") if field in described else ""
        if value and value != "Dual License" and len(value) < 60:
            return _CLASSIFIERS.get(value, value)
    classifiers = [
        text.rsplit(" :: ", 1)[-1] for text in described.get_all("Classifier") or [] if text.startswith("License")
    ]
    return " OR ".join(sorted({_CLASSIFIERS.get(text, text) for text in classifiers})) or "unknown"


def refused() -> list[str]:
    return [
        name
        for name, _ in pinned()
        if not any(ALLOWED.match(part) for part in re.split(r" OR | AND |/", licence(name)))
    ]


def main() -> int:
    PAGE.write_text(page())
    for name in refused():
        print(f"gna: the licence of {name} is {licence(name)}: decide whether it may be passed on", file=sys.stderr)
    return bool(refused())


if __name__ == "__main__":
    sys.exit(main())
