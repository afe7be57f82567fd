# Everything a person does with Gna. `make help` lists it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

STAGE ?= dev
ARCH ?= arm64

.PHONY: help test check format package

help:
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

$(VENV)/.ready: requirements.txt requirements-dev.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@

test: $(VENV)/.ready ## run the whole suite
	$(BIN)/python -m pytest

check: $(VENV)/.ready ## format, lint, types, template
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/cfn-lint .chalice/resources.yaml

format: $(VENV)/.ready ## put the code into its form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

package: $(VENV)/.ready ## build/<stage>: the zip and the template (STAGE=prod ARCH=arm64|x86_64)
	$(BIN)/python -m deploy.package --stage $(STAGE) --arch $(ARCH)
