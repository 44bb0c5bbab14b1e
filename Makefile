.DEFAULT_GOAL := help
PYTHON ?= python3
PORT ?= 8000
SERVER ?= granian
VENV_PYTHON := .venv/bin/python
# Block Ctrl-C (if env can) while Python starts: it would cause a traceback or get lost.
BLOCK_SIGINT := $(shell env --block-signal=INT true 2>/dev/null && echo env --block-signal=INT)
export PORT

# Compiled files are kept, whatever the environment says: without them, a start takes a third longer.
unexport PYTHONDONTWRITEBYTECODE

# Tests in parallel.
# Property tests have the same examples in each run. EXAMPLES=default lets them find new ones.
EXAMPLES ?= ci
PYTEST := $(VENV_PYTHON) -m pytest --numprocesses auto --dist worksteal \
	--hypothesis-profile $(EXAMPLES)
# Tests with servers wait for them a third of the time.
SERVER_PROCESSES = $(shell $(VENV_PYTHON) -c "import os; print(max(2, os.cpu_count() * 3 // 2))")
FAST := not servers and not thorough and not citus and not property
# What `make thorough` runs, and the percentage of the examples
THOROUGH ?= thorough or property
PERCENT ?= 100
COVERED_IN_FULL := contentapi/auth/jw[kt].py,contentapi/core/errors.py,contentapi/core/identity.py,contentapi/core/policy.py,blog/policy.py,orders/policy.py,users/policy.py
BUILD_PAGES := $(VENV_PYTHON) -m contentapi.frontend.build --if-possible

.PHONY: help run pages test test-servers test-citus coverage thorough mutation audit slow-path bench bench-history hostile scale bench-citus drill clients check check-files check-project format lock installed installed-dev python-present

help:
	@echo "make run      start everything on PORT (8000), with SERVER (granian or gunicorn)"
	@echo "make pages    build the explorer (/graphql) and the API reference (/docs); needs Node; make run does it beside the server"
	@echo "make test     run the tests in parallel, in about three minutes on two cores"
	@echo "make test-servers run the tests that start servers"
	@echo "make test-citus run tests on a cluster of Citus, and tests of the API on it; needs Citus: see docs/operations/cluster.md"
	@echo "make coverage run the tests of make test, and measure the lines that they execute"
	@echo "make thorough run the long tests: all examples of the property tests, fuzzing, browsers"
	@echo "make slow-path run the end-to-end tests with CONTENTAPI_FAST_PATH=off"
	@echo "make mutation change the code in small ways; each change must make a test fail"
	@echo "make audit    look up known vulnerabilities of the locked dependencies"
	@echo "make bench    compare this server with other GraphQL servers: see benchmarks/README.md"
	@echo "make bench-history add the cost of a request at this commit to benchmarks/history.csv; needs valgrind"
	@echo "make hostile  attack the server, and measure the requests of another client"
	@echo "make scale    measure reads with replicas and PgBouncer, and break a cluster under Patroni: see docs/operations/postgresql.md"
	@echo "make bench-citus let a cluster of Citus grow under load, kill a worker, or measure requests: see docs/operations/cluster.md"
	@echo "make drill    break parts of a deployment under load, and count what clients lose: see docs/faults.md"
	@echo "make clients  use every client of docs/clients.md against a real server; needs Node and, for one of them, Java"
	@echo "make check    check format, lint, types, import layers, openapi.yaml, settings, migrations, SDL, generated texts, language and weight"
	@echo "make format   format the code, and write the generated parts of documents"
	@echo "make lock     write the newest versions that pyproject.toml allows into requirements*.txt"

run: installed
	@exec $(BLOCK_SIGINT) $(VENV_PYTHON) manage.py serve --server $(SERVER)

pages: installed
	@$(BLOCK_SIGINT) $(VENV_PYTHON) -m contentapi.frontend.build

test: installed-dev
	@$(PYTEST) -m "$(FAST)" $(TESTS)

test-servers: installed-dev
	@$(BUILD_PAGES)
	@EXAMPLES_IN_PERCENT=5 $(PYTEST) --numprocesses $(SERVER_PROCESSES) -m "servers and not thorough" $(TESTS)

test-citus: installed-dev
	@$(if $(LONG),$(BUILD_PAGES))
	@$(if $(LONG),EXAMPLES_IN_PERCENT=$(PERCENT)) exec $(VENV_PYTHON) -m tests.citus $(if $(SHORT),--short) $(if $(LONG),--thorough) $(TESTS)

coverage: installed-dev
	@$(PYTEST) -m "$(FAST) or own" --cov --cov-report= --cov-fail-under=0
	@echo "Percent of the lines that the tests execute; at least fail_under of pyproject.toml is required:"
	@$(VENV_PYTHON) -m coverage report --format=total
	@$(VENV_PYTHON) -m coverage report --show-missing --fail-under=100 --include="$(COVERED_IN_FULL)"

thorough: installed-dev
	@$(BUILD_PAGES)
	@EXAMPLES_IN_PERCENT=$(PERCENT) $(PYTEST) -m "$(THOROUGH)" $(TESTS)

mutation: installed-dev
	@$(VENV_PYTHON) -m tests.quality.mutation

audit: installed-dev
	@$(VENV_PYTHON) -m tests.quality.audit

