"""`make package`: builds `deployment.zip` and `template.json` in `build/<stage>/`."""

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from deploy import archive, functions, template, translations, wheels

ROOT = Path(__file__).parent.parent
ARCHITECTURES = ("x86_64", "arm64")

_PASSED_ON = ("PATH", "HOME", "TMPDIR", "LANG", "SSL_CERT_FILE")


def package(stage: str, architecture: str, build: Path) -> Path:
    """Build in a copy of the project that contains only what is deployed; return the path of the template."""
    project, output, checked = build / "project", build / "chalice", build / "wheels"
    for folder in (project, output, checked):
        shutil.rmtree(folder, ignore_errors=True)
    _copy_project(project, stage, architecture)
    wheels.download(project / "requirements.txt", architecture, checked)
    _run_chalice(project, stage, output, wheels.environment(architecture, checked))
    finished = template.finish(json.loads((output / "sam.json").read_text()))
    template.write(finished, build / "template.json")
    archive.pack(output / "deployment.zip", build / "deployment.zip")
    return build / "template.json"


def _copy_project(project: Path, stage: str, architecture: str) -> None:
    for name in ("chalicelib", "vendor"):
        shutil.copytree(ROOT / name, project / name, ignore=shutil.ignore_patterns("__pycache__"))
    translations.compile_into(project / "vendor" / "templates" / "translations")
    for name in ("app.py", "requirements.txt"):
        shutil.copy(ROOT / name, project / name)
    folder = project / ".chalice"
    folder.mkdir()
    all_functions = functions.load()
    config = {
        "version": "2.0",
        "app_name": "gna",
        "stages": {stage: functions.stage_config(all_functions, architecture)},
    }
    (folder / "config.json").write_text(json.dumps(config))
    for function in all_functions:
        policy = functions.policy(function, f"/aws/lambda/${{AWS::StackName}}-{function.logical_id}-*")
        (folder / function.policy_file).write_text(json.dumps(policy))
    template.write(template.to_merge(), folder / "merge.json")


def _run_chalice(project: Path, stage: str, output: Path, pip: dict[str, str]) -> None:
    """Without our own settings in the environment, so that none of them can end up in a package."""
    passed_on = {name: value for name, value in os.environ.items() if name in _PASSED_ON}
    settings = {"AWS_DEFAULT_REGION": "us-east-1", "GNA_PREFIX": f"gna-{stage}"}
    environment = passed_on | settings | pip
    chalice = [sys.executable, "-c", "from chalice.cli import main; main()", "package", "--stage", stage]
    options = ["--merge-template", ".chalice/merge.json", str(output.resolve())]
    run = subprocess.run(
        [*chalice, *options], cwd=project, env=environment, capture_output=True, text=True, check=False
    )
    if run.returncode or "Could not install dependencies" in run.stdout:
        raise SystemExit(f"chalice package failed:\n{run.stdout}{run.stderr}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stage", default="dev")
    parser.add_argument("--arch", choices=ARCHITECTURES, default="arm64")
    chosen = parser.parse_args()
    build = ROOT / "build" / chosen.stage
    package(chosen.stage, chosen.arch, build)
    size = (build / "deployment.zip").stat().st_size
    print(f"{build.relative_to(ROOT)}: deployment.zip ({size / 1e6:.1f} MB, {chosen.arch}), template.json")


if __name__ == "__main__":
    main()
