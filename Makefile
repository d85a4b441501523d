# make run [ADDRESS=0.0.0.0] · make test · make check · make slow · make landing · make docs · make bench · make pretrain
# make lock [UPGRADE=--upgrade] · make audit · make sbom [SBOM=sbom.cdx.json]
# make fuzz [CASES=10000 SEED=0] · make faults [FAULTS=200 SEED=0]
# make check-gpu · make bench-gpu [NO_VENV=1 PYTHON=python3]: on a machine with a GPU, whose python3 may have torch
# make mutants [MUTANTS=400 SEED=0 LINES=FILE]
# make affected [SINCE=HEAD] · make nightly
# Each makes the virtual environment first if it is missing or older than the requirements.

# Every process of a server, a run or a test that starts would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BENCH := .venv-bench
AUDIT := .venv-audit
LOCKING := .venv-lock
# "no" installs by requirements.txt alone, in whatever versions fit: for a platform that the lock has no packages for.
LOCKED ?= yes
SBOM ?= sbom.cdx.json
PORT ?= 8501
# Who reaches the dashboard: this machine alone, or with 0.0.0.0 every machine of the network
ADDRESS ?= 127.0.0.1
CORPUS ?= corpus
# What the tests keep runs in: sqlite, or postgresql (a server of their own is started; it must be installed)
DATABASE ?= sqlite
# Tests run in so many processes, each of one thread; those of one module stay together.
JOBS ?= 3
# Damaged files of a fuzzing, and what they are drawn by
CASES ?= 10000
SEED ?= 0
# Faults under servers at work, drawn by the same seed
FAULTS ?= 200
# Points of the code that are changed one at a time, drawn by the same seed
MUTANTS ?= 400
# Where the tests of each line are recorded, for more than one draw on a state
LINES ?=
# Which tests: all, or those of some folders, and of a marker ("slow", "not slow")
TESTS ?=
# What `make affected` compares with
SINCE ?= HEAD
MARKER ?=
# Where the tests run, drawn by a seed (tests/nightly/place.py): order of the files, time zone, locale. Empty: as they stand.
PLACE ?=

# With NO_VENV=1 the GPU is checked and measured by $(PYTHON) as it is, where nothing can be installed.
ifdef NO_VENV
GPU_PYTHON := $(PYTHON)
else
GPU_PYTHON := $(BIN)/python
GPU_STAMP := $(VENV)/test.stamp
endif
# Where the tables of bench-gpu are written
RESULTS_GPU ?= tests/benchmarks/RESULTS_GPU.md

.PHONY: run test check landing affected slow nightly fuzz faults mutants lint types directions docs bench check-gpu bench-gpu pretrain lock audit sbom clean

run: $(VENV)/samples.stamp
	@case "$(ADDRESS)" in 127.*|localhost|::1) ;; *) echo "Open: every machine that reaches $(ADDRESS), port $(PORT), may use this dashboard, without a sign-in unless one is set up (docs/hosting.md)." ;; esac
	$(BIN)/python -m streamlit run dashboard/server.py --server.address $(ADDRESS) --server.port $(PORT)

test: $(VENV)/test.stamp
	HAKARI_TEST_DATABASE=$(DATABASE) HAKARI_TEST_PLACE=$(PLACE) OMP_NUM_THREADS=1 tests/in_memory.sh $(BIN)/python -m pytest -n $(JOBS) --durations=25 --dist loadfile --no-loadscope-reorder -m "$(MARKER)" $(TESTS)

# A landing has the slow tests too, in one run with the others, so that no process waits in between.
check: MARKER := not slow and not nightly
landing: MARKER := not nightly
check landing: $(VENV)/test.stamp
	@$(MAKE) --no-print-directory -j 2 lint directions
	@$(MAKE) --no-print-directory -j 2 types test MARKER="$(MARKER)"

slow: $(VENV)/test.stamp
	@$(MAKE) --no-print-directory test MARKER="slow and not nightly"

