# `make help` lists the targets. People and continuous integration use the same ones.
.DEFAULT_GOAL := help
.PHONY: help build test lint bench bench-peers coverage centre docs

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  \1\t/' | expand -t 16

build: ## Build the command line, optimised: target/release/cutline
	cargo build --release --locked

test: lint build ## Check everything: lints, docs, all tests, and the replay of the 120 published cells
	cargo test --workspace --locked --quiet
	target/release/cutline reproduce --exact | tail -n 1

lint: ## Formatting, clippy and rustdoc, all without a warning
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet

bench: ## Time asking, telling and simulating over a grid of K and d
	cargo bench --locked --package cutline --bench ask_tell

bench-peers: ## Time LinearAPT against Python peers in one run; writes target/bench-peers.json
	cargo build --release --locked --package cutline-lab --example ns_per_pull
	test -x target/peers/bin/python || python3 -m venv target/peers
	target/peers/bin/pip install --quiet --disable-pip-version-check --requirement benches/peers/requirements.txt
	OPENBLAS_NUM_THREADS=1 target/peers/bin/python benches/peers/compare.py

coverage: ## Measure how often intervals hold the true means: the table of docs/verdicts.md
	cargo run --release --locked --quiet --package cutline-lab --example coverage

centre: build ## Simulate ridge with and without a centre and an intercept: the table of docs/verdicts.md
	for file in experiments/centre/*.toml; do target/release/cutline simulate $$file --out target/centre; done

docs: ## Build the API documentation: target/doc/cutline/index.html
	cargo doc --workspace --no-deps --locked
