# The project's commands; `make` alone lists them.

SHELL := bash
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

BIN := .venv/bin
INSTALLED := .venv/.installed
INSTALLED_313 := .venv-313/.installed
PROJECTS := pyproject.toml server/pyproject.toml constraints.txt

# The rings that there are tests of.
RINGS := $(foreach ring,unit contract integration crash,$(if $(wildcard tests/$(ring)/test_*.py),$(ring)))
# Two at a time: those that fail soonest first, then the longest first, so that both end together.
PARTS := lint types test-unit test-servers test-e2e $(patsubst %,test-%,$(filter $(RINGS),crash)) \
  test-313 test-wheels

.PHONY: help setup constraints lint lint-rules lint-format lint-imports types types-mypy \
  types-pyright test test-fast $(RINGS:%=test-%) test-servers test-crashes test-e2e test-wheels test-313 \
  bench eval demo down clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(INSTALLED) ## make .venv with everything in it; does nothing when nothing changed

$(INSTALLED): $(PROJECTS)
	@.ci/environment .venv dev
	@touch $@

$(INSTALLED_313): $(PROJECTS)
	@PYTHON="$$(.ci/find-python 3.13)" .ci/environment .venv-313 test
	@touch $@

constraints: ## resolve the versions in constraints.txt anew
	@.ci/resolve

lint: lint-rules lint-format lint-imports ## style, formatting, direction of imports

lint-rules: setup
	$(BIN)/ruff check .

lint-format: setup
	$(BIN)/ruff format --check .

lint-imports: setup
	$(BIN)/lint-imports

types: types-mypy types-pyright ## mypy and pyright, both strict

types-mypy: setup
	$(BIN)/mypy

types-pyright: setup
	$(BIN)/pyright

test: setup ## everything; says what each part took
	@.ci/parts $(PARTS)

test-fast: lint test-unit ## what to run before every commit

$(RINGS:%=test-%): test-%: setup
	$(BIN)/pytest tests/$*

test-servers: setup ## two rings on the same servers: they start once
	$(BIN)/pytest $(wildcard tests/contract tests/integration)

test-crashes: setup ## agents killed at every await, and every server ten times: some minutes
	CRASHES=all $(BIN)/pytest tests/crash/test_agent_crash.py tests/crash/test_fight.py

test-e2e: setup ## the command line, the demo and the containers' settings, as a user has them
	$(BIN)/pytest tests/e2e --ignore=tests/e2e/test_wheels.py

test-wheels: setup ## both wheels, built and installed
	$(BIN)/pytest tests/e2e/test_wheels.py

# What may differ there is the interpreter: properties are looked for in test-unit.
test-313: ## the unit tests on Python 3.13, where there is one, with fewer examples of each property
	@if .ci/find-python 3.13 >/dev/null 2>&1; then \
	  $(MAKE) $(INSTALLED_313) && EXAMPLES=10 .venv-313/bin/python -m pytest tests/unit; \
	else \
	  echo "skipped: there is no Python 3.13 on this machine"; \
	fi

bench: setup ## measure, and print a table
	$(BIN)/python -m benchmarks

eval: setup ## measure long-term memory against its gates; prints tables, writes evals/latest.json
	$(BIN)/python -m evals

demo: setup ## an agent is killed and goes on; FILES="a.json b.json" are imported as well
	@$(BIN)/python -m examples.demo $(FILES)

down: ## stop the local stack; its data stays in .agentjournal/
	@if [ -x $(BIN)/agentjournal ]; then $(BIN)/agentjournal down; fi

clean: down ## remove what was made here; the stack's data stays in .agentjournal/
	rm -rf .venv .venv-313 dist build .hypothesis .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
