"""How large the package is that Lambda loads: built as `make package` does, for both architectures."""

import tempfile
from pathlib import Path

from bench.table import Row, at_most
from deploy import archive, package


def rows() -> list[Row]:
    return [_row(architecture) for architecture in package.ARCHITECTURES]


def _row(architecture: str) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        package.package("bench", architecture, Path(folder))
        size = (Path(folder) / "deployment.zip").stat().st_size
    return at_most(f"package for {architecture}", size / 1e6, archive.LARGEST / 1e6, " MB")
