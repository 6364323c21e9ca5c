# Two commands matter: `make demo` and `make test`. Each builds what it needs.
PYTHON ?= python3
VENV ?= .venv
ARGS ?=
# Test processes side by side; `make test WORKERS=0` runs the tests in one.
WORKERS ?= 2

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile $(ARGS)
SOURCES := $(wildcard pullback tests tools examples benchmarks docs)

.PHONY: demo test test-quick test-full test-explorer bench lint format docs clean

demo: $(VENV)/.demo
	$(BIN)/python examples/digits.py $(ARGS)

test: $(VENV)/.dev
	$(PYTEST)

test-quick: $(VENV)/.dev
	$(PYTEST) -m "not slow"

test-full: $(VENV)/.dev
	PULLBACK_TEST_FULL=1 $(PYTEST)

# Drives the explorer in Chromium and judges maps with the libraries of npm. It needs
# Debian's packages chromium, nodejs (20 or newer) and npm.
EXPLORER := $(VENV)/explorer

test-explorer: $(VENV)/.dev
	npm install --silent --no-fund --no-audit --prefix $(EXPLORER) playwright-core@1 \
	  source-map@0.8 @jridgewell/trace-mapping@0.3
	$(BIN)/python tests/explorer/pages.py $(EXPLORER)/pages
	NODE_DEPS=$(EXPLORER) node tests/explorer/judge.mjs $(EXPLORER)/pages
	NODE_DEPS=$(EXPLORER) node tests/explorer/drive.mjs $(EXPLORER)/pages docs/pictures

# `make bench-import` runs the one benchmark of that name.
bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks $(ARGS)

bench-%: $(VENV)/.bench
	$(BIN)/python -m benchmarks $* $(ARGS)

lint: $(VENV)/.dev
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/basedpyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports
	$(BIN)/python tools/budget.py

format: $(VENV)/.dev
	$(BIN)/ruff check --fix-only --exit-zero $(SOURCES)
	$(BIN)/ruff format $(SOURCES)

docs: $(VENV)/.dev
	$(BIN)/python -m sphinx -n -W --keep-going -q -b html docs docs/_build/html

clean:
	rm -rf $(VENV) docs/_build build *.egg-info .pytest_cache .ruff_cache
	find $(SOURCES) -name __pycache__ -type d -prune -exec rm -rf {} +

# An install is done once, and again when pyproject.toml changes.
$(VENV)/.%: pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "Installing pullback[$*] into $(VENV) ..."
	@$(PIP) --editable '.[$*]'
	@touch $@

$(VENV)/pyvenv.cfg:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "Pullback needs Python 3.11 or newer, and '$(PYTHON)' is missing or older." \
	    "Name another: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "'$(PYTHON) -m venv' failed; some systems package it as python3-venv." >&2; \
	  exit 1; }