# What is drawn at random and has a few draws in every check: the other draws. Then the slow tests, and those of every
# check once more, in an order, a time zone and a locale that the date draws.
nightly: PLACE := $(shell date +%Y-%m-%d)
nightly: $(VENV)/test.stamp
	@$(MAKE) --no-print-directory test MARKER=nightly PLACE=
	@$(MAKE) --no-print-directory test MARKER="not slow and not nightly" PLACE=$(PLACE)
	@$(MAKE) --no-print-directory slow

# The tests of what was changed since a commit, by the graph of imports, slow ones too; a landing needs `make landing`.
affected: $(VENV)/test.stamp
	@tests="$$($(BIN)/python -m tests.affected $(SINCE))" && $(MAKE) --no-print-directory test MARKER="not nightly" TESTS="$$tests"

fuzz: $(VENV)/test.stamp
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.fuzzing --cases $(CASES) --seed $(SEED)

faults: $(VENV)/test.stamp
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.faults --faults $(FAULTS) --seed $(SEED)

mutants: $(VENV)/test.stamp
	OMP_NUM_THREADS=1 tests/in_memory.sh $(BIN)/python -m tests.mutants --mutants $(MUTANTS) --seed $(SEED) --jobs $(JOBS) $(if $(LINES),--lines $(LINES))

lint: $(VENV)/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/test.stamp
	$(BIN)/mypy

directions: $(VENV)/test.stamp
	$(BIN)/lint-imports

# The sections of the documents that the code declares.
docs: $(VENV)/test.stamp
	$(BIN)/python -m docs.generate

bench: $(VENV)/test.stamp $(BENCH)/peers.stamp
	$(BIN)/python -m tests.benchmarks

# Random models made on the spot; no data and no network. They say so and end well where there is no GPU.
check-gpu: $(GPU_STAMP)
	$(GPU_PYTHON) -m tests.gpu check

bench-gpu: $(GPU_STAMP)
	$(GPU_PYTHON) -m tests.gpu bench --results $(RESULTS_GPU)

# The peers of the bench need an older transformers than Hakari.
$(BENCH)/peers.stamp: tests/benchmarks/peers.txt
	@[ -x $(BENCH)/bin/python ] && $(BENCH)/bin/python -c 'import pip' 2>/dev/null || { rm -rf $(BENCH); $(PYTHON) -m venv $(BENCH); }
	$(BENCH)/bin/python -m pip install --disable-pip-version-check -q -r tests/benchmarks/peers.txt
	@touch $@

# The built-in models of the novels alone: make pretrain CORPUS=novels.zip. Each was trained in two parts.
pretrain: $(VENV)/run.stamp
	$(BIN)/python -m engine pretrain --corpus $(CORPUS) --architecture bert --steps 3500 --short-share 0.5714 --warmup-steps 500 --optimizer adamw --out pretrained/first/bert-mini-ja
	$(BIN)/python -m engine pretrain --corpus $(CORPUS) --architecture bert --start pretrained/first/bert-mini-ja --keep-vocabulary --steps 3000 --short-share 0 --warmup-steps 100 --out pretrained/bert-mini-ja
	$(BIN)/python -m engine pretrain --corpus $(CORPUS) --architecture gpt2 --steps 3300 --short-share 0.303 --optimizer adamw --out pretrained/first/gpt2-mini-ja
	$(BIN)/python -m engine pretrain --corpus $(CORPUS) --architecture gpt2 --start pretrained/first/gpt2-mini-ja --keep-vocabulary --steps 3000 --learning-rate 0.001 --short-share 0 --warmup-steps 100 --out pretrained/gpt2-mini-ja

