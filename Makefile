# Everything from Python 3.11 or newer, its venv module, and make. Four environments are made here:
#   .venv       the sources, editable    demo, dev, lint, coverage, docs, bench
#   .venv-test  the wheel, as users get it    test, dist
#   .venv-oldest  the wheel with the oldest packages that it allows    test-oldest
#   .venv-empty  the wheel, then the sdist, with nothing else; gone afterwards    dist
# PYTHON=... chooses the interpreter: make demo PYTHON=python3.12

DEMO := examples/data/news.jsonl --strategies exhaustive,greedy,lead,random --exact milp --max-length 75

# The same variable as for the tests.
DATA ?= $(OPTSUM_DATA)

DEV := .venv
TEST := .venv-test
OLDEST := .venv-oldest
EMPTY := .venv-empty

ifndef PYTHON
PYTHON := $(shell for python in python3.11 python3 python3.12 python3.13 python3.14; do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$python" && break; done)
endif

export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Advice of mkdocs-material to its users, longer than what the build itself says.
export NO_MKDOCS_2_WARNING := 1
# What is set outside for another project must not reach these environments.
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test compiled checked test-oldest coverage dist dev lint docs bench data wheel clean

help:
	@echo "make demo    install here, and compare strategies on a small corpus"
	@echo "make test    build the wheel, install it in a fresh environment, run every check and test"
	@echo "make test-oldest    the quick tests with the oldest packages that are allowed"
	@echo "make coverage    the lines that the quick tests reach, with kernels and without"
	@echo "make dist    build what is uploaded to a package index into dist/, install it elsewhere, and solve with it"
	@echo "make dev     install the sources (editable) with the tools for developers"
	@echo "make lint    style, types and layout"
	@echo "make docs    build the documentation into site/"
	@echo "make bench   run the benchmarks on DATA=FOLDER (benchmarks/README.md)"
	@echo "make clean   remove everything that these commands made"

# $(call new_venv,FOLDER)
define new_venv
	@test -n "$(PYTHON)" || { echo "optsum needs Python 3.11 or newer, and none was found: sudo apt install python3 python3-venv, or make PYTHON=/path/to/python." >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "optsum needs Python 3.11 or newer, and $(PYTHON) is not: make PYTHON=/path/to/python." >&2; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) cannot make virtual environments, because its venv module is missing: sudo apt install python3-venv." >&2; exit 1; }
	@echo "Making $(1) with $$("$(PYTHON)" --version) and installing what optsum needs; the first time takes a minute or two."
	@rm -rf $(1)
	@"$(PYTHON)" -m venv $(1)
endef

# $(call try,FILE): install a file of dist/ in a fresh environment, and solve with the program that it brings
define try
	$(call new_venv,$(EMPTY))
	$(EMPTY)/bin/pip install --quiet $(1)
	cd $(EMPTY) && PYTHONSAFEPATH=1 bin/optsum solve "$(CURDIR)/examples/data/news.jsonl" --max-length 75 -o oracles.jsonl
	@cd $(EMPTY) && test "$$(grep -c '"status": *"optimal"' oracles.jsonl)" = "$$(grep -c . "$(CURDIR)/examples/data/news.jsonl")"
	@rm -rf $(EMPTY)
endef

# $(call lint,FOLDER): style and types of the sources, with the tools in that environment
define lint
	$(1)/bin/ruff check .
	$(1)/bin/ruff format --check .
	$(1)/bin/mypy
endef

$(DEV)/.installed: pyproject.toml
	$(call new_venv,$(DEV))
	@$(DEV)/bin/pip install --quiet --editable .
	@touch $@

$(DEV)/.developer: $(DEV)/.installed
	@$(DEV)/bin/pip install --quiet --editable '.[cluster,dev,docs,hf,plots,report,solvers]'
	@touch $@

$(TEST)/.created: pyproject.toml
	$(call new_venv,$(TEST))
	@touch $@

# build/ from an earlier build would bring back modules that are gone from the sources.
wheel: $(TEST)/.created
	@rm -rf build dist
	$(TEST)/bin/pip wheel --quiet --no-deps --wheel-dir dist .

# The packages around optsum are installed afresh when pyproject.toml changes, optsum itself every time.
# Without PYTHONSAFEPATH, `python -c` in a test's own process would find the sources before the installed wheel.
# Kernels are compiled beforehand: otherwise each process of pytest compiles them for itself. Tests build the site, too.
# Most modules of those packages are never imported here: byte code of all of them would take half a minute.
test: export OPTSUM_WHEEL := 1
test: export PYTHONSAFEPATH := 1
test: wheel
	$(TEST)/bin/pip install --quiet --no-compile --no-deps --force-reinstall dist/optsum-*.whl
	$(TEST)/bin/pip install --quiet --no-compile dist/optsum-*.whl "$$(grep -o 'numpy.*,<[^"]*' pyproject.toml)"
	@$(MAKE) --no-print-directory --jobs 2 compiled checked
	$(TEST)/bin/pytest -n auto --dist worksteal

