# make demo    a local GitHub, a failing check, a fix: no account, no key
# make test    the suite, in under ten minutes
# make test-all  with every combination of command and actor, a storm, and kills of the real process tree
# make test-machines  the journeys on PostgreSQL and Redis, with two machines' processes, in GitHub's newer API (long)
# make test-browser  a person's whole way in Chromium, read by axe-core; PICTURES=docs/images makes README's anew
# make test-image  the Dockerfile's commands in a clean Debian root, without a container engine (root, debootstrap)
# make test-prism  the local GitHub through Prism, held against GitHub's whole OpenAPI document (installed once, from npm)
# make test-agents  real OpenCode, Codex, Claude Code and Gemini against a scripted model and a real LiteLLM gateway (installed once, from npm and PyPI)
# make check   format, lint, types, floors, unit tests: under a minute
# make up      web, workers, sweep and Redis on this machine
# make bench   measure the readers and the gate
# make bench-logs  the readers alone, beside a line loop and grep
# make docs    write the parts of docs/ that are made from the code
# make lock    new lock files (ARGS=--upgrade moves everything)
# make clean   remove the environment
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --no-input
LOCKED := --no-deps --only-binary :all: --require-hashes
UV     := uv==0.13.9
COMPILE := $(VENV)/lock/bin/uv pip compile --quiet --universal --python-version 3.11 \
           --generate-hashes --no-header --no-annotate --extra postgres --extra build --extra demo

# Where it is set, each of the hundreds of processes of the suite would compile the project anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test test-all test-browser test-image test-prism test-agents test-machines check up bench bench-logs docs lock clean

help:
	@sed -n 's/^# make /  make /p' Makefile

demo: $(VENV)/run.stamp
	@$(BIN)/python -m tests.github --demo

test: $(VENV)/dev.stamp
	@$(BIN)/python -m pytest -q -m "not long and not agents"

test-all: $(VENV)/dev.stamp
	@$(BIN)/python -m pytest -q -m "not agents"

test-browser: $(VENV)/dev.stamp
	@$(BIN)/python -m pytest -q -n0 -rs -m long tests/browser

test-image: $(VENV)/dev.stamp
	@$(BIN)/python -m tests.image

PRISM := @stoplight/prism-cli@5.16.0 @octokit/openapi@23.0.2
test-prism: $(VENV)/dev.stamp
	@home="$${REMEDY_TEST_PRISM:-$${XDG_CACHE_HOME:-$$HOME/.cache}/remedy-prism}"; mkdir -p "$$home"; \
	npm install --silent --no-save --no-audit --no-fund --ignore-scripts --fetch-retries=1 --prefix "$$home" $(PRISM); \
	PRISM="$$home/node_modules/.bin/prism" GITHUB_OPENAPI="$$home/node_modules/@octokit/openapi/generated/api.github.com.json" \
	$(BIN)/python -m pytest -q -n0 -rs -m long tests/contracts/local_github/test_prism.py

test-agents: $(VENV)/dev.stamp
	@REMEDY_TEST_AGENTS="$${REMEDY_TEST_AGENTS:-$${XDG_CACHE_HOME:-$$HOME/.cache}/remedy-agents}" $(BIN)/python -m pytest -n0 -m agents -rs -v tests/agents

# psycopg complains of connections that a test left to the end of its process; SQLite's driver never did.
test-machines: $(VENV)/dev.stamp
	@JOURNEYS=postgresql JOURNEYS_GITHUB=other $(BIN)/python -m pytest -q -W "ignore::pytest.PytestUnraisableExceptionWarning" tests/journeys

check: $(VENV)/dev.stamp
	@$(BIN)/python -m ruff format --check --output-format=concise . || { echo "make: run $(BIN)/ruff format ."; exit 1; }
	@$(BIN)/python -m ruff check --quiet .
	@$(BIN)/python -m mypy & types=$$!; $(BIN)/python -m pytest -q -n auto -m "not slow" tests/unit; tests=$$?; wait $$types && exit $$tests

up: $(VENV)/run.stamp
	@exec $(BIN)/python -m app.cli up

bench: $(VENV)/dev.stamp
	@$(BIN)/python -m tests.bench

bench-logs: $(VENV)/dev.stamp
	@$(BIN)/python -m tests.bench logs

$(VENV)/python.stamp: requirements.lock requirements-dev.lock
	@command -v $(PYTHON) >/dev/null || { echo "make: no '$(PYTHON)'. Install Python 3.11 or newer, or say make PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "make: $$($(PYTHON) --version) is too old. Remedy needs Python 3.11 or newer: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "make: this Python cannot make environments. On Debian or Ubuntu: apt install python3-venv"; exit 1; }
	@echo "Making $(VENV) with $$($(PYTHON) --version)"
	@rm -rf $(VENV) && $(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/run.stamp: requirements.lock pyproject.toml $(VENV)/python.stamp
	@echo "Installing $$(grep -c '==' $<) packages (about half a minute, once)"
	@$(PIP) install -q $(LOCKED) -r $< > $(VENV)/install.log 2>&1 || { tail -n 15 $(VENV)/install.log; echo "make: the install failed; all of it is in $(VENV)/install.log"; exit 1; }
	@$(PIP) install -q --no-deps --no-build-isolation -e . >> $(VENV)/install.log 2>&1 || { tail -n 15 $(VENV)/install.log; exit 1; }
	@touch $@

$(VENV)/dev.stamp: requirements-dev.lock $(VENV)/run.stamp
	@echo "Installing the tools for tests"
	@$(PIP) install -q $(LOCKED) -r $< > $(VENV)/install-dev.log 2>&1 || { tail -n 15 $(VENV)/install-dev.log; echo "make: the install failed; all of it is in $(VENV)/install-dev.log"; exit 1; }
	@touch $@

docs: $(VENV)/dev.stamp
	@$(BIN)/python -m tests.reference

lock: $(VENV)/run.stamp
	@$(PYTHON) -m venv $(VENV)/lock && $(VENV)/lock/bin/python -m pip install -q $(UV)
	@$(COMPILE) --extra dev $(ARGS) -o requirements-dev.lock pyproject.toml
	@$(COMPILE) -c requirements-dev.lock $(ARGS) -o requirements.lock pyproject.toml

clean:
	@rm -rf $(VENV)
