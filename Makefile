# hybridcli: `make help` lists the targets. Every stage is a file that depends on files: what has not changed is
# not run again. DATA, MODEL, TORCH … can be given on the command line: make finder DATA=../shared/data/finder-sample
MAKEFLAGS += --no-builtin-rules
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
HYBRIDCLI := $(BIN)/hybridcli
# a requirement such as torch==2.13.0 chooses that torch; empty follows PyPI
TORCH ?=
MODEL ?= minilm
DEPTH ?= 100
SEED ?= 0

## help: list the targets
help:
	@sed -n 's/^## /  make /p' $(MAKEFILE_LIST) | sort | awk -F': ' '{printf "%-32s %s\n", $$1, $$2}'

# ---------------------------------------------------------------- installing
# one stamp an extra: `make test` does not bring torch, `make demo` does not bring the tests' tools
INSTALL = $(BIN)/python -m pip install --quiet

$(VENV)/.base: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) --editable .
	@touch $@

$(VENV)/.dense: $(VENV)/.base
	@test -z "$(TORCH)" || $(INSTALL) "$(TORCH)"
	$(INSTALL) --editable '.[dense,plots]'
	@touch $@

$(VENV)/.dev: $(VENV)/.base
	$(INSTALL) --editable '.[dev]'
	@touch $@

$(VENV)/.slow: $(VENV)/.dense $(VENV)/.dev
	$(INSTALL) --editable '.[all,dev]'
	@touch $@

## install: create .venv with everything the demo needs (TORCH=torch==2.13.0 chooses a CPU build)
install: $(VENV)/.dense

# ---------------------------------------------------------------- study A's pipeline, once for every data set
# $(1) name  $(2) documents  $(3) references  $(4) what the documents depend on
define PIPELINE
runs/$(1)/windows.jsonl: $(4) | $(VENV)/.dense
	@mkdir -p runs/$(1) qrels/$(1)
	$(HYBRIDCLI) window $(2) -o $$@

qrels/$(1)/reference.qrels: runs/$(1)/windows.jsonl $(3) | $(VENV)/.dense
	@mkdir -p qrels/$(1)
	$(HYBRIDCLI) map-labels $(3) $$< --qrels qrels/$(1)/window.qrels --reference-qrels $$@ \
	  --provenance qrels/$(1)/provenance.jsonl --unresolved qrels/$(1)/unresolved.tsv \
	  --groups qrels/$(1)/groups.tsv --categories qrels/$(1)/categories.tsv \
	  --literal qrels/$(1)/literal.txt --topics runs/$(1)/topics.tsv --audit 256,512

runs/$(1)/topics.tsv qrels/$(1)/groups.tsv: qrels/$(1)/reference.qrels ;

runs/$(1)/bm25.index/meta.json: runs/$(1)/windows.jsonl | $(VENV)/.dense
	$(HYBRIDCLI) index-sparse $$< -o $$(@D)

runs/$(1)/dense.index/meta.json: runs/$(1)/windows.jsonl | $(VENV)/.dense
	$(HYBRIDCLI) index-dense $$< -o $$(@D) --model $(MODEL)

runs/$(1)/bm25.run runs/$(1)/dense.run: runs/$(1)/%.run: runs/$(1)/%.index/meta.json runs/$(1)/topics.tsv
	$(HYBRIDCLI) retrieve $$(<D) runs/$(1)/topics.tsv --depth $(DEPTH) --tag $$* -o $$@

runs/$(1)/alpha-0.5.run: runs/$(1)/bm25.run runs/$(1)/dense.run
	$(HYBRIDCLI) fuse $$^ --method weighted --norm min-max --weights 0.5,0.5 --tag alpha-0.5 -o $$@

runs/$(1)/rrf.run: runs/$(1)/bm25.run runs/$(1)/dense.run
	$(HYBRIDCLI) fuse $$^ --method rrf --tag rrf -o $$@

runs/$(1)/compare.txt: $(foreach run,bm25 dense alpha-0.5 rrf,runs/$(1)/$(run).run) qrels/$(1)/reference.qrels
	$(HYBRIDCLI) compare $$(filter %.run,$$^) --qrels qrels/$(1)/reference.qrels --groups qrels/$(1)/groups.tsv \
	  --measure RefHit@10 --measure R@10 --seed $(SEED) --report $$@
endef

DEMO_FILINGS := $(wildcard fixtures/filings/*)
$(eval $(call PIPELINE,demo,fixtures/filings,fixtures/queries.jsonl,$(DEMO_FILINGS)))

## demo: install, run the whole pipeline on the demo collection and print the table
demo: runs/demo/compare.txt
	@cat $<

ifdef DATA
$(eval $(call PIPELINE,finder,$(DATA)/filings,$(DATA)/queries.jsonl,$(wildcard $(DATA)/filings/*)))
endif

## finder: study A on real filings: make finder DATA=dir with filings/ and queries.jsonl
finder: $(if $(DATA),runs/finder/compare.txt)
ifndef DATA
	@echo "make finder DATA=dir: dir holds filings/ (TICKER.html or .html.gz, one 10-K each, from SEC EDGAR) and" >&2
	@echo "queries.jsonl (FinDER's rows: _id, text, references, category; with doc = the filing's file stem)." >&2
	@exit 2
else
	@cat $<
endif

# ---------------------------------------------------------------- tests
## test: the fast lane: no network, no torch, under 3 minutes after install
test: $(VENV)/.dev
	$(BIN)/python -m pytest -q -m "not slow"

## test-slow: the slow lane: real models, engines, servers and data
test-slow: $(VENV)/.slow
	$(BIN)/python -m pytest -q -m slow

## lint: ruff and mypy
lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

## clean: remove what the pipeline wrote (not .venv)
clean:
	git clean -fdXq runs qrels

.PHONY: help install demo finder test test-slow lint clean
