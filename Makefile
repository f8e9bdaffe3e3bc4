# The same words as everywhere: setup, run, check, test, fix. `make` alone lists them.

.DEFAULT_GOAL := help
.PHONY: help setup run check test fix soak bench providers-check snapshots screenshots conformance conformance-docs mutate lock clean
MAKEFLAGS += --no-print-directory

# The first Python of at least 3.11 that can make virtual environments.
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11 python3.14; do \
	"$$python" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& { echo "$$python"; break; }; done)
BIN := .venv/bin
UV ?= $(shell command -v uv || echo $(BIN)/uv)
PIP := $(BIN)/python -m pip --quiet --quiet --disable-pip-version-check
# Checks import the settings, which want a data directory; never the user's own.
CHECK_ENVIRONMENT := AGENTWEB_DATA=$(CURDIR)/.data/check
PRODUCTION_ENVIRONMENT := AGENTWEB_DATA=$(CURDIR)/.data/check AGENTWEB_HTTPS=1 AGENTWEB_HOSTS=agentweb.example
PROSE = README.md CONTRIBUTING.md CHANGELOG.md $(wildcard ARCHITECTURE.md) docs
ARGS ?=

help: ## list these commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## /  make \1|/' | \
		while IFS='|' read -r name text; do printf '%-20s %s\n' "$$name" "$$text"; done

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer with venv is needed (Debian: apt install python3-venv)." >&2; exit 1; }
	@echo "Creating .venv with $(PYTHON)" >&2
	@$(PYTHON) -m venv .venv

# Stamp files: installed once, and again when the pinned requirements change.
.venv/.installed: requirements/base.txt requirements/build.txt pyproject.toml | .venv/bin/python
	@echo "Installing the pinned dependencies (about half a minute, once)" >&2
	@$(PIP) install --require-hashes -r requirements/build.txt
	@$(PIP) install --require-hashes -r requirements/base.txt
	@$(PIP) install --no-build-isolation --no-deps -e .
	@touch $@

.venv/.installed-dev: requirements/dev.txt .venv/.installed
	@echo "Installing the pinned development tools" >&2
	@$(PIP) install --require-hashes -r requirements/dev.txt
	@touch $@

setup: .venv/.installed-dev ## install everything that running, checking and testing need

run: .venv/.installed ## start everything and print a sign-in link (ARGS="--port 8421 --workspace DIR")
	@exec $(BIN)/agentweb up $(ARGS)

check: setup ## lint, format, types, import contracts, prose, templates, migrations, production settings
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(CHECK_ENVIRONMENT) $(BIN)/mypy
	$(CHECK_ENVIRONMENT) $(BIN)/lint-imports
	$(BIN)/typos $(PROSE)
	find templates sessions_app -name '*.html' -exec $(BIN)/djade --check {} +
	$(CHECK_ENVIRONMENT) $(BIN)/python manage.py makemigrations --check --dry-run
	$(PRODUCTION_ENVIRONMENT) $(BIN)/python manage.py check --deploy --fail-level WARNING

test: setup ## check, then all tests on SQLite, on PostgreSQL and in a real browser (BROWSER=0: without)
	@$(BIN)/python -m tests.suite

fix: setup ## repair what lint and format can repair
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	find templates sessions_app -name '*.html' -exec $(BIN)/djade {} +

soak: setup ## many sessions under faults, long forms of properties (ARGS="--seed 123 --runs 1": one again)
	$(BIN)/python -m bench.soak $(ARGS)

bench: setup ## time and memory of the paths that matter, into bench/RESULTS.md (BENCH_TREES, PI_DIR: CONTRIBUTING)
	$(BIN)/python -m bench $(ARGS)
	$(BIN)/python -m bench.pages

providers-check: setup ## jobs against three servers that are not ours, installed into .data (ARGS="--only fakellm==0.3.5")
	$(BIN)/python -m bench.providers_check $(ARGS)

snapshots: setup ## renew the stored snapshots; review the difference like code
	$(BIN)/python -m pytest -m "not browser and not services" --snapshot-update

screenshots: setup ## renew the pictures in docs/screenshots
	$(BIN)/python -m tests.browser.screenshots $(ARGS)

conformance: setup ## play test vectors against the core and the rows (VECTORS=folder)
	@test -n "$(VECTORS)" || { echo "Say which: make conformance VECTORS=folder" >&2; exit 2; }
	$(BIN)/python -m tests.conformance.run $(VECTORS)

conformance-docs: setup ## write docs/conformance.md: every rule and the tests that name it
	$(BIN)/python -m tests.proofs.document

mutate: setup ## break the product in one line at a time and see a named test turn red (ARGS="--only loop")
	$(BIN)/python -m tests.proofs.mutate $(ARGS)

# uv's own lock file names registry hosts; a hashed requirements file does not.
lock: ## pin the newest versions that pyproject.toml allows (needs uv)
	@echo "setuptools>=77" | $(UV) pip compile - --quiet --upgrade --generate-hashes --no-emit-index-url \
		--no-header --python-version 3.11 --universal -o requirements/build.txt
	@$(UV) pip compile pyproject.toml --quiet --upgrade --generate-hashes --no-emit-index-url --no-header \
		--python-version 3.11 --universal -o requirements/base.txt
	@$(UV) pip compile pyproject.toml --quiet --upgrade --extra dev -c requirements/base.txt \
		--generate-hashes --no-emit-index-url --no-header --python-version 3.11 --universal -o requirements/dev.txt

clean: ## remove what can be made again (not your data)
	rm -rf .venv .data .test-results .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build
