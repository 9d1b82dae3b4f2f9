# `make demo` and `make test` work on a fresh machine: each makes .venv if it is missing.
VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt
export PYTHON
# Set in some containers; every process would then compile every module that it imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-fast lint types imports docs notebooks clean help
.DEFAULT_GOAL := help

help:
	@echo "make demo        train four classifiers, measure their calibration, write calibration.html"
	@echo "make test        run the tests              make test-fast   the quick ones"
	@echo "make lint        ruff, docstrings, words    make types       mypy --strict"
	@echo "make imports     the import contracts"
	@echo "make docs        build the documentation    make notebooks   execute the notebooks"
	@echo "make clean       remove what the above made, .venv too"

# One stamp a set of dependencies: pip runs again only when what is asked for has changed.
$(VENV)/.ready: pyproject.toml constraints.txt
	@sh scripts/make-venv $(VENV)
	@echo "Installing bayescal (the first time takes a minute or two)"
	@$(PIP_INSTALL) -e .
	@touch $@

$(VENV)/.ready-dev: $(VENV)/.ready
	@echo "Installing what the tests and checks need"
	@$(PIP_INSTALL) -e '.[dev]'
	@touch $@

# Other libraries that the tests compare with; make test skips those that are missing.
$(VENV)/.ready-oracles: $(VENV)/.ready-dev
	@echo "Installing what results are compared with"
	@$(PIP_INSTALL) -e '.[oracles,flow,dask]'
	@touch $@

$(VENV)/.ready-docs: $(VENV)/.ready
	@echo "Installing what the documentation needs"
	@$(PIP_INSTALL) -e '.[docs]'
	@touch $@

# All of these at once, for CI: pip works out only once what belongs together.
$(VENV)/.ready-all: pyproject.toml constraints.txt
	@sh scripts/make-venv $(VENV)
	@$(PIP_INSTALL) -e '.[dev,oracles,flow,dask,docs]'
	@touch $(VENV)/.ready $(VENV)/.ready-dev $(VENV)/.ready-oracles $(VENV)/.ready-docs $@

demo: $(VENV)/.ready
	@$(BIN)/bayescal demo

# Two workers of one BLAS thread each: more threads only wait for each other.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile --ignore tests/checks

test: $(VENV)/.ready-dev
	@$(PYTEST) $(PYTEST_ARGS)

test-fast: $(VENV)/.ready-dev
	@$(PYTEST) -m "not mcmc and not slow" $(PYTEST_ARGS)

lint: $(VENV)/.ready-dev
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/python -m pytest -q tests/checks

types: $(VENV)/.ready-dev
	@$(BIN)/mypy --strict

imports: $(VENV)/.ready-dev
	@$(BIN)/lint-imports

docs: $(VENV)/.ready-docs
	@$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

notebooks: $(VENV)/.ready-docs
	@$(BIN)/jupyter nbconvert --to notebook --execute --inplace --coalesce-streams \
		--ExecutePreprocessor.record_timing=False notebooks/*.ipynb

clean:
	rm -rf $(VENV) build dist docs/_build docs/api/generated calibration.html
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .benchmarks
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
