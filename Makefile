# Everything a newcomer needs is `make demo` and `make test`; the rest is for those who change the code.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BENCHMARKS = $(filter-out _% __init__,$(basename $(notdir $(wildcard benchmarks/*.py))))
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# One BLAS thread per process: the engine's products are small, and the tests run in as many processes as there are cores.
export OPENBLAS_NUM_THREADS ?= 1

.PHONY: demo test check bench lock clean
.DELETE_ON_ERROR:

demo: $(VENV)/.installed
	$(BIN)/nextitem demo

test: $(VENV)/.installed-test
	$(BIN)/pytest -n auto --dist loadgroup

check: $(VENV)/.installed-test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -n auto --dist loadgroup

bench: $(VENV)/.installed-bench
	set -e; for module in $(BENCHMARKS); do $(BIN)/python -m benchmarks.$$module; done

bench-%: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks.$* --json

# Versions of everything that is installed, so that two installs a month apart agree.
lock: $(VENV)/.installed-test $(VENV)/.installed-bench
	$(PIP) install --upgrade --upgrade-strategy eager -e '.[test,bench]'
	$(BIN)/python -m pip freeze --exclude-editable > constraints.txt

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Nextitem needs Python 3.11 or newer; name one with make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) install -c constraints.txt -e .
	touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	$(PIP) install -c constraints.txt -e '.[test]'
	touch $@

$(VENV)/.installed-bench: $(VENV)/.installed-test
	$(PIP) install -c constraints.txt -e '.[test,bench]'
	touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info