# Side by side, a processor each; `dev` must not replace numpy while kernels are compiled. Collecting leaves the byte code
# of the tests, which each process of pytest would make for itself.
compiled:
	$(TEST)/bin/optsum warm-up --all

checked:
	$(TEST)/bin/pip install --quiet --no-compile "$$(echo dist/optsum-*.whl)[cluster,dev,docs,hf,plots,report,solvers]"
	$(call lint,$(TEST))
	-@$(TEST)/bin/pytest --collect-only -qq > /dev/null

# What a test needs beside optsum is listed here, not in an extra: the tools of `dev` ask for newer packages than optsum does.
# Of `solvers` all but Gurobi, whose oldest package brings a licence that has expired. The oldest matplotlib calls what pyparsing
# 3.3 deprecates, and a warning is an error in tests.
test-oldest: export OPTSUM_WHEEL := 1
test-oldest: export PYTHONSAFEPATH := 1
test-oldest: wheel
	$(call new_venv,$(OLDEST))
	@mkdir -p build
	"$(PYTHON)" tests/support/oldest.py > build/oldest.txt
	$(OLDEST)/bin/pip install --quiet --no-compile --constraint build/oldest.txt "$$(echo dist/optsum-*.whl)[cluster,hf,plots,report]" \
		ortools pyscipopt python-sat scipy hypothesis pytest pytest-xdist 'pyparsing<3.3'
	$(OLDEST)/bin/optsum warm-up --all
	$(OLDEST)/bin/pytest -n auto --dist worksteal -m "not slow"

# Compiled kernels are not seen, only what tests run of them as plain Python: hence twice.
coverage: $(DEV)/.developer
	$(DEV)/bin/pytest -q -n auto -m "not slow" --cov --cov-report=
	$(DEV)/bin/coverage report --skip-covered
	EXCLUDED='^@njit' $(DEV)/bin/coverage report --format=total

# The wheel is made from the sdist, which so proves to be whole; each is then installed where nothing else is, and solves.
dist: $(TEST)/.created
	@rm -rf build dist
	@$(TEST)/bin/pip install --quiet --upgrade build twine
	$(TEST)/bin/python -m build --outdir dist .
	$(TEST)/bin/twine check --strict dist/*
	$(call try,dist/optsum-*.whl)
	$(call try,dist/optsum-*.tar.gz)

demo: $(DEV)/.installed
	$(DEV)/bin/optsum compare $(DEMO)
	@echo
	@echo "Where to look next:"
	@echo "  examples/data/README.md            what these topics are; examples/data/news.jsonl is the format of yours"
	@echo "  docs/tutorials/first-oracle.md     the same in Python, step by step"
	@echo "  .venv/bin/optsum solve examples/data/news.jsonl --max-length 75 -o oracles.jsonl"
	@echo "  .venv/bin/optsum --help"

dev: $(DEV)/.developer
	@echo "Ready: . $(DEV)/bin/activate"

lint: $(DEV)/.developer
	$(call lint,$(DEV))
	$(DEV)/bin/pytest -q tests/test_layers.py tests/test_layout.py tests/test_packaging.py

docs: $(DEV)/.developer
	$(DEV)/bin/mkdocs build --strict
	@echo "Open site/index.html"

# Every program among the files in benchmarks/; the others are what they share.
bench: data $(DEV)/.developer
	@set -e; for program in $$(grep -l __main__ benchmarks/*.py); do \
		echo "== $$program"; $(DEV)/bin/python $$program "$(DATA)"; done

data:
	@test -d "$(DATA)" || { echo "There is no folder '$(DATA)': make bench DATA=FOLDER, with a folder for each data set in it (benchmarks/README.md)." >&2; exit 1; }

clean:
	rm -rf $(DEV) $(TEST) $(OLDEST) $(EMPTY) build dist site demo-output optsum.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage*
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
