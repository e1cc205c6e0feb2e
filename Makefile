# Every target sets itself up: a virtual environment in .venv, filled from the hashed lock file by uv.
PYTHON ?= python3
BIN = .venv/bin
READY = .venv/.ready
BENCH_BIN = .venv-bench/bin
BENCH_READY = .venv-bench/.ready
BENCH ?= --out docs
# Where there is a device but no registry, a Python that has all that is needed: make test-gpu GPU_PYTHON=python3
GPU_PYTHON ?=
ON_DEVICE = import numba_cuda; from cuda.pathfinder import load_nvidia_dynamic_lib as load; \
	[load(name) for name in ("nvvm", "nvrtc", "nvJitLink")]
TORCH = torch==2.13.0
TORCH_FROM = $(BENCH_BIN)/python -m pip install -q --disable-pip-version-check --no-deps --require-hashes -r requirements-torch.lock
# Processes after the first find their modules compiled, also where the shell says otherwise.
export PYTHONDONTWRITEBYTECODE =
# One version of a library for all Pythons, so that results do not depend on which.
COMPILE = $(BIN)/uv pip compile -q --upgrade --universal --generate-hashes --no-header --python-version 3.11 \
	--fork-strategy fewest

.PHONY: help reproduce test test-gpu check docs refresh dist bench bench-gpu lock clean
.DEFAULT_GOAL := help

help:  ## this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 18

reproduce: $(READY)  ## the paper's two figures and the table of their claims, in reproduction/
	@$(BIN)/corrbandits reproduce --out reproduction

test: $(READY)  ## every test
	@$(BIN)/python -m pytest -q -rs -n 4 --dist worksteal

test-gpu: PYTHON_THERE = $(or $(GPU_PYTHON),$(BIN)/python)
test-gpu: $(if $(GPU_PYTHON),,$(READY))  ## the tests of the engine on a device, on this machine's
	@$(PYTHON_THERE) -c '$(ON_DEVICE)' 2>/dev/null || $(PYTHON_THERE) -m pip install -q 'numba-cuda[cu13]'
	@NUMBA_ENABLE_CUDASIM=0 $(PYTHON_THERE) -m pytest -q -rs tests/simulation/engines/test_gpu*.py

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
	@$(BENCH_BIN)/python -m benchmarks.service $(filter-out --without-scale --again,$(BENCH))
	@$(BIN)/python -m benchmarks.change $(filter-out --without-scale --again,$(BENCH))
	@$(BIN)/python -m benchmarks.company $(filter-out --without-scale --again,$(BENCH))
	@$(BIN)/python -m benchmarks.moving $(filter-out --without-scale --again --quick,$(BENCH))
	@$(BIN)/python -m benchmarks.people $(filter-out --without-scale --again,$(BENCH))
	@$(BIN)/python -m benchmarks.page $(filter-out --without-scale --again,$(BENCH))

bench-gpu: PYTHON_THERE = $(or $(GPU_PYTHON),$(BENCH_BIN)/python)
bench-gpu: $(if $(GPU_PYTHON),,$(BENCH_READY))  ## many runs on this machine's device beside its cores, JAX and torch: docs/gpu
	@$(PYTHON_THERE) -c '$(ON_DEVICE)' 2>/dev/null || $(PYTHON_THERE) -m pip install -q 'numba-cuda[cu13]'
	@$(PYTHON_THERE) -c 'import jax_plugins.xla_cuda13' 2>/dev/null || $(PYTHON_THERE) -m pip install -q 'jax[cuda13]'
	@$(PYTHON_THERE) -m benchmarks.gpu $(BENCH)
	@$(PYTHON_THERE) -m benchmarks.gpu_games $(BENCH)

lock: $(READY)  ## the lock files anew from pyproject.toml
	@$(COMPILE) --group lock -o requirements-uv.lock
	@$(COMPILE) pyproject.toml --group dev -o requirements.lock
	@$(COMPILE) pyproject.toml --group bench --no-emit-package torch -o requirements-bench.lock
	@echo '$(TORCH)' | $(COMPILE) --no-deps --no-annotate - -o requirements-torch.lock
	@rm -rf .torch && $(BIN)/python -m pip download -q --disable-pip-version-check --no-deps -d .torch '$(TORCH)'
	@sed -i "1a\    $$($(BIN)/python -m pip hash .torch/torch-* | tail -1) \\\\" requirements-torch.lock && rm -rf .torch

clean:  ## everything that was made
	rm -rf .venv .venv-bench docs/_build dist reproduction results .mypy_cache .ruff_cache .import_linter_cache .hypothesis

$(READY): pyproject.toml requirements-uv.lock requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "corrbandits needs Python 3.11 or newer; this is %s. Name another: make PYTHON=python3.12 ..." % sys.version.split()[0])'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements-uv.lock
	@$(BIN)/uv pip install -q --python $(BIN)/python --require-hashes -r requirements.lock
	@$(BIN)/uv pip install -q --python $(BIN)/python --no-deps --no-build-isolation -e .
	@touch $@

# The peers apart, so that none disturbs what the tests run on. Of torch, a build at hand (PIP_FIND_LINKS), such as the
# one for processors alone, goes before the registry's; what a build for accelerators needs besides comes by name.
$(BENCH_READY): $(READY) requirements-bench.lock requirements-torch.lock
	@test -x $(BENCH_BIN)/python || $(PYTHON) -m venv .venv-bench
	@$(BIN)/uv pip install -q --python $(BENCH_BIN)/python --no-deps --require-hashes -r requirements-bench.lock
	@$(TORCH_FROM) --no-index 2>/dev/null || $(TORCH_FROM)
	@$(BENCH_BIN)/python -m pip install -q --disable-pip-version-check '$(TORCH)'
	@$(BIN)/uv pip install -q --python $(BENCH_BIN)/python --no-deps --no-build-isolation -e .
	@touch $@
