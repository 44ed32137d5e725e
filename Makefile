# hybridcli: `make help` lists the targets. Every stage is a file that depends on files: what has not changed is
# not run again. DATA, MODEL, TORCH … can be given on the command line: make finder DATA=../shared/data/finder-sample
MAKEFLAGS += --no-builtin-rules
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

# ---------------------------------------------------------------- the data sets: make NAME DATA=dir runs one
# name; what make runs on it; where it comes from and which file goes where
define DATASETS
demo       | study A          | comes with hybridcli: fixtures/
finder     | study A          | DATA/filings/TICKER.html or .html.gz, one 10-K each, from SEC EDGAR; DATA/queries.jsonl, FinDER's rows (_id, text, references, category; doc = the filing's file stem): https://huggingface.co/datasets/Linq-AI-Research/FinDER
scifact    | BM25, dense, RRF | ir_datasets' beir/scifact/test: fetched when first used, or IR_DATASETS_HOME/beir/scifact/
cranfield  | BM25, dense, RRF | ir_datasets' cranfield: fetched when first used, or IR_DATASETS_HOME/cranfield/
vaswani    | BM25, dense, RRF | ir_datasets' vaswani: fetched when first used, or IR_DATASETS_HOME/vaswani/
mteb-nl    | study B          | each set as DATA/NAME/corpus.jsonl, queries.jsonl and qrels/test.tsv (BEIR's form) or docs.jsonl, topics.tsv and qrels.txt, any of them gzipped; on huggingface.co: clips/mteb-nl-news-articles-ret, clips/mteb-nl-vabb-ret, clips/mteb-nl-opentender-ret, the Dutch parts of PaDaS-Lab/webfaq-retrieval and mteb/WikipediaRetrievalMultilingual
gerdalir   | study D          | DATA/gerdalir/docs.jsonl (id, text), topics.tsv and qrels.txt, any of them gzipped: https://github.com/lavis-nlp/GerDaLIR
xmtc-NAME  | study C          | DATA/xmtc-NAME/labels.jsonl (id, text), train.topics.tsv, train.qrels, test.topics.tsv and test.qrels, any of them gzipped; Eurlex-4K, Wiki10-31K: http://manikvarma.org/downloads/XC/XMLRepository.html
endef
export DATASETS
# say where a data set that is not here comes from: $(1) its name in the table
missing = printf '%s\n' "$$DATASETS" | awk -F ' *[|] ' '$$1 == "$(1)" \
  { print $$1, "$(if $(DATA),is not in DATA=$(DATA),needs DATA=dir): " $$3 }' | fold -s -w 78 >&2; exit 2

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
	@awk '/^## [a-z-]+: / { name = $$2; sub(/^## [a-z-]+: /, ""); printf "  make %-14s %s\n", substr(name, 1, length(name) - 1), $$0 }' \
	  $(MAKEFILE_LIST)

## datasets: the data sets that have a target, and where to get them
datasets:
	@printf '%s\n' "$$DATASETS"

# ---------------------------------------------------------------- installing
# one stamp an extra: `make test` does not bring torch, `make demo` does not bring the tests' tools
INSTALL = $(BIN)/python -m pip install --quiet

$(VENV)/.base: pyproject.toml hybridcli/compiled.pyx
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

## install: create .venv (TORCH=torch==2.13.0: a CPU build)
install: $(VENV)/.dense

## install-lucene: add the pyserini that fits the Java on this machine
install-lucene: $(VENV)/.base
	$(INSTALL) --editable '.[lucene]'
	$(INSTALL) --no-deps $$($(BIN)/python -c \
	  'from hybridcli.search.java import lucene_requirements as names; print(*names())')

# ---------------------------------------------------------------- study A's pipeline, once for every data set
# the model of the dense indexes, as a file that changes when MODEL does
runs/model: FORCE
	@mkdir -p $(@D)
	@echo '$(MODEL)' | cmp -s - $@ || echo '$(MODEL)' > $@

# index and search one cut of the documents, with both retrievers
# $(1) data set  $(2) prefix of the cut's files  $(3) its passages
define RETRIEVERS
runs/$(1)/$(2)bm25.index/meta.json: $(3) | $(VENV)/.dense
	$(HYBRIDCLI) index-sparse $$< -o $$(@D)

runs/$(1)/$(2)dense.index/meta.json: $(3) runs/model | $(VENV)/.dense
	$(HYBRIDCLI) index-dense $$< -o $$(@D) --model $(MODEL)

runs/$(1)/$(2)bm25.run runs/$(1)/$(2)dense.run: runs/$(1)/%.run: runs/$(1)/%.index/meta.json runs/$(1)/topics.tsv
	$(HYBRIDCLI) retrieve $$(<D) runs/$(1)/topics.tsv --depth $(DEPTH) --tag $$* -o $$@
endef

# $(1) data set  $(2) documents  $(3) references  $(4) what the documents depend on
define PIPELINE
runs/$(1)/windows.jsonl: $(4) | $(VENV)/.dense
	@mkdir -p runs/$(1) qrels/$(1)
	$(HYBRIDCLI) window $(2) -o $$@

qrels/$(1)/reference.qrels: runs/$(1)/windows.jsonl $(3) | $(VENV)/.dense
	$(HYBRIDCLI) map-labels $(3) $$< --qrels qrels/$(1)/window.qrels --reference-qrels $$@ \
	  --provenance qrels/$(1)/provenance.jsonl --unresolved qrels/$(1)/unresolved.tsv \
	  --excluded qrels/$(1)/excluded.txt --literal qrels/$(1)/literal.txt --groups qrels/$(1)/groups.tsv \
	  --categories qrels/$(1)/categories.tsv --topics runs/$(1)/topics.tsv --audit 256,512

runs/$(1)/topics.tsv qrels/$(1)/groups.tsv qrels/$(1)/categories.tsv: qrels/$(1)/reference.qrels ;

$(call RETRIEVERS,$(1),,runs/$(1)/windows.jsonl)

runs/$(1)/alpha-0.5.run: runs/$(1)/bm25.run runs/$(1)/dense.run
	$(HYBRIDCLI) fuse $$^ --method weighted --norm min-max --weights 0.5,0.5 --tag alpha-0.5 -o $$@

runs/$(1)/rrf.run: runs/$(1)/bm25.run runs/$(1)/dense.run
	$(HYBRIDCLI) fuse $$^ --method rrf --tag rrf -o $$@

# the table, and what weights could gain, with the curve
runs/$(1)/compare.txt: $(FUSED:%=runs/$(1)/%.run) qrels/$(1)/reference.qrels
	$(HYBRIDCLI) compare $(FUSED:%=runs/$(1)/%.run) $(call JUDGED,$(1)) $(A_MEASURES) --seed $(SEED) -o $$@

runs/$(1)/oracle.txt: runs/$(1)/bm25.run runs/$(1)/dense.run qrels/$(1)/reference.qrels
	$(HYBRIDCLI) oracle runs/$(1)/bm25.run runs/$(1)/dense.run $(call JUDGED,$(1)) $(A_MEASURES) --grid 0.05 \
	  --seed $(SEED) --curve runs/$(1)/curve.tsv --plot runs/$(1)/curve.svg --weights-out runs/$(1)/oracle.weights > $$@

# routers, each judged on companies that its training has not seen, then the study's decision rule
runs/$(1)/routed/report.json: runs/$(1)/bm25.run runs/$(1)/dense.run qrels/$(1)/reference.qrels
	@mkdir -p $$(@D)
	@for file in $$^; do test runs/$(1)/routed.work -nt $$$$file || rm -f runs/$(1)/routed.work; done
	$(HYBRIDCLI) route runs/$(1)/bm25.run runs/$(1)/dense.run $(call JUDGED,$(1)) $(A_MEASURES) --router all \
	  --topics runs/$(1)/topics.tsv --categories qrels/$(1)/categories.tsv --index runs/$(1)/dense.index \
	  --folds 5 --repeats $(REPEATS) --seed $(SEED) --work runs/$(1)/routed.work --out-dir $$(@D) > $$(@D)/table.txt

runs/$(1)/routed/table.txt: runs/$(1)/routed/report.json ;

runs/$(1)/routers.txt: runs/$(1)/routed/report.json
	$(HYBRIDCLI) compare $(ROUTERS:%=--values runs/$(1)/routed/%.values) $(call JUDGED,$(1)) $(A_MEASURES) \
	  $(foreach router,$(filter-out equal tuned category,$(ROUTERS)),--planned '$(router)>equal') \
	  --test bootstrap --correction bonferroni --seed $(SEED) -o $$@

# the effect of the encoder's limit: the same encoder on uncut units and, by its best window, on windows
runs/$(1)/units.jsonl: $(4) | $(VENV)/.dense
	@mkdir -p runs/$(1) qrels/$(1)
	$(HYBRIDCLI) window $(2) --uncut -o $$@

qrels/$(1)/units.reference.qrels: runs/$(1)/units.jsonl $(3) | $(VENV)/.dense
	$(HYBRIDCLI) map-labels $(3) $$< --qrels qrels/$(1)/units.qrels --reference-qrels $$@ --groups qrels/$(1)/groups.tsv

$(call RETRIEVERS,$(1),units-,runs/$(1)/units.jsonl)

runs/$(1)/best-window-bm25.run runs/$(1)/best-window-dense.run: runs/$(1)/best-window-%.run: runs/$(1)/%.run
	awk '{ split($$$$3, part, ":"); unit = part[1] ":" part[2] ":0"; \
	  if (!seen[$$$$1, unit]++) print $$$$1, "Q0", unit, ++rank[$$$$1], $$$$5, "best-window-$$*" }' $$< > $$@

runs/$(1)/units.txt: $(UNIT_RUNS:%=runs/$(1)/%.run) qrels/$(1)/units.reference.qrels
	$(HYBRIDCLI) compare $(UNIT_RUNS:%=runs/$(1)/%.run) --qrels qrels/$(1)/units.reference.qrels \
	  --groups qrels/$(1)/groups.tsv --pair best-window-bm25,units-bm25 --pair best-window-dense,units-dense \
	  $(A_MEASURES) --seed $(SEED) -o $$@

# a statement's heading carried to each of its windows
runs/$(1)/carried.jsonl: $(4) | $(VENV)/.dense
	@mkdir -p runs/$(1)
	$(HYBRIDCLI) window $(2) --carry-headings -o $$@

$(call RETRIEVERS,$(1),carried-,runs/$(1)/carried.jsonl)

runs/$(1)/carried.txt: $(CARRIED_RUNS:%=runs/$(1)/%.run) qrels/$(1)/reference.qrels
	$(HYBRIDCLI) compare $(CARRIED_RUNS:%=runs/$(1)/%.run) $(call JUDGED,$(1)) --pair carried-bm25,bm25 \
	  --pair carried-dense,dense $(A_MEASURES) --seed $(SEED) -o $$@

# would the excluded queries, the loosely mapped ones or one category change the answer?
runs/$(1)/sensitivity.txt: $(FUSED:%=runs/$(1)/%.run) qrels/$(1)/reference.qrels
	$(HYBRIDCLI) compare $(FUSED:%=runs/$(1)/%.run) $(call JUDGED,$(1)) -m RefHit@10 --baseline alpha-0.5 \
	  --excluded qrels/$(1)/excluded.txt --subset qrels/$(1)/literal.txt --topics runs/$(1)/topics.tsv \
	  --slices category=qrels/$(1)/categories.tsv --agreement --seed $(SEED) -o $$@
endef

A_MEASURES = -m RefHit@10 -m R@10
FUSED = bm25 dense alpha-0.5 rrf
UNIT_RUNS = units-bm25 best-window-bm25 units-dense best-window-dense
CARRIED_RUNS = bm25 carried-bm25 dense carried-dense
JUDGED = --qrels qrels/$(1)/reference.qrels --groups qrels/$(1)/groups.tsv
ROUTERS = equal tuned category heuristic forest ridge
# the study repeats its folds 20 times; 3 times is what a newcomer waits for
REPEATS ?= $(if $(DATA),20,3)
STUDY_A = $(patsubst %,runs/$(1)/%.txt,compare oracle routed/table routers units carried sensitivity)

DEMO_FILINGS := $(wildcard fixtures/filings/*)
$(eval $(call PIPELINE,demo,fixtures/filings,fixtures/queries.jsonl,$(DEMO_FILINGS)))
ifdef DATA
$(eval $(call PIPELINE,finder,$(DATA)/filings,$(DATA)/queries.jsonl,$(wildcard $(DATA)/filings/*)))
endif

## demo: install, run the pipeline on the demo, print its tables
demo: runs/demo/compare.txt runs/demo/oracle.txt
	@cat $^

## finder: study A's table on real filings (DATA=dir)
finder: $(if $(wildcard $(DATA)/queries.jsonl),runs/finder/compare.txt runs/finder/oracle.txt)
	@test -n "$^" || { $(call missing,finder); }
	@cat $^

## study-a: routers, units, headings, sensitivity (demo, or DATA=dir)
A_SET := $(if $(DATA),$(if $(wildcard $(DATA)/queries.jsonl),finder),demo)
study-a: $(if $(A_SET),$(call STUDY_A,$(A_SET)))
	@test -n "$^" || { $(call missing,finder); }
	@for table in $^; do echo "== $$table"; cat $$table; done

# ---------------------------------------------------------------- any data set of ir_datasets
DATASET ?= beir/scifact/test
IRDS_MEASURES ?= -m nDCG@10 -m RR@10 -m R@100
# $(1) its folder in runs/  $(2) its id
define IRDS_PIPELINE
runs/$(1)/bm25.index/meta.json: | $(VENV)/.dense
	@mkdir -p runs/$(1)
	$(HYBRIDCLI) index-sparse irds:$(2) -o $$(@D)

runs/$(1)/dense.index/meta.json: runs/model | $(VENV)/.dense
	@mkdir -p runs/$(1)
	$(HYBRIDCLI) index-dense irds:$(2) -o $$(@D) --model $(MODEL)

runs/$(1)/bm25.run runs/$(1)/dense.run: runs/$(1)/%.run: runs/$(1)/%.index/meta.json
	$(HYBRIDCLI) retrieve $$(<D) irds:$(2) --depth 1000 --tag $$* -o $$@

runs/$(1)/rrf.run: runs/$(1)/bm25.run runs/$(1)/dense.run
	$(HYBRIDCLI) fuse $$^ --method rrf --tag rrf -o $$@

runs/$(1)/compare.txt: runs/$(1)/bm25.run runs/$(1)/dense.run runs/$(1)/rrf.run
	$(HYBRIDCLI) compare $$^ --qrels irds:$(2) $(IRDS_MEASURES) --seed $(SEED) -o $$@
endef
irds_table = runs/$(subst /,-,$(1))/compare.txt
$(foreach id,$(sort beir/scifact/test cranfield vaswani $(DATASET)),$(eval $(call IRDS_PIPELINE,$(subst /,-,$(id)),$(id))))

## run: any of ir_datasets: make run DATASET=beir/scifact/test
run: $(call irds_table,$(DATASET))
scifact: $(call irds_table,beir/scifact/test)
cranfield: $(call irds_table,cranfield)
vaswani: $(call irds_table,vaswani)
run scifact cranfield vaswani:
	@cat $<

# a file that may be compressed: the name as it is there
found = $(firstword $(wildcard $(1) $(1).gz))

# --- study B: does a static embedding add anything?
# retrievers are bm25, dense (MODEL), static-a and static-b; the grid file says what is tuned on what
B_GRID ?= fixtures/study-b.tsv
B_STATIC_A ?= --model wordllama
B_STATIC_B ?= --model wordllama --dim 64
B_FOLDS ?= 10
B_MAIN = tuned single forced tuned-b forced-b $(if $(EXHAUSTIVE),bm25 dense static-a)
B_RETRIEVERS := bm25 dense static-a static-b
B_LINES := $(shell awk -F'\t' '/^(table|cell)/ { print $$1 ":" $$2 ":" $$3 }' $(B_GRID) | tr ' ' ',')
b_names = $(foreach line,$(filter $(1):%,$(B_LINES)),$(word 2,$(subst :, ,$(line))))
b_of = $(subst $(comma), ,$(lastword $(subst :, ,$(filter $(1):$(2):%,$(B_LINES)))))
b_options = $(shell awk -F'\t' '$$1 == "$(1)" && $$2 == "$(2)" { print $(3) }' $(B_GRID))
comma := ,
# EXHAUSTIVE: every document is scored again for each table, and nothing is kept but its values; empty (the demo):
# complete rankings are written as runs
EXHAUSTIVE ?= $(if $(DATA),1)
b_lists = $(if $(EXHAUSTIVE),$(2:%=runs/study-b/$(1)/%.index),$(2:%=runs/study-b/$(1)/%.run))

# a line of the grid file as a file that changes when the line does: finished cells stay as the grid grows
runs/study-b/grid/%: FORCE
	@mkdir -p $(@D)
	@awk -F'\t' '$$1 ":" $$2 == "$*"' $(B_GRID) | cmp -s - $@ || awk -F'\t' '$$1 ":" $$2 == "$*"' $(B_GRID) > $@

# $(1) collection  $(2) its documents
define STUDY_B_INDEX
runs/study-b/$(1)/bm25.index/meta.json: $(2) | $(VENV)/.dense
	@mkdir -p runs/study-b/$(1)
	$(HYBRIDCLI) index-sparse $(2) -o $$(@D)

runs/study-b/$(1)/dense.index/meta.json: $(2) runs/model | $(VENV)/.dense
	@mkdir -p runs/study-b/$(1)
	$(HYBRIDCLI) index-dense $(2) -o $$(@D) --model $(MODEL)
endef

# $(1) collection  $(2) its documents  $(3) its topics
define STUDY_B_COLLECTION
runs/study-b/$(1)/static-a.index/meta.json: OPTIONS = $(B_STATIC_A)
runs/study-b/$(1)/static-b.index/meta.json: OPTIONS = $(B_STATIC_B)
runs/study-b/$(1)/static-a.index/meta.json runs/study-b/$(1)/static-b.index/meta.json: $(2) | $(VENV)/.dense
	@mkdir -p runs/study-b/$(1)
	$(HYBRIDCLI) index-dense $(2) -o $$(@D) $$(OPTIONS)

$(B_RETRIEVERS:%=runs/study-b/$(1)/%.run): runs/study-b/$(1)/%.run: runs/study-b/$(1)/%.index/meta.json $(3)
	$(HYBRIDCLI) retrieve $$(<D) $(3) --depth 1000000 --tag $$* -o $$@
endef

# $(1) data set  $(2) its collection  $(3) its topics  $(4) its qrels: four columns
define STUDY_B_SET
$(foreach table,$(call b_names,table),$(eval runs/study-b/tables/$(1)/$(table).npz: $(if $(EXHAUSTIVE),$(patsubst %,runs/study-b/$(2)/%.index/meta.json,$(call b_of,table,$(table))),$(call b_lists,$(2),$(call b_of,table,$(table))))))
$(foreach cell,$(call b_names,cell),$(eval runs/study-b/cells/$(1)/$(cell).values: runs/study-b/tables/$(1)/$(call b_of,cell,$(cell)).npz))

runs/study-b/tables/$(1)/%.npz: runs/study-b/grid/table\:% $(4)
	@mkdir -p $$(@D)
	$(HYBRIDCLI) oracle $$(call b_lists,$(2),$$(call b_of,table,$$*)) --qrels $(4) -m RR --table-out $$@ \
	  $(if $(EXHAUSTIVE),--exhaustive --topics $(3)) $$(call b_options,table,$$*,$$$$4 " " $$$$5) --seed $(SEED) > $$(@D)/$$*.txt

runs/study-b/cells/$(1)/%.values: runs/study-b/grid/cell\:% $(4)
	@mkdir -p $$(@D)
	$(HYBRIDCLI) route $$(filter %.npz,$$^) --tables --qrels $(4) -m RR --router tuned --validation 0 --folds $(B_FOLDS) \
	  $$(call b_options,table,$$(call b_of,cell,$$*),$$$$4) $$(call b_options,cell,$$*,$$$$4) --seed $(SEED) \
	  --out-dir $$(@D)/$$* > $$(@D)/$$*.txt
	@cp $$(@D)/$$*/tuned.values $$@

# the study's own comparison, against the tuned weights: training-selected single run, static forced in, each run
runs/study-b/$(1).txt: $(patsubst %,runs/study-b/cells/$(1)/%.values,$(B_MAIN))
	$(HYBRIDCLI) compare $$(^:%=--values %) $(if $(EXHAUSTIVE),,$(patsubst %,runs/study-b/$(2)/%.run,bm25 dense static-a)) \
	  --qrels $(4) -m RR --baseline tuned --seed $(SEED) -o $$@
endef

ifdef DATA
B_BEIR := $(patsubst $(DATA)/%/corpus.jsonl,%,$(patsubst %.gz,%,$(wildcard $(DATA)/*/corpus.jsonl $(DATA)/*/corpus.jsonl.gz)))
B_PLAIN := $(patsubst $(DATA)/%/docs.jsonl,%,$(patsubst %.gz,%,$(wildcard $(DATA)/*/docs.jsonl $(DATA)/*/docs.jsonl.gz)))
B_SETS ?= $(strip $(B_BEIR) $(B_PLAIN))
b_docs = $(if $(filter $(1),$(B_BEIR)),$(DATA)/$(1),$(call found,$(DATA)/$(1)/docs.jsonl))
b_topics = $(if $(filter $(1),$(B_BEIR)),$(DATA)/$(1),$(call found,$(DATA)/$(1)/topics.tsv))
b_qrels = $(if $(filter $(1),$(B_BEIR)),$(call found,$(DATA)/$(1)/qrels/test.tsv),$(call found,$(DATA)/$(1)/qrels.txt))
# BEIR's three columns become four, so that the sets can be put together
$(foreach set,$(B_SETS),$(eval qrels/study-b/$(set).qrels: $(call b_qrels,$(set))))
$(B_SETS:%=qrels/study-b/%.qrels):
	@mkdir -p $(@D)
	gzip -cdf $< | awk '$$1 == "query-id" { beir = 1; next } { print beir ? $$1 " 0 " $$2 " " $$3 : $$0 }' > $@
$(foreach set,$(B_SETS),$(eval $(call STUDY_B_INDEX,$(set),$(call b_docs,$(set)))))
$(foreach set,$(B_SETS),$(eval $(call STUDY_B_COLLECTION,$(set),$(call b_docs,$(set)),$(call b_topics,$(set)))))
$(foreach set,$(B_SETS),$(eval $(call STUDY_B_SET,$(set),$(set),$(call b_topics,$(set)),qrels/study-b/$(set).qrels)))
else
# the demo's sectors as data sets: questions of one sector each, over the windows of all filings; the sweeps are over
# all questions together
B_SETS := air cover devices food tools water
B_SWEPT := all
$(B_SETS:%=qrels/study-b/%.qrels): qrels/study-b/%.qrels: fixtures/sectors.tsv qrels/demo/reference.qrels
	@mkdir -p $(@D)
	awk 'NR == FNR { sector[$$1] = $$2; next } sector[$$1] == "$*"' $< qrels/demo/window.qrels > $@
$(eval $(call STUDY_B_COLLECTION,demo,runs/demo/windows.jsonl,runs/demo/topics.tsv))
runs/study-b/demo/bm25.index/meta.json runs/study-b/demo/dense.index/meta.json: runs/study-b/demo/%.index/meta.json: runs/demo/%.index/meta.json
	@mkdir -p $(@D)
	cp -r $(<D)/. $(@D)
$(foreach set,$(B_SETS) all,$(eval $(call STUDY_B_SET,$(set),demo,runs/demo/topics.tsv,qrels/study-b/$(set).qrels)))
endif
B_SWEPT ?= $(B_SETS)

# all sets together: weights chosen on all sets but one, and the cells side by side
B_TABLES = $(sort $(B_SETS:%=runs/study-b/%.txt) $(B_SWEPT:%=runs/study-b/%.txt))
B_CELLS = $(foreach set,$(B_SWEPT),$(patsubst %,runs/study-b/cells/$(set)/%.values,$(call b_names,cell)))
qrels/study-b/all.qrels: $(B_SETS:%=qrels/study-b/%.qrels)
	cat $^ > $@

runs/study-b/sets.tsv: $(B_SETS:%=qrels/study-b/%.qrels)
	awk '{ set = FILENAME; sub(/.*\//, "", set); sub(/\.qrels$$/, "", set) } !seen[$$1]++ { print $$1 "\t" set }' $^ > $@

LODO := tuned forced
runs/study-b/lodo/tuned.values runs/study-b/lodo/forced.values: runs/study-b/lodo/%.values: qrels/study-b/all.qrels runs/study-b/sets.tsv $(B_SETS:%=runs/study-b/tables/%/a.npz)
	@mkdir -p $(@D)
	$(HYBRIDCLI) route $(filter %.npz,$^) --tables --qrels $< --groups runs/study-b/sets.tsv --leave-one-group-out -m RR \
	  --router tuned --validation 0 $(call b_options,table,a,$$4) $(call b_options,cell,$*,$$4) --seed $(SEED) \
	  --out-dir $(@D)/$* > $(@D)/$*.txt
	@cp $(@D)/$*/tuned.values $@

runs/study-b/pooled/%.values: $(B_SETS:%=runs/study-b/cells/%/tuned.values) $(B_SETS:%=runs/study-b/cells/%/single.values)
	@mkdir -p $(@D)
	cat $(filter %/$*.values,$^) > $@

runs/study-b/lodo.txt: runs/study-b/pooled/tuned.values runs/study-b/pooled/single.values $(LODO:%=runs/study-b/lodo/%.values)
	cat $(LODO:%=runs/study-b/lodo/%.txt) > $@
	$(foreach name,$(LODO),cp runs/study-b/lodo/$(name).values runs/study-b/pooled/lodo-$(name).values &&) true
	$(HYBRIDCLI) compare $(patsubst %,--values runs/study-b/pooled/%.values,tuned single $(LODO:%=lodo-%)) \
	  --qrels qrels/study-b/all.qrels -m RR --slices set=runs/study-b/sets.tsv --baseline tuned --seed $(SEED) >> $@

# one table: what every cell of the grid reached and chose
B_SHOWN = $(foreach set,$(filter-out $(B_SWEPT),$(B_SETS)),$(patsubst %,runs/study-b/cells/$(set)/%.values,$(B_MAIN))) $(B_CELLS)
runs/study-b/sweep.txt: $(B_SHOWN)
	$(HYBRIDCLI) sweep $(B_SHOWN:%.values=%/report.json) -o $@

## study-b: does a static embedding add anything (demo, or DATA=dir)
study-b: $(if $(strip $(B_SETS)),$(B_TABLES) runs/study-b/lodo.txt runs/study-b/sweep.txt)
	@test -n "$^" || { $(call missing,mteb-nl); }
	@for table in $^; do echo "== $$table"; cat $$table; done

mteb-nl: $(if $(DATA),study-b)
	@test -n "$^" || { $(call missing,mteb-nl); }

.PRECIOUS: runs/study-b/grid/%
FORCE:

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

runs/study-c/$(1)/dense.index/meta.json: runs/study-c/$(1)/docs.jsonl runs/model
	$(HYBRIDCLI) index-dense $$< -o $$(@D) --model $(MODEL)

runs/study-c/$(1)/bm25.run runs/study-c/$(1)/dense.run: runs/study-c/$(1)/%.run: runs/study-c/$(1)/%.index/meta.json $(5)
	$(HYBRIDCLI) retrieve $$(<D) $(5) --depth $(CANDIDATES) --tag $$* -o $$@

runs/study-c/$(1)/fused/.done: runs/study-c/$(1)/bm25.run runs/study-c/$(1)/dense.run
	$(HYBRIDCLI) fuse $$^ --all -o $$(@D)
	@touch $$@

# are the two lists different enough to be fused?
runs/study-c/$(1)/lists.txt: runs/study-c/$(1)/bm25.run runs/study-c/$(1)/dense.run $(6) $(7)
	$(HYBRIDCLI) compare $$(filter %.run,$$^) --qrels $(6) -m nDCG@10 --agreement --depth $(CANDIDATES) \
	  $(if $(7),--groups $(7)) --seed $(SEED) -o $$@

runs/study-c/$(1)/cells.txt: runs/study-c/$(1)/fused/.done runs/study-c/$(1)/bm25.run runs/study-c/$(1)/dense.run $(6) $(7)
	$(HYBRIDCLI) compare $$(filter %.run,$$^) $$(<D)/*.run --qrels $(6) $(C_MEASURES) \
	  --doc-slices $$(@D)/slices.tsv --ranking --folds 5 --baseline best:bm25,dense --test t --correction holm \
	  $(if $(7),--groups $(7)) --seed $(SEED) --report $$(@D)/cells.json -o $$@
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

# a window without facts has no labels to be found
runs/study-c/$(1)/topics.jsonl: runs/study-c/$(1)/test.qrels runs/study-c/$(1)/test.jsonl
	awk 'NR == FNR { judged[$$$$1]; next } { split($$$$0, part, "\""); if (part[4] in judged) print }' $$^ > $$@

$(call STUDY_C,$(1),runs/study-c/$(1)/labels.jsonl,runs/study-c/$(1)/train.jsonl,runs/study-c/$(1)/train.qrels,runs/study-c/$(1)/topics.jsonl,runs/study-c/$(1)/test.qrels,runs/study-c/$(1)/groups.tsv)
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
C_SETS ?= $(C_LABELS) $(C_FILINGS)
C_TABLES = $(foreach set,$(C_SETS),$(patsubst %,runs/study-c/$(set)/%.txt,lists cells))

## study-c: labels as documents, every fusion (demo, or DATA=dir)
study-c: $(C_TABLES)
	@test -n "$^" || { $(call missing,xmtc-NAME); }
	@for table in $^; do echo "== $$table"; cat $$table; done

xmtc-%: FORCE
	@test -n "$(filter $@,$(C_LABELS))" || { $(call missing,xmtc-NAME); }
	@$(MAKE) --no-print-directory study-c DATA=$(DATA) C_SETS=$@

# --- study D: re-rankers trained on the nearest passages of other queries
D_SETS ?= legalquad-german gerdalir
D_K ?= 50
D_MEASURES = $(foreach k,1 10 50 100 1000,-m R@$(k)) -m RR@10 -m nDCG@20
D_SWEEPS = --sweep k=10,25,50,100 --sweep models=5,15,35,70 --sweep overlap=0,0.3,0.6,0.9 --sweep vote=sum,count \
  --sweep 'share=0.6 models=15'

# $(1) name  $(2) sparse index  $(3) dense index  $(4) topics  $(5) qrels  $(6) groups, if any
define STUDY_D
runs/study-d/$(1)/bm25.run: $(2)/meta.json $(4)
runs/study-d/$(1)/dense.run: $(3)/meta.json $(4)
runs/study-d/$(1)/bm25.run runs/study-d/$(1)/dense.run: runs/study-d/$(1)/%.run:
	@mkdir -p $$(@D)
	$(HYBRIDCLI) retrieve $$(<D) $(4) --depth 1000 --tag $$* -o $$@

runs/study-d/$(1)/rrf.run: runs/study-d/$(1)/bm25.run runs/study-d/$(1)/dense.run
	$(HYBRIDCLI) fuse $$^ --method rrf --tag rrf -o $$@

runs/study-d/$(1)/logistic.run runs/study-d/$(1)/svr.txt: RERANK = $(HYBRIDCLI) rerank runs/study-d/$(1)/dense.run -k $(D_K) \
  --index $(3) --topics $(4) --qrels $(5) $(if $(6),--groups $(6)) --seed $(SEED) $(D_MEASURES)
runs/study-d/$(1)/logistic.run: runs/study-d/$(1)/dense.run $(5) $(6)
	$$(RERANK) --model logistic -o $$@ > $$(@D)/logistic.txt

# cells that are finished stay in svr.cells: after an interrupt the same make goes on from them
runs/study-d/$(1)/svr.txt: $(foreach run,dense bm25 rrf logistic,runs/study-d/$(1)/$(run).run) $(5) $(6)
	@test $$(@D)/svr.cells -nt $$< || rm -f $$(@D)/svr.cells
	$$(RERANK) --model svr $$(foreach run,bm25 rrf logistic,--against $$(@D)/$$(run).run) $(D_SWEEPS) \
	  --work $$(@D)/svr.cells -o $$(@D)/svr.run > $$@
endef

# documents, topics and qrels as they come.  $(1) name  $(2) documents  $(3) topics  $(4) qrels
define STUDY_D_DATA
runs/study-d/$(1)/bm25.index/meta.json: $(2) | $(VENV)/.dense
	@mkdir -p runs/study-d/$(1)
	$(HYBRIDCLI) index-sparse $(2) -o $$(@D)

runs/study-d/$(1)/dense.index/meta.json: $(2) runs/model | $(VENV)/.dense
	@mkdir -p runs/study-d/$(1)
	$(HYBRIDCLI) index-dense $(2) -o $$(@D) --model $(MODEL)

$(call STUDY_D,$(1),runs/study-d/$(1)/bm25.index,runs/study-d/$(1)/dense.index,$(3),$(4))
endef

ifdef DATA
D_FOUND := $(foreach set,$(D_SETS),$(if $(call found,$(DATA)/$(set)/docs.jsonl),$(set)))
$(foreach set,$(D_FOUND),$(eval $(call STUDY_D_DATA,$(set),$(call found,$(DATA)/$(set)/docs.jsonl),$(call found,$(DATA)/$(set)/topics.tsv),$(call found,$(DATA)/$(set)/qrels.txt))))
else
D_FOUND := demo
qrels/demo/window.qrels: qrels/demo/reference.qrels ;
$(eval $(call STUDY_D,demo,runs/demo/bm25.index,runs/demo/dense.index,runs/demo/topics.tsv,qrels/demo/window.qrels,qrels/demo/groups.tsv))
endif
D_TABLES = $(patsubst %,runs/study-d/%/svr.txt,$(D_FOUND))

## study-d: bagged SVRs as re-rankers (demo, or DATA=dir)
study-d: $(D_TABLES)
	@test -n "$^" || { $(call missing,gerdalir); }
	@for table in $^; do echo "== $$table"; cat $$table; done

gerdalir: $(filter runs/study-d/gerdalir/%,$(D_TABLES))
	@test -n "$^" || { $(call missing,gerdalir); }
	@cat $^

# ---------------------------------------------------------------- tests
## test: the fast lane: no network, no torch, under 3 minutes
test: $(VENV)/.dev
	$(BIN)/python -m pytest -q -m "not slow" -n auto

## test-slow: the slow lane: real models, engines, servers and data
test-slow: $(VENV)/.slow
	$(BIN)/python -m pytest -q -m slow

## bench-engines: time, memory, size of the engines (WINDOWS=, TOPICS=)
WINDOWS ?= 300000
TOPICS ?= 5000
bench-engines: $(VENV)/.slow
	$(BIN)/python -m tests.bench.encoding
	$(BIN)/python -m tests.bench.engines --dataset beir/scifact/test --model minilm
	$(BIN)/python -m tests.bench.engines --windows $(WINDOWS) --topics $(TOPICS)

## bench: against ranx, polars, pytrec_eval; kernels
bench: $(VENV)/.slow
	$(BIN)/python -m tests.bench.kernels
	$(BIN)/python -m tests.bench.evaluate
	$(BIN)/python -m tests.bench.fuse --ranx

## bench-route: routers and re-ranker at the size of the studies
bench-route: $(VENV)/.dev
	$(BIN)/python -m tests.bench.route
	$(BIN)/python -m tests.bench.rerank

## lint: ruff and mypy
lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

## clean: remove what the pipeline wrote (not .venv)
clean:
	git clean -fdXq runs qrels

.PHONY: bench-route datasets scifact cranfield vaswani mteb-nl gerdalir bench-engines help install install-lucene demo finder study-a study-b study-c study-d test test-slow bench lint clean
