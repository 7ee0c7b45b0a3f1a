# `make help` lists the targets. People and continuous integration use the same ones.
.DEFAULT_GOAL := help
CARGO_DENY := 0.20.2
SCHEMATHESIS := target/api/bin/schemathesis
AXE := target/page/node_modules/axe-core/axe.min.js
# Python compiles what it imports, and not everything that is installed.
PIP_INSTALL := pip install --quiet --disable-pip-version-check --no-compile
export PYTHONDONTWRITEBYTECODE :=
BENCHES := build large load peers python scaling server store
STUDIES := batches calibration centre coverage field prepare proved real sure
.PHONY: help build test test-built tools check test-rust packages test-in-python test-installed check-exact lint deny sbom dist check-reproducible check-diagnostics check-speed python test-python notebook bench study soak soak-server fuzz power-loss check-api check-page docs docs-check test-long $(addprefix bench-,$(BENCHES)) $(STUDIES)

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  \1\t/' | expand -t 22

build: ## Build the program: target/release/cutline
	cargo build --release --locked --bin cutline --example ns_per_pull

# First all that compiles, which keeps every core busy, and beside it what is downloaded; then the tests side by side, because many of them
# wait: for a process to end, for a lease to expire.
test: ## Check everything: lints, docs, all tests, the 120 published cells, statsmodels, the pages in a browser, the Python package, instruction counts
	$(MAKE) --no-print-directory --jobs 2 test-built tools
	$(MAKE) --no-print-directory build python lint
	$(MAKE) --no-print-directory --jobs 3 --output-sync=target test-rust test-in-python check-page check-api check-exact check-speed

check: build ## The quick one: formatting, lints, and the tests that need no network, database or browser
	$(MAKE) --no-print-directory lint
	cargo test --release --workspace --locked --quiet --tests -- --skip postgres
	$(MAKE) --no-print-directory check-exact

# Without the examples: clippy checks them, and nobody runs them here.
test-built:
	cargo test --release --workspace --locked --tests --no-run

# Everything that tests need and that is not compiled here. One after the other: make would install all packages at once.
tools:
	MAKEFLAGS= $(MAKE) --no-print-directory packages $(SCHEMATHESIS) $(AXE)
	checks/needs chromedriver chromium chromium-driver
	checks/needs valgrind valgrind
	checks/with-postgres true

# Many tests wait, so there are more of them at a time than cores.
test-rust: ## Run the tests of the crates and of their documentation
	RUST_TEST_THREADS=$(shell expr 1 + $$(nproc)) checks/with-postgres cargo test --release --workspace --locked --quiet --tests
	cargo test --release --workspace --locked --quiet --doc

check-exact: build ## Replay the authors' random stream: all 120 published cells to the last decimal
	target/release/cutline reproduce --exact | tail -n 1

python: ## Build the Python package, a wheel in target/wheels, and install it into target/python
	test -x target/python/bin/python || python3 -m venv target/python
	target/python/bin/$(PIP_INSTALL) maturin==1.16.0
	rm -rf target/wheels
	target/python/bin/maturin build --quiet --release --locked --manifest-path python/Cargo.toml --out target/wheels
	target/python/bin/pip uninstall --quiet --yes cutline
	target/python/bin/$(PIP_INSTALL) target/wheels/cutline-*.whl

test-python: build python ## Test the Python package: pytest with a Dask cluster, mypy, stubtest
	$(MAKE) --no-print-directory test-installed

# The packages that tests and comparisons need.
packages:
	test -x target/python/bin/python || python3 -m venv target/python
	target/python/bin/$(PIP_INSTALL) --requirement python/tests/requirements.txt --requirement experiments/real/requirements.txt

# One after the other: as prerequisites they would be started at once, beside the other targets.
test-in-python:
	MAKEFLAGS= $(MAKE) --no-print-directory test-installed check-diagnostics

# The tests do not run in `python/`, so that they import the installed package.
test-installed: packages
	checks/with-postgres target/python/bin/pytest --quiet --config-file python/pyproject.toml python/tests
	target/python/bin/mypy --config-file python/pyproject.toml --cache-dir target/mypy --package cutline
	target/python/bin/mypy --config-file python/pyproject.toml --cache-dir target/mypy python/tests
	cd target && python/bin/python -m mypy.stubtest --mypy-config-file ../python/pyproject.toml cutline._native

# Run docs/tutorial.ipynb and save its output in it
notebook: python packages
	target/python/bin/python checks/notebook.py

check-diagnostics: build packages ## Compare the numbers of `cutline diagnose` with statsmodels and SciPy
	target/python/bin/python checks/diagnostics.py target/release/cutline

check-speed: build ## Count the instructions per pull and compare with checks/instructions.json; WRITE=--write updates it
	checks/needs valgrind valgrind
	python3 checks/instructions.py $(WRITE)

