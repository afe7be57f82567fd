"""Downloads the wheels for the package and checks them against the hashes in requirements.txt.

Chalice itself does not check hashes: for packages whose local files do not fit Lambda, it asks pip by name and
version only. So the wheels for Lambda are downloaded first, and Chalice gets a pip that sees only this folder.
"""

import subprocess
import sys
from pathlib import Path

# How wheels name Lambda's architectures, and the versions of its C library, which is newer from Python 3.12 on.
_MACHINES = {"x86_64": "x86_64", "arm64": "aarch64"}
_OLDEST_GLIBC, _GLIBC = 17, 26 if sys.version_info < (3, 12) else 34


def download(requirements: Path, architecture: str, folder: Path) -> None:
    """Download every required wheel for Lambda. Nothing is built, and a file with another hash is an error."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--require-hashes", "--no-deps", "--only-binary=:all:"]
    target = ["--implementation=cp", f"--abi={_abi()}", *(f"--platform={name}" for name in _platforms(architecture))]
    files = ["--dest", str(folder), "-r", str(requirements)]
    run = subprocess.run([*pip, *target, *files], capture_output=True, text=True, check=False)
    if run.returncode:
        raise SystemExit(f"pip download failed:\n{run.stdout}{run.stderr}")


def environment(architecture: str, folder: Path) -> dict[str, str]:
    """Settings that make pip use only the files in the folder, and choose them for Lambda's platform."""
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
    """Every C library version Lambda is compatible with, because pip matches platforms literally."""
    machine = _MACHINES[architecture]
    versions = [f"manylinux_2_{minor}_{machine}" for minor in range(_OLDEST_GLIBC, _GLIBC + 1)]
    return [*versions, f"manylinux2014_{machine}"]


def _abi() -> str:
    return f"cp{sys.version_info.major}{sys.version_info.minor}"
