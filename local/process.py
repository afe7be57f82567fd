"""Child processes that never outlive us: stopped in order normally, by the kernel if we are killed."""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def spawn(
    command: Sequence[str], env: Mapping[str, str], *, log: Path | None = None, cwd: Path | None = None
) -> subprocess.Popen[bytes]:
    """Start it in a process group of its own, so that Ctrl-C reaches only us and we can stop everything in order."""
    output = log.open("wb") if log else None
    try:
        return subprocess.Popen(
            command,
            env=dict(env),
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT if output else None,
            process_group=0,
            preexec_fn=end_with_parent,
        )
    finally:
        if output:
            output.close()


def end_with_parent() -> None:
    """From now on the kernel sends us SIGTERM when the process that started us dies, however it dies."""
    if _libc:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def end(process: subprocess.Popen[bytes], patience: float = 10) -> None:
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(patience)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