slow-path: installed-dev
	@CONTENTAPI_FAST_PATH=off $(PYTEST) -m "servers and not thorough" $(SLOW_PATH_TESTS)

bench: installed
	@exec $(VENV_PYTHON) -m benchmarks $(if $(PEERS),--peers $(PEERS)) $(if $(WORKLOADS),--workloads $(WORKLOADS)) \
		$(if $(CONDITIONS),--conditions $(CONDITIONS)) $(if $(TRANSPORTS),--transports $(TRANSPORTS)) \
		$(if $(CONNECTIONS),--connections $(CONNECTIONS)) $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(SECONDS),--seconds $(SECONDS)) \
		$(if $(CHECK_ONLY),--check-only)

bench-history: installed
	@exec $(VENV_PYTHON) -m benchmarks.history $(if $(CHECK_ONLY),--check)

hostile: installed
	@exec $(VENV_PYTHON) -m benchmarks.hostile $(if $(SERVERS),--servers $(SERVERS)) $(if $(ATTACKS),--attacks $(ATTACKS)) \
		$(if $(SECONDS),--seconds $(SECONDS)) $(if $(SCALE),--scale $(SCALE)) $(if $(MAX_P99),--max-p99 $(MAX_P99)) \
		$(if $(PREPARE_ONLY),--prepare-only) $(if $(SHARE),--share)

scale: installed-dev
	@exec $(VENV_PYTHON) -m benchmarks.scale $(if $(SECONDS),--seconds $(SECONDS)) $(if $(PARTS),--parts $(PARTS)) \
		$(if $(FAULTS),--faults $(FAULTS)) $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(ROUTE),--route $(ROUTE))

# Changes of a cluster under load, and with PARTS=figures what a request costs with each number of workers
bench-citus: installed-dev
	@exec $(VENV_PYTHON) -m benchmarks.citus $(if $(PARTS),--parts $(PARTS)) $(if $(ROUNDS),--rounds $(ROUNDS)) \
		$(if $(POSTS),--posts $(POSTS)) $(if $(SHARDS),--shards $(SHARDS)) $(if $(WORKERS),--workers $(WORKERS)) \
		$(if $(FOLDER),--folder $(FOLDER))

drill: installed
	@exec $(VENV_PYTHON) -m benchmarks.drill $(if $(FAULTS),--faults $(FAULTS)) $(if $(filter command line environment,$(origin SERVER)),--servers $(SERVER)) \
		$(if $(filter small,$(SCALE)),--small) $(if $(WRITES),--writes $(WRITES))

clients: installed-dev
	@exec $(VENV_PYTHON) -m tests.clients $(if $(CLIENTS),--clients $(CLIENTS)) $(if $(REQUIRE_ALL),--require-all)

check: check-files check-project

# What holds for each file
check-files: installed-dev
	$(VENV_PYTHON) -m ruff format --check .
	$(VENV_PYTHON) -m ruff check .
	$(VENV_PYTHON) -m mypy
	$(VENV_PYTHON) -m tests.quality.migrations
	$(VENV_PYTHON) -m tests.contract.check_language

# What holds for the project as a whole
check-project: installed-dev
	$(VENV_PYTHON) -c "from importlinter.cli import lint_imports_command as lint; lint()"
	$(VENV_PYTHON) -m openapi_spec_validator schema/openapi.yaml
	$(SAMPLE_PRODUCTION) $(VENV_PYTHON) manage.py check --deploy --fail-level WARNING
	$(VENV_PYTHON) manage.py makemigrations --check --dry-run
	$(VENV_PYTHON) manage.py check_schema
	$(VENV_PYTHON) -m tests.contract.generated --check
	$(VENV_PYTHON) -m pytest -q tests/contract/test_content_fields.py
	$(VENV_PYTHON) -m tests.quality.weight

# Settings of a deployment. Nothing connects to this database.
SAMPLE_PRODUCTION := DATABASE_URL=postgresql://app:secret@db.invalid/app \
	SECRET_KEY=a-sample-of-more-than-fifty-characters-0123456789-abcdefghij \
	JWT_SECRET=a-sample-of-more-than-thirty-two-bytes \
	ALLOWED_HOSTS=api.invalid CORS_ALLOWED_ORIGINS=https://www.invalid CONTENTAPI_HTTPS=on

format: installed-dev
	$(VENV_PYTHON) -m ruff check --fix --quiet .
	$(VENV_PYTHON) -m ruff format .
	$(VENV_PYTHON) -m tests.contract.generated

# Without the extras, pip refuses the lock files on the day a newer `coverage` than the locked one appears.
UV := $(VENV_PYTHON) -m uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
	--no-annotate --no-strip-extras --custom-compile-command "make lock" pyproject.toml

lock: installed-dev
	$(UV) --output-file requirements.txt
	$(UV) --group dev --constraint requirements.txt --output-file requirements-dev.txt

installed: python-present
	@$(BLOCK_SIGINT) $(PYTHON) -m contentapi.bootstrap requirements.txt

installed-dev: python-present
	@$(BLOCK_SIGINT) $(PYTHON) -m contentapi.bootstrap requirements.txt requirements-dev.txt

python-present:
	@command -v "$(PYTHON)" >/dev/null || { echo "There is no $(PYTHON). Install Python 3.11 or newer, or name it: make run PYTHON=/path/to/python3" >&2; exit 1; }