# In release, so that macros and build scripts, among them the compilation of SQLite, are shared with the build.
lint: ## Check formatting, clippy, rustdoc and the dependencies; a warning is an error
	cargo fmt --all --check
	cargo clippy --release --workspace --all-targets --locked --quiet -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --release --workspace --no-deps --locked --quiet
	python3 checks/suites.py
	python3 checks/dependencies.py
	cd checks && python3 -m unittest --quiet test_dependencies.py

deny: ## Check licences, duplicates and sources of the dependencies with cargo-deny, which is compiled first: minutes
	cargo install --quiet --locked --root target/tools cargo-deny@$(CARGO_DENY)
	target/tools/bin/cargo-deny --locked check licenses bans sources

# Write what is inside the binary and the wheel, as CycloneDX: target/sbom
sbom:
	python3 checks/sbom.py target/sbom

dist: ## Build a release into target/dist: binary, wheel, sdist, crates, SHA256SUMS; install each into an empty environment and try it
	checks/dist
	checks/try-dist

check-reproducible: ## Build the release binary of the last commit in two directories and compare the bytes; two first builds
	checks/reproducible

test-long: ## Compare with published numbers at length: the tests that `make test` leaves out; takes ten minutes
	cargo test --release --locked --package cutline-lab --tests -- --ignored

check-api: build $(SCHEMATHESIS) ## Send generated requests to `cutline serve` and check the answers against its OpenAPI document
	python3 checks/api.py target/release/cutline $(SCHEMATHESIS)

$(SCHEMATHESIS):
	python3 -m venv target/api
	target/api/bin/$(PIP_INSTALL) schemathesis==4.32.5

check-page: build $(AXE) ## Use the pages of `cutline serve` in headless Chromium, with axe-core; SHOTS=DIRECTORY for screenshots
	checks/needs chromedriver chromium chromium-driver
	python3 checks/page target/release/cutline $(AXE) $(if $(SHOTS),--shots $(SHOTS))

$(AXE):
	checks/needs npm npm
	npm install --silent --no-fund --no-audit --prefix target/page axe-core@4.14.0

bench: ## Time it: ask, tell and simulations over a grid of K and d; WHAT=build, large, load, peers, python, scaling, server or store for the others
	$(if $(WHAT),$(MAKE) --no-print-directory bench-$(WHAT),cargo bench --locked --package cutline --bench ask_tell --bench mixed)

# Time asks and tells over HTTP, 1 and 64 workers, on SQLite and PostgreSQL, compared with bare commits
bench-server:
	checks/with-postgres cargo run --release --locked --package cutline-server --example load

# Compile everything from nothing, and print what each step costs: the table of docs/performance.md
bench-build: python
	python3 checks/build_times.py

# Time decisions among up to a million arms, on the mixed model among 100,000; writes target/bench-large.json
bench-large:
	cargo bench --locked --package cutline --features rayon --bench large

# Time loading a million candidates from CSV and Parquet, compared with polars and pandas; K=N for N candidates
bench-load:
	cargo build --release --locked --package cutline-data --example load
	test -x target/peers/bin/python || python3 -m venv target/peers
	target/peers/bin/$(PIP_INSTALL) --requirement benches/peers/load-requirements.txt
	target/release/examples/load $(or $(K),1000000) target/peers/bin/python

# Time campaigns in stores, compared with bare commits, and tells during a large ask; writes target/bench-store.json
bench-store:
	checks/with-postgres cargo bench --locked --package cutline-store --bench campaigns --bench contention

# Time LinearAPT, Pivot, APT, LSA and Pivot on the mixed model, compared with Python peers; writes target/bench-peers.json
bench-peers: build
	test -x target/peers/bin/python || python3 -m venv target/peers
	target/peers/bin/$(PIP_INSTALL) --requirement benches/peers/requirements.txt
	OPENBLAS_NUM_THREADS=1 target/peers/bin/python benches/peers/compare.py

# Time ask and tell from Python, compared with Optuna and NumPy; writes target/bench-python.json
bench-python: python
	target/python/bin/$(PIP_INSTALL) --requirement benches/python/requirements.txt
	OPENBLAS_NUM_THREADS=1 target/python/bin/python benches/python/bench.py

# Time a simulation without and with Dask workers, and the cost per shard; writes target/bench-scaling.json
bench-scaling: python
	target/python/bin/$(PIP_INSTALL) --requirement benches/python/requirements.txt
	target/python/bin/python benches/python/scaling.py

study: ## Compute the tables of the docs: WHAT=batches, calibration, centre, coverage, field, prepare, proved, real or sure
	$(if $(WHAT),,$(error say which one: make study WHAT=$(firstword $(STUDIES)), or one of $(wordlist 2,99,$(STUDIES))))
	$(MAKE) --no-print-directory $(WHAT)

