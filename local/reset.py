"""`make reset`: delete the data of the local Gna. Only files it made itself are removed, whatever LOCAL_DIR says."""

import fcntl
import os
import shutil
import sys

from local import options as _options
from local.options import BadOption

_OURS = ("emulator", "mailbox", "providers", "site", "secrets.json", "running.json", "lock")


def main() -> int:
    try:
        folder = _options.read(os.environ).folder
    except BadOption as failure:
        print(f"gna: {failure}", file=sys.stderr)
        return 1
    if not folder.is_dir():
        print(f"gna: there is no data in {folder}")
        return 0
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"gna: Gna is running on {folder}: stop it first", file=sys.stderr)
            return 1
        for name in _OURS:
            path = folder / name
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
    if not any(folder.iterdir()):
        folder.rmdir()
    print(f"gna: {folder} deleted")
    return 0


if __name__ == "__main__":
    sys.exit(main())
