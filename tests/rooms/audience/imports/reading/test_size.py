"""A large file takes as much memory as a small one, and no longer per row. Measured in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

ROOT = Path(__file__).parents[5]
HEAD = "email,name,status,optin_time,confirm_time,confirm_ip\n"
_READ = """
import json, resource, sys, time
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile
from chalicelib.audience.imports.reading import files, proofs, recogniser, row_reader

started = time.process_time()
upload = files.open_upload(Path(sys.argv[1]), sys.argv[2])
reading = recogniser.recognise(upload)
counter = proofs.ProofCounter()
count = 0
for row in row_reader.rows(upload, reading):
    counter.add(row)
    count += bool(row.address)
seconds = time.process_time() - started
print(json.dumps({"rows": count, "kb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, "seconds": seconds}))
"""


def measure(path, content_type="text/csv"):
    run = subprocess.run(
        [sys.executable, "-c", _READ, str(path), content_type],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    return json.loads(run.stdout)


def write(path, rows):
    with path.open("w") as file:
        file.write(HEAD)
        for n in range(rows):
            minute = f"{n // 60 % 60:02}:{n % 60:02}"
            file.write(
                f"reader.{n}@example{n % 500}.org,Ann Lee,active,2021-03-04 10:{minute},2021-03-04 11:{minute},"
                f"198.51.{n % 250}.7\n"
            )
    return path


@pytest.mark.slow
def test_memory_is_flat_from_ten_thousand_to_half_a_million_rows(tmp_path):
    few = measure(write(tmp_path / "few.csv", 10_000))
    many = measure(write(tmp_path / "many.csv", 500_000))
    assert (few["rows"], many["rows"]) == (10_000, 500_000)
    assert many["kb"] < few["kb"] + 4096, (few, many)
    # Well above what it takes on an idle machine, and below what would be felt.
    assert many["seconds"] / many["rows"] < 0.0003, many


def test_a_zip_is_not_unpacked_into_memory(tmp_path):
    for name, rows in (("few", 100), ("many", 40_000)):
        with ZipFile(tmp_path / f"{name}.zip", "w", ZIP_DEFLATED) as archive:
            archive.write(write(tmp_path / f"{name}.csv", rows), "subscribed.csv")
    few, many = (measure(tmp_path / f"{name}.zip", "application/zip") for name in ("few", "many"))
    assert many["rows"] == 40_000
    assert many["kb"] < few["kb"] + 4096, (few, many)
