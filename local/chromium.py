"""The browser for the browser tests: find it, or install it (`python -m local.chromium`)."""

import os
import shutil
import subprocess
import sys

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find() -> str | None:
    given = os.environ.get("CHROMIUM")
    return given or next((path for name in _NAMES if (path := shutil.which(name))), None)


def main() -> int:
    """Install it from Debian's packages if that is allowed; otherwise the tests are skipped, and say so."""
    if not find() and (right := _right()) is not None:
        print("gna: installing chromium for the browser tests")
        for arguments in (["update", "-q"], ["install", "-qq", "-y", "--no-install-recommends", "chromium"]):
            subprocess.run([*right, "apt-get", *arguments], stdout=subprocess.DEVNULL, check=False)
    if not find() and os.environ.get("CI") == "true":
        print("gna: CI=true, but there is no chromium and it could not be installed", file=sys.stderr)
        return 1
    return 0


def _right() -> list[str] | None:
    """The command prefix that lets us use apt-get, or None if we may not."""
    if not shutil.which("apt-get"):
        return None
    if os.geteuid() == 0:
        return []
    asked = shutil.which("sudo") and subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False)
    return ["sudo", "-n"] if asked and asked.returncode == 0 else None


if __name__ == "__main__":
    sys.exit(main())
