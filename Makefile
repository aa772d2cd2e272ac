# The two commands are `make demo` and `make test`; each builds .venv first, from the hashes in requirements-dev.lock.
PYTHON ?= python3
# A server that the environment names is one database: tests that delete everything in it cannot run side by side.
WORKERS ?= $(if $(PREFGRAPH_NEO4J_URI),1,auto)
PACKAGES := prefgraph learners storage
NEWEST_NEO4J := 2026.09.0

BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: help demo test newest lint types lock bench neo4j clean
.DEFAULT_GOAL := help

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## / { printf "%-7s %s\n", $$1, $$2 }' Makefile

demo: $(STAMP)  ## take the tour: graphs, cycles, the embedded store, a ranker
	@$(BIN)/python examples/demo.py

# The jars of Neo4j are fetched here, because tests talk to this machine only; where they cannot be, its tests say so and are skipped.
test: $(STAMP)  ## run all tests: code, doctests, README, docs and examples; 90% branch coverage of each package
	@test -n "$$PREFGRAPH_NEO4J_URI" || $(BIN)/python -m storage.testing --fetch || true
	$(BIN)/python -m pytest -n $(WORKERS) --maxprocesses 8 --cov --cov-report=
	@status=0; for package in $(PACKAGES); do \
	  echo; echo "branch coverage of $$package, 90% or more:"; \
	  $(BIN)/coverage report --include="$$package/*" --fail-under=90 || status=1; \
	done; exit $$status

newest: $(STAMP)  ## run the conformance suite against the newest line of Neo4j too
	PREFGRAPH_NEO4J_VERSION=$(NEWEST_NEO4J) $(BIN)/python -m pytest -n $(WORKERS) --maxprocesses 2 tests/storage/test_neo4j.py -k TestNeo4j

lint: $(STAMP)  ## check style, format and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo

types: $(STAMP)  ## check types, strictly
	$(BIN)/mypy

bench: $(STAMP)  ## run the benchmarks, minutes
	@set -e; for script in benchmarks/bench_*.py; do echo "== $$script"; $(BIN)/python $$script; done

# Extra words go to the program, for example: make neo4j NEO4J="--home graphs --port 7687"
neo4j: $(STAMP)  ## start a Neo4j server, print its URL, user and password, run it until Ctrl-C
	@$(BIN)/python -m storage.testing $(NEO4J)

# Extra words go to uv, for example: make lock LOCK="--upgrade-package numba"
lock: $(STAMP)  ## pin the newest versions that fit pyproject.toml, on every system and Python that we support
	$(BIN)/uv pip compile pyproject.toml --extra plot --extra dev --universal --python-version 3.11 --fork-strategy fewest \
	  --generate-hashes --no-annotate --no-header --no-emit-index-url --no-emit-find-links --quiet $(or $(LOCK),--upgrade) \
	  --output-file requirements-dev.lock

clean:  ## remove .venv, caches and reports
	rm -rf .venv .coverage .coverage.* htmlcov build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find $(PACKAGES) tests examples benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# pip only fetches uv, by the hash in the lock; uv does the rest in seconds. Without build isolation hatchling comes from the lock too.
$(STAMP): pyproject.toml requirements-dev.lock
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else "prefgraph needs Python 3.11 or newer, and $(PYTHON) is Python %d.%d; say which one to use: make PYTHON=python3.11 ..." % (v[0], v[1]))'
	@echo "setting up .venv"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@awk '/^[^ #]/ { keep = /^uv==/ } keep' requirements-dev.lock > .venv/uv.txt
	@$(BIN)/python -m pip install --quiet --require-hashes --requirement .venv/uv.txt
	@$(BIN)/uv pip sync --quiet --python $(BIN)/python --require-hashes requirements-dev.lock
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@$(BIN)/uv pip check --quiet --python $(BIN)/python
	@touch $@
