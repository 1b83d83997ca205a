# Two commands do everything on a fresh machine with Python 3.11+, make and g++:
#   make demo    sets up .venv, installs textkin and runs the demo
#   make test    sets up .venv, installs textkin with its test extra and runs the tests
PYTHON ?= python3
BIN := .venv/bin
# Options of the tests: one process per core. The tests of a file stay together, with their shared
# data, until an idle process takes over tests of others. To use a single process: make WORKERS=
WORKERS ?= -n logical --maxprocesses 8 --dist worksteal
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
SOURCES := $(shell find src -type f -not -name '*.pyc') CMakeLists.txt pyproject.toml README.md

.PHONY: demo test test-rest test-all test-minimums fuzz lint format types docs wheels core core-clang core-arm sanitize sanitize-clang fuzz-core fuzz-core-long instructions bench clean

demo: .venv/.core
	$(BIN)/textkin demo

# The order of the tests is random (pytest-randomly), and printed as "Using --randomly-seed=N". To
# repeat an order: make test SEED=N (the environment variable SEED does the same)
SEED ?=
ORDER := $(if $(SEED),--randomly-seed=$(SEED))

test: .venv/.test
	$(BIN)/python -m pytest $(WORKERS) $(ORDER)

# What `make test` leaves out: slow tests, and the tests of the benchmarks and papers, which lie
# beside these scripts.
test-rest: .venv/.test
	$(BIN)/python -m pytest $(WORKERS) $(ORDER) -m slow tests
	$(BIN)/python -m pytest $(WORKERS) $(ORDER) -m "slow or not slow" benchmarks/tests papers/tests

# All tests, each once.
test-all: test test-rest

# Attacks on parsers, folders, the server, and the solver with mutated input, 30 seconds per target.
fuzz: .venv/.test
	$(BIN)/python tests/fuzz/attack.py --seconds 30 $(if $(SEED),--seed $(SEED))

# Tests of what depends on other packages, with the lowest versions that pyproject.toml declares.
MINIMUMS := .venv-minimums/bin
test-minimums: .venv-minimums/.test
	$(MINIMUMS)/python -m pytest -q -W default::DeprecationWarning $(WORKERS) tests/base tests/cli tests/distance tests/reading \
	  tests/text tests/weighting tests/index/test_index.py tests/index/test_attached.py \
	  tests/learn/test_rocchio.py tests/learn/test_saving.py tests/models/factors \
	  tests/transport/test_mover.py tests/transport/test_saving.py tests/vectors/test_store.py \
	  tests/web/test_api_search.py tests/web/test_api_server.py

lint: .venv/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/python scripts/check_prose.py
	$(BIN)/clang-format --dry-run --Werror $$(git ls-files '*.cpp' '*.h')
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml

format: .venv/.lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $$(git ls-files '*.cpp' '*.h')

# mypy checks the installed copy, which has the generated stub of the core, together with the
# libraries of the extras, whose types it uses.
types: .venv/.test .venv/.lint
	$(BIN)/mypy -p textkin
	$(BIN)/mypy -p papers --exclude /tests/

# The documentation site, in build/docs, from an installed build in an environment of its own. The
# newest Sphinx needs Python 3.12 or newer; with an older Python, pip installs an older Sphinx. Warnings
# are errors, and nothing is downloaded once the packages are installed.
DOCS := .venv-docs/bin
DOCS_PYTHON ?= $(shell for python in python3.13 "$$HOME"/.pyenv/versions/3.13.*/bin/python python3.12 \
  "$$HOME"/.pyenv/versions/3.12.*/bin/python $(PYTHON); do \
  "$$python" -c '' 2>/dev/null && command -v "$$python" && break; done)
docs: .venv-docs/.core
	$(DOCS)/python scripts/build_docs.py

# Wheels in dist, each tested in a new environment with the demo and the tutorials.
WHEEL_PYTHONS ?= 3.11 3.12 3.13
wheels:
	$(PYTHON) scripts/build_wheels.py $(WHEEL_PYTHONS)

