"""What importing costs. Write units are those of an exact DynamoDB, for a row that adds somebody new, beside those of
a sign-up without its confirmation. Memory is that of a process which reads a file of this many rows twice, as every
slice does: once to find duplicates, once to judge them."""

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench import emulated, exact
from bench.table import Row, at_most, growth

_ROWS = 1_000
_SIZES = (10_000, 100_000, 500_000)
_BEYOND = 4
_MORE_MEMORY = 1.1


def rows() -> list[Row]:
    with exact.running() as url:
        settings = {"AWS_ENDPOINT_URL_DYNAMODB": url} if url else {}
        found = emulated.run("bench.imports", **settings)
    beyond = found["import"] - found["sign-up"]
    detail = f"{found['import']:.3g}, a sign-up {found['sign-up']:.3g}"
    read = {size: _read_apart(size) for size in _SIZES}
    largest = read[_SIZES[-1]]["seconds"]
    return [
        at_most("import, a new person: write units beyond a sign-up's", beyond, _BEYOND, detail=detail),
        growth("import, memory in MB", {size: one["megabytes"] for size, one in read.items()}, _MORE_MEMORY),
        Row(f"import, reading {_SIZES[-1]:,} rows twice", "", f"{largest:.1f} s"),
    ]


def _read_apart(size: int) -> dict[str, float]:
    """In a process of its own, whose peak is its own."""
    command = [sys.executable, "-m", "bench.imports", str(size)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=600, check=True)
    read: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return read


def read_twice(size: int) -> dict[str, float]:
    from chalicelib.audience.imports import opened
    from chalicelib.audience.imports.reading.model import Wanted

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "list.csv"
        with path.open("w") as stream:
            stream.write("email,name,status,created_at\n")
            for number in range(size):
                stream.write(f"reader{number}@example.net,Reader {number},subscribed,2024-05-06 07:08:09\n")
        begun = time.perf_counter()
        sheets = opened.recognise(path, "text/csv", "", Wanted())
        with opened.people(sheets) as people:
            first = sum(people.find(row).is_first for row in sheets.rows())
        seconds = time.perf_counter() - begun
    assert first == size
    return {"seconds": seconds, "megabytes": _peak_kilobytes() / 1024}


def _peak_kilobytes() -> int:
    """Of this program alone: what `getrusage` says includes the process it was started from."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(next(line for line in status.read_text().splitlines() if line.startswith("VmHWM")).split()[1])


def measure_units() -> dict[str, float]:
    import app
    from bench import audience
    from local.gateway.gateway import Gateway
    from tests.fixtures.client import Client

    counts: dict[str, dict[str, float]] = {}
    audience._flow(Client(Gateway(app.app)), "somebody", counts)
    calls = ("subscribe, new address", "processing a sign-up (worker)")
    return {"sign-up": sum(counts[call]["write units"] for call in calls), "import": import_units(_ROWS)}


def import_units(size: int) -> float:
    """Write units a row."""
    from chalicelib.audience.imports import jobs, service
    from chalicelib.audience.imports.model import Consent, Joined, State

    lines = ["email,name,created_at", *(f"new{n}@example.net,Reader {n},2024-05-06" for n in range(size))]
    shown = service.create("\n".join(lines).encode(), "text/csv")
    service.start(shown.found.id, service.Start(Consent(Joined.DOUBLE, "They confirmed by a link."), "old list"))
    with emulated.Meter() as meter:
        jobs.work(shown.found.id, lambda: True)
    assert service.view(shown.found.id).found.state is State.DONE
    return meter.counts["write units"] / size


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.stdout.write(json.dumps(read_twice(int(sys.argv[1]))) + "\n")
    else:
        emulated.main(measure_units)