# Measure whether verdicts on the mixed model mean what they say: the tables of docs/verdicts.md; RUNS=N for N campaigns per cell, K=N for N arms only
calibration:
	cargo run --release --locked --quiet --package cutline-studies --example calibration -- $(or $(RUNS),20) $(K)

# Measure how often intervals contain the true means: the table of docs/verdicts.md
coverage:
	cargo run --release --locked --quiet --package cutline-studies --example coverage

# Measure how often campaigns that stop early are wrong: the table of docs/stopping.md; RUNS=N for N runs per cell
sure:
	cargo run --release --locked --quiet --package cutline-studies --example sure -- $(or $(RUNS),500)

# Measure how many rewards proofs take, how often they are wrong, and what the stop `proved` costs: the tables of docs/verdicts.md and docs/stopping.md;
# RUNS=N for N repetitions per cell, TABLE=rewards, errors or stop for some of them
proved:
	cargo run --release --locked --quiet --package cutline-studies --example proved -- $(or $(RUNS),2000) $(TABLE)

# Simulate ridge with and without a centre and an intercept: the table of docs/verdicts.md
centre: build
	target/release/cutline simulate experiments/centre.toml --out target/centre

# Simulate ways to prepare real features: the tables of docs/campaigns-preparation.md
prepare: build
	target/release/cutline simulate experiments/prepare/raw.toml --out target/prepare/raw
	target/release/cutline simulate experiments/prepare/standardised.toml --out target/prepare/standardised

# Compare Cutline's models and scikit-learn's on real tables: the tables of docs/models.md; QUICK=1 for a short version
real: python packages
	target/python/bin/python experiments/real/real.py $(if $(QUICK),--quick)

# Play campaigns in batches of 1, 24 and 96 on real tables: the table of docs/models.md; takes a quarter of an hour
batches: python packages
	target/python/bin/python experiments/real/batches.py

# Print the tables of docs/field.md: the algorithms of the field on common instances
field: build
	target/release/cutline simulate experiments/field/linear.toml --out target/field --format csv > target/field-linear.csv
	target/release/cutline simulate experiments/field/means.toml --out target/field --format csv > target/field-means.csv
	python3 experiments/field/table.py target/field-linear.csv target/field-means.csv

soak: ## Break everything at once for an hour on SQLite and PostgreSQL: kills, full disks, clocks, locks, restarts; SOAK_MINUTES=N for N minutes; as root
	SOAK_MINUTES=$(or $(SOAK_MINUTES),60) nice cargo test --release --workspace --locked --test suite soak::everything_at_once -- --ignored --nocapture

soak-server: ## Treat `cutline serve` well and badly on SQLite and PostgreSQL, kill it, and check that nothing is lost and nothing grows; SOAK_MINUTES=N for N minutes
	SOAK_MINUTES=$(or $(SOAK_MINUTES),10) checks/with-postgres nice cargo test --release --workspace --locked --test suite server_soak::for_long -- --ignored --nocapture

# Inputs that reach new code are collected in target/fuzz, those that break something in fuzz/artifacts.
FUZZ_TARGETS ?= address csv engine events experiment parquet rows tell
fuzz: ## Look with libFuzzer for inputs that break something; FUZZ_SECONDS=N per target, FUZZ_TARGETS="csv rows" for some of them
	command -v cargo-fuzz > /dev/null || cargo install --locked cargo-fuzz
	for target in $(FUZZ_TARGETS); do \
	  mkdir -p target/fuzz/$$target && \
	  cargo fuzz run --sanitizer none --debug-assertions --features libfuzzer --target-dir target/fuzzing $$target target/fuzz/$$target fuzz/corpus/$$target -- \
	    -max_total_time=$(or $(FUZZ_SECONDS),180) -max_len=16384 -timeout=60 -rss_limit_mb=4096 -print_final_stats=1 || exit 1; \
	done

power-loss: ## Simulate losses of power at every point of a recorded run on SQLite; LOSSES=N for N at each point
	CUTLINE_POWER_LOSS=$(or $(LOSSES),3) cargo test --release --locked --workspace --test power_loss -- --nocapture

docs-check: test-built python packages ## Compare the tables of the docs with what the program computes now
	CUTLINE_CHECK_DOCS=1 cargo test --release --locked --package cutline-lab --test suite -- --include-ignored diagnostics:: planning::
	CUTLINE_CHECK_DOCS=1 target/python/bin/pytest --quiet --config-file python/pyproject.toml python/tests/test_plan.py

docs: ## Build the API documentation: target/doc/cutline/index.html
	cargo doc --release --workspace --no-deps --locked