# Configure a build of the tests of the core, which needs no Python.
CONFIGURE_CORE := $(BIN)/cmake -S . -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja -DTEXTKIN_TESTS=ON

# The tests of the core in builds that show whether two entities share a name: without optimization,
# where the linker chooses between them, and with link-time optimization, which compares them. GCC 12
# warns of overflows in its own std::string when it optimizes whole programs.
core: .venv/.tools
	$(CONFIGURE_CORE) -B build/core-unoptimized -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0
	$(BIN)/cmake --build build/core-unoptimized
	$(BIN)/ctest --test-dir build/core-unoptimized --output-on-failure
	$(CONFIGURE_CORE) -B build/core-linked -DCMAKE_BUILD_TYPE=Release \
	  -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON -DCMAKE_CXX_FLAGS='-Wodr -Werror' \
	  -DCMAKE_EXE_LINKER_FLAGS='-Wno-error=stringop-overflow -Wno-error=restrict'
	$(BIN)/cmake --build build/core-linked
	$(BIN)/ctest --test-dir build/core-linked --output-on-failure

# The tests of the core with Clang as the compiler.
CLANG ?= clang++
core-clang: .venv/.tools
	$(CONFIGURE_CORE) -B build/core-clang -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=$(CLANG)
	$(BIN)/cmake --build build/core-clang
	$(BIN)/ctest --test-dir build/core-clang --output-on-failure

# The tests of the core for 64-bit ARM: compiled by Debian's g++-aarch64-linux-gnu and run by
# qemu-user.
core-arm: .venv/.tools
	$(CONFIGURE_CORE) -B build/core-arm -DCMAKE_BUILD_TYPE=Release -DCMAKE_SYSTEM_NAME=Linux \
	  -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ \
	  -DCMAKE_CROSSCOMPILING_EMULATOR='qemu-aarch64;-L;/usr/aarch64-linux-gnu'
	$(BIN)/cmake --build build/core-arm
	$(BIN)/ctest --test-dir build/core-arm --output-on-failure

# The core without Python, under the sanitizers.
sanitize: .venv/.tools
	$(CONFIGURE_CORE) -B build/sanitize -DCMAKE_BUILD_TYPE=RelWithDebInfo \
	  -DTEXTKIN_SANITIZE=address,undefined
	$(BIN)/cmake --build build/sanitize
	build/sanitize/core_tests
	build/sanitize/core_memory_tests
	$(BIN)/cmake -S . -B build/sanitize-thread -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja \
	  -DCMAKE_BUILD_TYPE=RelWithDebInfo -DTEXTKIN_TESTS=ON -DTEXTKIN_SANITIZE=thread
	$(BIN)/cmake --build build/sanitize-thread
	build/sanitize-thread/core_tests
	build/sanitize-thread/core_memory_tests

# The same tests under the sanitizers of Clang, whose code for vectors differs from GCC's.
sanitize-clang: .venv/.tools
	$(CONFIGURE_CORE) -B build/sanitize-clang -DCMAKE_BUILD_TYPE=RelWithDebInfo \
	  -DCMAKE_CXX_COMPILER=$(CLANG) -DTEXTKIN_SANITIZE=address,undefined
	$(BIN)/cmake --build build/sanitize-clang
	build/sanitize-clang/core_tests
	build/sanitize-clang/core_memory_tests

