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

# a file that may be compressed: the name as it is there
found = $(firstword $(wildcard $(1) $(1).gz))

# --- study C: labels as documents, every method x normalisation
CANDIDATES ?= 128
C_MEASURES = $(foreach k,1 5 10,-m nDCG@$(k)) $(foreach k,1 5 10,-m P@$(k))

# $(1) name  $(2) labels  $(3) training topics  $(4) their qrels  $(5) test topics  $(6) their qrels  $(7) groups, if any
define STUDY_C
runs/study-c/$(1)/docs.jsonl: $(2) $(3) $(4) | $(VENV)/.dense
	@mkdir -p $$(@D)
	$(HYBRIDCLI) label-docs $(2) --topics $(3) --qrels $(4) -o $$@ --doc-slices-out $$(@D)/slices.tsv

runs/study-c/$(1)/bm25.index/meta.json: runs/study-c/$(1)/docs.jsonl
	$(HYBRIDCLI) index-sparse $$< -o $$(@D) --k1 1.5 --b 0.75

runs/study-c/$(1)/dense.index/meta.json: runs/study-c/$(1)/docs.jsonl
	$(HYBRIDCLI) index-dense $$< -o $$(@D) --model $(MODEL)

runs/study-c/$(1)/bm25.run runs/study-c/$(1)/dense.run: runs/study-c/$(1)/%.run: runs/study-c/$(1)/%.index/meta.json $(5)
	$(HYBRIDCLI) retrieve $$(<D) $(5) --depth $(CANDIDATES) --tag $$* -o $$@

runs/study-c/$(1)/fused/.done: runs/study-c/$(1)/bm25.run runs/study-c/$(1)/dense.run
	$(HYBRIDCLI) fuse $$^ --all -o $$(@D)
	@touch $$@

runs/study-c/$(1)/compare.txt: runs/study-c/$(1)/fused/.done $(6) $(7)
	$(HYBRIDCLI) compare $$(<D)/../bm25.run $$(<D)/../dense.run $$(<D)/*.run --qrels $(6) $(C_MEASURES) \
	  --doc-slices $$(@D)/slices.tsv --ranking --folds 5 --baseline best:bm25,dense --test t --correction holm \
	  --agreement --depth $(CANDIDATES) $(if $(7),--groups $(7)) --seed $(SEED) --report $$@ -o $$(@D)/compare.json \
	  --format json
endef

# Inline XBRL as labels: a window is a topic, the concepts of its facts are its labels; every second filing is a
# training text.  $(1) name  $(2) the filings
odd = $(if $(1),$(firstword $(1)) $(call odd,$(wordlist 3,$(words $(1)),$(1))))
define FACTS
runs/study-c/$(1)/train.jsonl: FILINGS = $(call odd,$(2))
runs/study-c/$(1)/test.jsonl: FILINGS = $(filter-out $(call odd,$(2)),$(2))
runs/study-c/$(1)/train.jsonl runs/study-c/$(1)/test.jsonl: runs/study-c/$(1)/%.jsonl: $(2) | $(VENV)/.dense
	@mkdir -p $$(@D)
	$(HYBRIDCLI) window $$(FILINGS) -o $$@ --facts $$(@D)/$$*.qrels --fact-labels $$(@D)/$$*.labels

runs/study-c/$(1)/train.qrels runs/study-c/$(1)/test.qrels: runs/study-c/$(1)/%.qrels: runs/study-c/$(1)/%.jsonl ;

runs/study-c/$(1)/labels.jsonl: runs/study-c/$(1)/train.jsonl runs/study-c/$(1)/test.jsonl
	sort -u $$(@D)/train.labels $$(@D)/test.labels > $$@

# the company of a window: what its id begins with
runs/study-c/$(1)/groups.tsv: runs/study-c/$(1)/test.qrels
	awk '!seen[$$$$1]++ { split($$$$1, part, ":"); print $$$$1 "\t" part[1] }' $$< > $$@

$(call STUDY_C,$(1),runs/study-c/$(1)/labels.jsonl,runs/study-c/$(1)/train.jsonl,runs/study-c/$(1)/train.qrels,runs/study-c/$(1)/test.jsonl,runs/study-c/$(1)/test.qrels,runs/study-c/$(1)/groups.tsv)
endef

ifdef DATA
C_LABELS := $(patsubst $(DATA)/%/train.qrels,%,$(patsubst %.gz,%,$(wildcard $(DATA)/*/train.qrels $(DATA)/*/train.qrels.gz)))
C_FILINGS := $(patsubst $(DATA)/%/filings,%,$(wildcard $(DATA)/*/filings))
$(foreach set,$(C_LABELS),$(eval $(call STUDY_C,$(set),$(call found,$(DATA)/$(set)/labels.jsonl),$(call found,$(DATA)/$(set)/train.topics.tsv),$(call found,$(DATA)/$(set)/train.qrels),$(call found,$(DATA)/$(set)/test.topics.tsv),$(call found,$(DATA)/$(set)/test.qrels))))
$(foreach set,$(C_FILINGS),$(eval $(call FACTS,$(set),$(wildcard $(DATA)/$(set)/filings/*))))
else
C_FILINGS := demo
$(eval $(call FACTS,demo,$(DEMO_FILINGS)))
endif
C_TABLES = $(patsubst %,runs/study-c/%/compare.txt,$(C_LABELS) $(C_FILINGS))

## study-c: labels as documents, every method x normalisation (the demo's XBRL concepts, or DATA=dir)
study-c: $(C_TABLES)
	@test -n "$(C_TABLES)" || { echo "no data set for study C in $(DATA): put there NAME/labels.jsonl (id, text)," \
	  "NAME/train.topics.tsv, NAME/train.qrels, NAME/test.topics.tsv, NAME/test.qrels (Eurlex-4K, Wiki10-31K:" \
	  "http://manikvarma.org/downloads/XC/XMLRepository.html), or NAME/filings/ with inline-XBRL 10-Ks" >&2; exit 2; }
	@for table in $^; do echo "== $$table"; cat $$table; done

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

.PHONY: help install demo finder study-c test test-slow lint clean
