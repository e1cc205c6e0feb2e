# Every target sets itself up: a virtual environment in .venv, filled from the hashed lock file by uv.
PYTHON ?= python3
BIN = .venv/bin
READY = .venv/.ready
BENCH_BIN = .venv-bench/bin
BENCH_READY = .venv-bench/.ready
BENCH ?= --out docs
# Processes after the first find their modules compiled, also where the shell says otherwise.
export PYTHONDONTWRITEBYTECODE =
# One version of a library for all Pythons, so that results do not depend on which.
COMPILE = $(BIN)/uv pip compile -q --upgrade --universal --generate-hashes --no-header --python-version 3.11 \
	--fork-strategy fewest

.PHONY: help reproduce test check docs refresh dist bench lock clean
.DEFAULT_GOAL := help

help:  ## this list
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 18

reproduce: $(READY)  ## the paper's two figures and the table of their claims, in reproduction/
	@$(BIN)/corrbandits reproduce --out reproduction

test: $(READY)  ## every test
	@$(BIN)/python -m pytest -q -n 2 --dist worksteal

check: $(READY)  ## style, types, layers
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

docs: $(READY)  ## the documentation, in docs/_build/html
	@$(BIN)/sphinx-build -q -W --keep-going -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

refresh: $(READY)  ## what the documents show of the program, anew
	@$(BIN)/python docs/refresh.py

dist: $(READY)  ## a wheel and a source distribution, in dist/
	@rm -rf dist
	@$(BIN)/uv build -q --offline --no-build-isolation --python $(BIN)/python --out-dir dist .
	@ls dist

bench: $(BENCH_READY)  ## speed against the peers: a table, and docs/performance
	@$(BENCH_BIN)/python -m benchmarks $(BENCH)
	@$(BENCH_BIN)/python -m benchmarks.studies $(filter-out --without-scale --again,$(BENCH))
	@$(BENCH_BIN)/python -m benchmarks.untold $(filter-out --without-scale --again,$(BENCH))

lock: $(READY)  ## the lock files anew from pyproject.toml
	@$(COMPILE) --group lock -o requirements-uv.lock
	@$(COMPILE) pyproject.toml --group dev -o requirements.lock
	@$(COMPILE) pyproject.toml --group bench --no-emit-package torch -o requirements-bench.lock

clean:  ## everything that was made
	rm -rf .venv .venv-bench docs/_build dist reproduction results .mypy_cache .ruff_cache .import_linter_cache .hypothesis

$(READY): pyproject.toml requirements-uv.lock requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "corrbandits needs Python 3.11 or newer; this is %s. Name another: make PYTHON=python3.12 ..." % sys.version.split()[0])'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements-uv.lock
	@$(BIN)/uv pip install -q --python $(BIN)/python --require-hashes -r requirements.lock
	@$(BIN)/uv pip install -q --python $(BIN)/python --no-deps --no-build-isolation -e .
	@touch $@

# The peers apart, so that none disturbs what the tests run on. Torch comes by name: which build there is depends on the machine.
$(BENCH_READY): $(READY) requirements-bench.lock
	@test -x $(BENCH_BIN)/python || $(PYTHON) -m venv .venv-bench
	@$(BIN)/uv pip install -q --python $(BENCH_BIN)/python --no-deps --require-hashes -r requirements-bench.lock
	@$(BENCH_BIN)/python -m pip install -q --disable-pip-version-check torch==2.13.0
	@$(BIN)/uv pip install -q --python $(BENCH_BIN)/python --no-deps --no-build-isolation -e .
	@touch $@
