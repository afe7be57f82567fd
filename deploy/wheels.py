"""The wheels that go into the package, checked against the hashes in requirements.txt before Chalice sees them.

Chalice would take unchecked files: where this machine's do not fit Lambda, it asks pip for others by name and version
alone. So Lambda's are downloaded here first, and Chalice gets a pip that knows this folder and no index.
"""

import subprocess
import sys
from pathlib import Path

# Of Lambda's machines: what wheels call them, and the C library they have, which is newer from Python 3.12 on.
_MACHINES = {"x86_64": "x86_64", "arm64": "aarch64"}
_OLDEST_GLIBC, _GLIBC = 17, 26 if sys.version_info < (3, 12) else 34


def download(requirements: Path, architecture: str, folder: Path) -> None:
    """Every wheel of the list that Lambda needs; none is built here, and a file with another hash ends it."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--require-hashes", "--no-deps", "--only-binary=:all:"]
    target = ["--implementation=cp", f"--abi={_abi()}", *(f"--platform={name}" for name in _platforms(architecture))]
    where = ["--dest", str(folder), "-r", str(requirements)]
    run = subprocess.run([*pip, *target, *where], capture_output=True, text=True, check=False)
    if run.returncode:
        raise SystemExit(f"pip download failed:\n{run.stdout}{run.stderr}")


def environment(architecture: str, folder: Path) -> dict[str, str]:
    """Settings for a pip that finds what is in the folder and nothing else, and takes this machine for Lambda's."""
    return {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(folder.resolve()),
        "PIP_NO_DEPS": "1",
        "PIP_ONLY_BINARY": ":all:",
        "PIP_IMPLEMENTATION": "cp",
        "PIP_ABI": _abi(),
        "PIP_PLATFORM": " ".join(_platforms(architecture)),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }


def _platforms(architecture: str) -> list[str]:
    """pip takes a platform literally, so every C library that Lambda's can stand in for is named."""
    machine = _MACHINES[architecture]
    versions = [f"manylinux_2_{minor}_{machine}" for minor in range(_OLDEST_GLIBC, _GLIBC + 1)]
    return [*versions, f"manylinux2014_{machine}"]


def _abi() -> str:
    return f"cp{sys.version_info.major}{sys.version_info.minor}"
