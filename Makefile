# One line each: what a target does stands in the script it calls.
PY := .venv/bin/python
STAMP := .venv/.stamp
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help setup check lint types gen gen-check lock test test-unit test-integration test-e2e test-devcluster test-llm images demo demo-down bench clean

help:  ## list the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  %-18s %s\n", $$1, $$2}'

$(STAMP): requirements/dev.txt pyproject.toml hack/setup.sh
	@hack/setup.sh

setup: $(STAMP)  ## make .venv with everything, editable

check: $(STAMP)  ## lint, types, contracts, generated files: before every commit
	@hack/check.sh

lint: $(STAMP)
	.venv/bin/ruff format --check -q . && .venv/bin/ruff check -q .

types: $(STAMP)
	.venv/bin/mypy

gen: $(STAMP)  ## make the generated files anew
	@hack/gen.sh

gen-check: $(STAMP)
	@hack/gen.sh --check

lock:  ## resolve the lock files anew from pyproject.toml
	@hack/lock.sh

test: $(STAMP)  ## everything, on real clusters it starts itself
	@hack/test.sh

test-unit: $(STAMP)  ## pure parts, seconds
	@hack/test.sh unit

test-integration: $(STAMP)  ## against a real etcd and API server
	@hack/test.sh integration

test-devcluster: $(STAMP)  ## the embedded cluster itself, up and down
	@hack/test.sh devcluster

test-e2e: $(STAMP)  ## a whole cluster, the chart installed, real Pods
	@hack/test.sh e2e

test-llm: $(STAMP)  ## a small real model through the whole cluster; not part of `make test`
	@hack/test.sh llm

images: $(STAMP)  ## build the three images
	@hack/skerry-images build

demo: $(STAMP)  ## watch an AgentRun go through a real cluster
	@hack/skerry-demo up $(if $(CONTEXT),--context $(CONTEXT)) $(if $(REGISTRY),--registry $(REGISTRY)) $(if $(PLAIN_HTTP),--plain-http)

demo-down: $(STAMP)  ## take the demo's cluster away
	@hack/skerry-demo down $(if $(CONTEXT),--context $(CONTEXT))

bench: $(STAMP)  ## measure; tables as in docs/benchmarks.md
	@PYTHONPATH=tests/support $(PY) -m benchmarks.turns
	@PYTHONPATH=tests/support $(PY) -m benchmarks

clean:  ## forget the virtualenv and tool caches of this checkout
	rm -rf .venv .cache build dist