PIP := $(BIN)/python -m pip install --disable-pip-version-check -q
TORCH := $(shell sed -n 's/^\(torch==[^ ]*\).*/\1/p' requirements.txt)
# $(call install,FOLDER/requirements): what its lock holds, all of it with hashes. torch comes first and from no lock, because
# the machine decides which build of it is right; the lock then has what every build needs.
ifeq ($(LOCKED),yes)
install = $(PIP) $(TORCH) && $(PIP) --no-deps --require-hashes -r $(1).lock || { \
	echo "Not installed. If a package is not there for this platform, LOCKED=no takes versions that are (docs/development.md)."; exit 1; }
else
install = $(PIP) -r $(1).txt
endif

# A broken or half-made environment is made again from nothing. The lock keeps two makes apart.
$(VENV)/run.stamp: requirements.txt requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Hakari needs Python 3.11 or newer; this is " + sys.version)'
	@[ -x $(BIN)/python ] && $(BIN)/python -c 'import pip' 2>/dev/null || { rm -rf $(VENV); $(PYTHON) -m venv $(VENV); }
	$(call install,requirements)
	@touch $@

# The home page shows the built-in models on the samples: evaluated here, it is complete at the first visit.
$(VENV)/samples.stamp: $(VENV)/run.stamp $(shell find engine -type f -not -name '*.pyc')
	@echo "Evaluating the built-in models on the samples, once …"
	@$(BIN)/python -m dashboard.prepare_samples && touch $@ || echo "The home page will evaluate them at the first visit."

$(VENV)/test.stamp: $(VENV)/run.stamp tests/requirements.txt tests/requirements.lock deploy/requirements-ray.txt
	$(call install,tests/requirements)
	@touch $@

# The locks again, after a change of the requirements: for Linux and macOS, and every Python from 3.11 on. Versions stay as
# they are where they can; UPGRADE=--upgrade takes the newest of what no requirement pins.
lock: $(LOCKING)/lock.stamp
	$(COMPILE) $(UPGRADE) requirements.txt -o requirements.lock
	$(COMPILE) $(UPGRADE) -c requirements.lock tests/requirements.txt -o tests/requirements.lock

COMPILE := $(LOCKING)/bin/uv pip compile -q --config-file deploy/lock.toml --universal --python-version 3.11 \
	--generate-hashes --no-emit-package torch --no-strip-extras --custom-compile-command "make lock"

$(LOCKING)/lock.stamp: deploy/requirements-lock.txt
	@[ -x $(LOCKING)/bin/python ] && $(LOCKING)/bin/python -c 'import pip' 2>/dev/null || { rm -rf $(LOCKING); $(PYTHON) -m venv $(LOCKING); }
	$(LOCKING)/bin/python -m pip install --disable-pip-version-check -q -r deploy/requirements-lock.txt
	@touch $@

# Asks the Python Packaging Advisory Database, over the network. What cannot be looked up fails it, too. The variant of
# torch (+cpu) is no part of the version that advisories name.
audit: $(VENV)/run.stamp $(AUDIT)/audit.stamp
	@$(BIN)/python -m pip list --disable-pip-version-check --format=freeze | sed 's/+[^ ]*$$//' > $(AUDIT)/installed.txt
	$(AUDIT)/bin/pip-audit --strict --progress-spinner off --no-deps --disable-pip -r $(AUDIT)/installed.txt

# What is installed, as CycloneDX (JSON); no network.
sbom: $(VENV)/run.stamp $(AUDIT)/audit.stamp
	$(AUDIT)/bin/cyclonedx-py environment --output-reproducible --of JSON -o $(SBOM) $(BIN)/python

$(AUDIT)/audit.stamp: deploy/requirements-audit.txt
	@[ -x $(AUDIT)/bin/python ] && $(AUDIT)/bin/python -c 'import pip' 2>/dev/null || { rm -rf $(AUDIT); $(PYTHON) -m venv $(AUDIT); }
	$(AUDIT)/bin/python -m pip install --disable-pip-version-check -q -r deploy/requirements-audit.txt
	@touch $@

clean:
	rm -rf $(VENV) $(BENCH) $(AUDIT) $(LOCKING)
