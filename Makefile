# Two commands do everything on a fresh machine with Python 3.11+, make and g++:
#   make demo    sets up .venv, installs textkin and runs the demo
#   make test    sets up .venv, installs textkin with its test extra and runs the tests
PYTHON ?= python3
BIN := .venv/bin
# Of the tests: one process a core. Near the end one that has nothing left takes over from others;
# until then the tests of a file stay together, with what they share. In one process: make WORKERS=
WORKERS ?= -n logical --maxprocesses 8 --dist worksteal
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
SOURCES := $(shell find src -type f -not -name '*.pyc') CMakeLists.txt pyproject.toml README.md

.PHONY: demo test test-all lint format types sanitize bench clean

demo: .venv/.core
	$(BIN)/textkin demo

test: .venv/.test
	$(BIN)/python -m pytest $(WORKERS)

# The slow tests too.
test-all: .venv/.test
	$(BIN)/python -m pytest -m "slow or not slow"

lint: .venv/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/clang-format --dry-run --Werror $$(git ls-files '*.cpp' '*.h')

format: .venv/.lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $$(git ls-files '*.cpp' '*.h')

# On the installed copy, which holds the generated stub of the core; with the libraries of the
# extras, whose types it uses.
types: .venv/.test .venv/.lint
	$(BIN)/mypy -p textkin
	$(BIN)/mypy src/textkin/__init__.py
	$(BIN)/python -m mypy.stubtest textkin --mypy-config-file pyproject.toml --allowlist stubtest.txt

# The core alone, without Python, under the sanitizers.
sanitize: .venv/.tools
	$(BIN)/cmake -S . -B build/sanitize -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja \
	  -DCMAKE_BUILD_TYPE=RelWithDebInfo -DTEXTKIN_TESTS=ON -DTEXTKIN_SANITIZE=address,undefined
	$(BIN)/cmake --build build/sanitize
	build/sanitize/core_tests
	$(BIN)/cmake -S . -B build/sanitize-thread -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja \
	  -DCMAKE_BUILD_TYPE=RelWithDebInfo -DTEXTKIN_TESTS=ON -DTEXTKIN_SANITIZE=thread
	$(BIN)/cmake --build build/sanitize-thread
	build/sanitize-thread/core_tests

# Speed beside the tools people use today, on a quiet machine; with gensim loading takes half an
# hour and searching a quarter.
bench: .venv/.bench
	$(BIN)/python benchmarks/pairs.py
	$(BIN)/python benchmarks/search.py
	$(BIN)/python benchmarks/counting.py
	$(BIN)/python benchmarks/vector_loading.py
	$(BIN)/python benchmarks/index_adding.py
	$(BIN)/python benchmarks/store_search.py
	$(BIN)/python benchmarks/table.py --write README.md

clean:
	rm -rf .venv build dist

.venv/.tools: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "textkin needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv .venv
	$(PIP) 'scikit-build-core>=1.1' 'nanobind>=3.1,<4' cmake ninja
	touch $@

# Without build isolation only what changed is compiled again.
.venv/.core: .venv/.tools $(SOURCES)
	$(PIP) --no-build-isolation .
	touch $@

.venv/.test: .venv/.core
	$(PIP) --no-build-isolation '.[test]'
	touch $@

.venv/.bench: .venv/.core
	$(PIP) --no-build-isolation '.[bench]'
	touch $@

.venv/.lint: .venv/.tools
	$(PIP) $$($(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["dev"])')
	touch $@
