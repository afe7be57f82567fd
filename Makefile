# All commands of the project; `make help` lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EMULATOR := .emulator-venv
AUDIT := .audit-venv
# Install only packages whose hashes are in the requirements; `make pins` writes them.
PINNED := --disable-pip-version-check --require-hashes
INSTALL := $(PYTHON) local/progress.py

STAGE ?= dev
ARCH ?= arm64

.PHONY: help run reset demo feed emulator quick test check format package deploy secrets resources answers redrive restore doctor pages translations pins bench load faults pictures

help:
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

run: ## run Gna on this machine until Ctrl-C (PORT, MAIL_PORT, PROVIDERS_PORT, LOCAL_DIR, LOCAL_TICK)
	@test -e $(VENV)/.run -a -e $(EMULATOR)/.ready || echo "gna: the first start installs what Gna needs: one to three minutes; after that a start takes seconds"
	@$(MAKE) --no-print-directory -s -j2 $(VENV)/.run $(EMULATOR)/.ready
	@exec $(BIN)/python -m local.run

reset: $(VENV)/.run ## delete the local data
	@$(BIN)/python -m local.reset

demo: $(VENV)/.run $(EMULATOR)/.ready ## add demo subscribers and campaigns
	@$(BIN)/python -m local.demo

feed: $(VENV)/.run ## show what Gna would send from a feed: make feed URL=https://… [SINCE=2026-11-01]
	@$(BIN)/python -m local.feed check "$(URL)" $(if $(SINCE),--since $(SINCE))

emulator: $(EMULATOR)/.ready ## install the embedded AWS

quick: $(VENV)/.ready ## lint, types and in-memory tests, in about a minute
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q -n auto --dist loadfile -m "not emulator and not browser and not deployed and not slow"

test: $(VENV)/.ready $(EMULATOR)/.ready ## run the whole suite
	@$(BIN)/python -m local.chromium
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

$(VENV)/.run: requirements.txt local/requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "gna: Python 3.11 or later is needed: PYTHON=python3.x make ...")'
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { echo "gna: this Python cannot make virtual environments: apt install python3-venv" >&2; exit 1; }
	@test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	@$(INSTALL) "the app" $(BIN)/pip install $(PINNED) -r local/requirements.txt
	@touch $@

$(VENV)/.ready: $(VENV)/.run requirements-dev.txt
	@$(INSTALL) "the development tools" $(BIN)/pip install $(PINNED) -r requirements-dev.txt
	@touch $@

# A separate environment, because it pins a different botocore than the app.
$(EMULATOR)/.ready: local/emulator-requirements.txt
	@test -x $(EMULATOR)/bin/pip || $(PYTHON) -m venv $(EMULATOR)
	@$(INSTALL) "the embedded AWS" $(EMULATOR)/bin/pip install $(PINNED) -r local/emulator-requirements.txt
	@touch $@

# A separate environment, because it has twenty dependencies of its own.
$(AUDIT)/.ready: deploy/audit-requirements.txt
	@test -x $(AUDIT)/bin/pip || $(PYTHON) -m venv $(AUDIT)
	@$(INSTALL) "pip-audit" $(AUDIT)/bin/pip install $(PINNED) -r deploy/audit-requirements.txt
	@touch $@

check: $(VENV)/.ready ## check format, lint, types, architecture, template, licences, known vulnerabilities
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/cfn-lint deploy/resources.yaml
	$(BIN)/python -m pytest -q tests/test_architecture.py tests/test_conventions.py tests/deploy/test_resources.py tests/deploy/test_pages.py
	-@$(MAKE) --no-print-directory -s $(AUDIT)/.ready
	@$(BIN)/python -m deploy.audit

format: $(VENV)/.ready ## format the code and fix lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

package: $(VENV)/.ready ## build the zip and the template in build/<stage> (STAGE=prod ARCH=arm64|x86_64)
	$(BIN)/python -m deploy.package --stage $(STAGE) --arch $(ARCH)

deploy: package ## package and deploy to AWS, with the settings in deploy/stages/<stage>.env
	$(BIN)/python -m deploy.up --stage $(STAGE)

secrets: $(VENV)/.ready ## generate missing secrets of a stage in the parameter store; ROTATE=tokens adds a key for tokens (STAGE, ROTATE)
	$(BIN)/python -m deploy.secrets --stage $(STAGE) $(if $(ROTATE),--rotate $(ROTATE))

resources: $(VENV)/.ready ## deploy only tables, queues and topics, for plain `chalice deploy`
	$(BIN)/python -m deploy.plain resources --stage $(STAGE) --arch $(ARCH)

answers: $(VENV)/.ready ## after each plain `chalice deploy`: restore gateway responses and queue settings
	$(BIN)/python -m deploy.plain answers --stage $(STAGE)

redrive: $(VENV)/.ready ## put messages of a dead-letter queue back on their queue (STAGE, QUEUE=audience|sending|deliveries|feed|events|mail-events|members|media)
	$(BIN)/python -m deploy.redrive --stage $(STAGE) --queue $(QUEUE)

restore: $(VENV)/.ready ## count people missing here but present in restored tables; COPY=yes brings them back (STAGE, COPY)
	@$(BIN)/python -m deploy.restore --stage $(STAGE) $(if $(COPY),--copy)

doctor: $(VENV)/.ready ## report what is wrong, why it matters and how to fix it, before and after deploying
	@$(BIN)/python -m deploy.doctor --stage $(STAGE)

load: $(VENV)/.run $(EMULATOR)/.ready ## load test: many people at once while a campaign is sent (LOAD_SECONDS, LOAD_CROWD, LOAD_CONCURRENCY, LOAD_ADMIN_EVERY, LOAD_EXACT)
	@$(BIN)/python -m local.trial.load

faults: $(VENV)/.run $(EMULATOR)/.ready ## the load test with injected faults, then check the data (FAULT_SECONDS, FAULT_SEED)
	@$(BIN)/python -m local.trial.faults

pages: $(VENV)/.ready ## generate docs/licences.md and docs/privacy.md from the code
	@$(BIN)/python -m deploy.licences
	@$(BIN)/python -m deploy.privacy

translations: $(VENV)/.ready ## bring the catalogues in templates/translations in step with the texts readers see
	@$(BIN)/python -m deploy.translations

# Does not install the requirements first: that fails while a new version has no hashes.
pins: ## after changing a version: write the hashes of all pinned packages into the requirements
	@test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m deploy.pins

bench: $(VENV)/.ready $(EMULATOR)/.ready ## run the benchmarks in bench/ and print one table
	$(BIN)/python -m bench

pictures: $(VENV)/.ready $(EMULATOR)/.ready ## retake the README's screenshots with the tests of whole days
	@$(BIN)/python -m local.chromium
	@rm -rf artefacts/day && PICTURES=1 $(BIN)/python -m pytest -q tests/browser/test_day_in_the_life.py tests/browser/test_member_day.py tests/browser/test_curator_day.py tests/browser/test_first_hour.py
	@mkdir -p docs/pictures && cp artefacts/day/*.png docs/pictures/
