# Two commands do everything on a fresh machine: `make app` and `make test`.
# Each sets up its own virtual environment first; a second call finds it ready.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8501

# A folder with the data files, if one lies beside the project; loaders fall back to
# the user's cache and then to the publisher.
ifneq ($(wildcard ../shared/datasets),)
export EXPLORER_DATA ?= $(abspath ../shared/datasets)
endif
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Waiting threads sleep: spinning ones take the cores from other processes.
export OMP_WAIT_POLICY ?= PASSIVE
# Compiled modules are kept: a page or a worker starts in 0.7 s with them and in 2.4 s without.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: cluster site app class test test-fast test-browser test-thorough test-slow power test-all check bench bench-gpu shots reference shipped clean

app: $(VENV)/app.stamp
	@echo "Epsilon Explorer: http://localhost:$(PORT)"
	@exec $(BIN)/streamlit run app.py --server.port $(PORT) --server.headless true

# The same for everybody in the room's network: address and QR code, uploads off.
class: $(VENV)/app.stamp
	@exec $(BIN)/python -m engine app --class --port $(PORT)

# What a contributor waits for. A test that takes more than a second or two is marked thorough, unless
# it works out a price by hand or notices a fault of `make power`. Kills, wheels and full numbers are slow.
# The browser's tests run beside the others: they wait for each other's processes half the time.
# A thread for each process: small products are slower on two threads than on one.
# Of the quick ones a process that has none left takes some of the other's; longer ones share set-ups.
QUICK := --durations=25
SIDE := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)
test: $(VENV)/dev.stamp $(VENV)/browser.stamp
	@$(MAKE) -j2 $(SIDE) test-fast test-browser

test-fast: $(VENV)/dev.stamp
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest $(QUICK) -n 2 --dist worksteal -m "not browser and not slow and not thorough"

test-browser: $(VENV)/browser.stamp
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest $(QUICK) -m "browser and not slow and not thorough" tests/browser

test-thorough: $(VENV)/dev.stamp $(VENV)/browser.stamp
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest $(QUICK) -n 2 --dist loadfile -m "thorough and not slow"

test-slow: $(VENV)/dev.stamp $(VENV)/browser.stamp
	$(BIN)/python -m pytest $(QUICK) -n 2 --dist loadfile -m slow

test-all: test test-thorough test-slow

# Faults in a copy of the project, and the test that notices each: docs/power.md.
power: $(VENV)/dev.stamp $(VENV)/browser.stamp
	$(BIN)/python -m tests.power

check: $(VENV)/dev.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/test_architecture.py tests/test_house.py

bench: $(VENV)/dev.stamp $(VENV)/browser.stamp $(VENV)/bench.stamp
	$(BIN)/python -m benchmarks

# What ships as pages for any web host: FOLDER=... says where.
site: $(VENV)/app.stamp
	$(BIN)/python -m engine site --to $(or $(FOLDER),build/site)

# On a graphics card: a curve at once against its points one by one; its table has the card's name.
bench-gpu: $(VENV)/dev.stamp
	$(BIN)/python -m benchmarks.gpu

# A scheduler and two workers on this machine, and a curve with and without them.
cluster: $(VENV)/cluster.stamp
	$(BIN)/python -m benchmarks.cluster show

shots: $(VENV)/dev.stamp $(VENV)/browser.stamp
	$(BIN)/python -m tests.browser.shots docs/shots

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "expected Python 3.11 or newer, got $$($(PYTHON) --version); set PYTHON="; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "expected python3-venv: apt-get install python3-venv"; exit 1; }

$(VENV)/app.stamp: requirements.txt | $(VENV)/bin/python
	$(BIN)/pip install -q -r requirements.txt
	@touch $@

$(VENV)/dev.stamp: requirements.txt requirements-cluster.txt requirements-dev.txt \
  requirements-oracles.txt | $(VENV)/bin/python
	$(BIN)/pip install -q -r requirements-dev.txt
	$(BIN)/pip install -q --no-deps -r requirements-oracles.txt
	@touch $@ $(VENV)/app.stamp

$(VENV)/cluster.stamp: requirements.txt requirements-cluster.txt | $(VENV)/bin/python
	$(BIN)/pip install -q -r requirements-cluster.txt
	@touch $@ $(VENV)/app.stamp

$(VENV)/bench.stamp: requirements-bench.txt $(VENV)/dev.stamp
	$(BIN)/pip install -q --no-deps -r requirements-bench.txt
	@touch $@

# The system's Chromium if there, else Debian's when we may, else Playwright's own.
$(VENV)/browser.stamp: $(VENV)/dev.stamp
	@if command -v chromium >/dev/null || command -v chromium-browser >/dev/null \
	  || command -v google-chrome >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get update -qq && apt-get install -y -qq chromium; \
	else $(BIN)/playwright install chromium; fi
	@touch $@

# Every table and figure of every paper at full size; ONLY="survival table2" for one of them.
reference: $(VENV)/dev.stamp
	$(BIN)/python -m engine reproduce $(ONLY) --full --write

# What every page opens with, trained beforehand; what is up to date is left alone.
shipped: $(VENV)/dev.stamp
	$(BIN)/python -m pages.ui.shipped --write
	$(BIN)/python -m pages.ui.prices

clean:
	rm -rf build epsilon_explorer.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