# Every fuzz target of the core for some seconds, two at a time, under the sanitizers: with Clang and
# libFuzzer if they are installed. Inputs that reach new code are kept under build/.
FUZZ_CXX ?= $(shell command -v clang++ || echo c++)
FUZZ_TARGETS := numbers packed_counts packed_words postings tokenizer vector_binary vector_text
FUZZ_OPTIONS ?= -max_total_time=30
fuzz-core: .venv/.tools
	$(CONFIGURE_CORE) -B build/core-fuzz -DCMAKE_BUILD_TYPE=RelWithDebInfo -DTEXTKIN_TESTS=OFF \
	  -DTEXTKIN_FUZZ=ON -DTEXTKIN_SANITIZE=address,undefined -DCMAKE_CXX_COMPILER=$(FUZZ_CXX)
	$(BIN)/cmake --build build/core-fuzz
	for target in $(FUZZ_TARGETS); do mkdir -p build/fuzz/$$target; done
	printf '%s\n' $(FUZZ_TARGETS) | xargs -P 2 -I TARGET sh -c \
	  'build/core-fuzz/fuzz_TARGET $(FUZZ_OPTIONS) $(if $(SEED),-seed=$(SEED)) build/fuzz/TARGET tests/core/fuzz/corpus/TARGET > build/fuzz/TARGET.log 2>&1 || { tail -40 build/fuzz/TARGET.log; exit 255; }'
	for target in $(FUZZ_TARGETS); do echo "$$target: $$(tail -1 build/fuzz/$$target.log)"; done

# The same for 10 million inputs of each target: about an hour of CPU time.
fuzz-core-long:
	$(MAKE) fuzz-core FUZZ_OPTIONS='-runs=10000000 -max_len=256'

# Instructions of distances and searches, compared with stored counts of the same compiler. Needs
# valgrind.
instructions: .venv/.core
	PATH="$(CURDIR)/$(BIN):$$PATH" python benchmarks/instructions.py --compare --pairs 30 \
	  --workloads reut twit search ranking --out benchmarks/results/instructions-guard.json

# Speed compared with other tools, on an idle machine. With gensim, loading takes half an hour and
# searching a quarter of an hour.
bench: .venv/.bench
	$(BIN)/python benchmarks/pairs.py
	$(BIN)/python benchmarks/search.py
	$(BIN)/python benchmarks/counting.py
	$(BIN)/python benchmarks/vector_loading.py
	$(BIN)/python benchmarks/index_adding.py
	$(BIN)/python benchmarks/store_search.py
	$(BIN)/python benchmarks/table.py --write README.md
	$(BIN)/python benchmarks/table.py --write docs/performance.md

clean:
	rm -rf .venv .venv-minimums .venv-docs .venv-wheels build dist

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

# The wheel of the other environment: nothing is compiled again.
.venv-minimums/.test: .venv/.core scripts/minimum_versions.py
	$(PYTHON) -m venv .venv-minimums
	rm -rf build/wheel
	$(PIP:install=wheel) --no-build-isolation --no-deps --wheel-dir build/wheel .
	$(BIN)/python scripts/minimum_versions.py > .venv-minimums/requirements.txt
	$(MINIMUMS)/python -m pip --disable-pip-version-check install --quiet --only-binary :all: \
	  -r .venv-minimums/requirements.txt
	$(MINIMUMS)/python -m pip --disable-pip-version-check install --quiet --force-reinstall \
	  --no-deps build/wheel/*.whl
	touch $@

.venv-docs/.tools: pyproject.toml
	@test -n "$(DOCS_PYTHON)" || { echo "make docs needs Python 3.11 or newer: make docs DOCS_PYTHON=/path/to/python3.13"; exit 1; }
	@$(DOCS_PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "make docs needs Python 3.11 or newer: make docs DOCS_PYTHON=/path/to/python3.13")'
	@$(DOCS_PYTHON) -c 'import sys; sys.version_info < (3, 12) and print("note: no Python 3.12 or newer was found; an older Sphinx builds the pages")'
	$(DOCS_PYTHON) -m venv .venv-docs
	$(PIP:$(BIN)%=$(DOCS)%) 'scikit-build-core>=1.1' 'nanobind>=3.1,<4' cmake ninja
	touch $@

.venv-docs/.core: .venv-docs/.tools $(SOURCES)
	$(PIP:$(BIN)%=$(DOCS)%) --no-build-isolation '.[docs]'
	touch $@

.venv/.bench: .venv/.core
	$(PIP) --no-build-isolation '.[bench]'
	touch $@

.venv/.lint: .venv/.tools
	$(PIP) $$($(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["dev"])')
	touch $@
