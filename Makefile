# The two commands of the README: `make demo` and `make test`. Both make what they need in .venv.

VENV   ?= .venv
PYTHON ?= python3
BIN    := $(VENV)/bin
ARGS   ?=

.PHONY: demo test check bench lock clean
.DEFAULT_GOAL := help

.PHONY: help
help:  ## Show these lines
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 10

$(VENV)/.made: requirements-dev.txt pyproject.toml scripts/venv
	@PYTHON=$(PYTHON) scripts/venv $(VENV)

.PHONY: tools
tools: scripts/install-tools
	@scripts/install-tools

demo: $(VENV)/.made tools  ## Run the main job on real parts and show its values (ARGS=--once: one table)
	@$(BIN)/hpa-adapter demo $(ARGS)

test: $(VENV)/.made  ## Run all tests (ARGS: more words for pytest)
	@scripts/install-tools prometheus haproxy
	@scripts/test $(BIN) $(ARGS)

check: $(VENV)/.made  ## Style, types, and the direction of imports
	@scripts/check $(BIN)

bench: $(VENV)/.made tools  ## Measure; prints ratios within one run
	@scripts/bench $(BIN) $(ARGS)

lock: $(VENV)/.made  ## Write the hash-locked requirements anew
	@scripts/lock $(BIN)

clean:  ## Remove what the other targets made
	rm -rf $(VENV) .cache .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis dist build
