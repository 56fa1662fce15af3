# Countersign: `make` alone prints this help.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help demo test test-fast test-long fuzz simulate bench bench-sign-in check apple-check format build release docs clean

help: ## Print this help
	@echo "Countersign: trusted-device authentication you run yourself."
	@echo
	@sed -n 's/^\([a-z-]*\):.*## /  make \1|/p' $(MAKEFILE_LIST) | while IFS='|' read -r target text; do printf '%-22s%s\n' "$$target" "$$text"; done
	@echo
	@echo "Builds go to \$$COUNTERSIGN_BUILD_DIR, else to the user's cache folder. The first build takes 10 to 13 minutes on two cores."

demo: ## See everything at work: server, shop and phone (UNATTENDED=1 OUT=folder plays it alone)
	@scripts/demo $(if $(UNATTENDED),--unattended) $(if $(OUT),--out '$(OUT)') $(if $(PORT),--port '$(PORT)')

test: ## All checks of a change; what the continuous integration runs
	@scripts/test all

test-fast: ## The pure targets only: no other program, under a minute after the build
	@scripts/test fast

test-long: ## What takes hours or a quiet machine: 500 kills, fuzzing, sanitizers, a million users, 10,000 waiters, the benchmarks
	@scripts/test long

fuzz: ## Feed the parsers broken inputs (SECONDS_EACH=20 PARSERS="json armor"; see Fuzz/README.md)
	@$(if $(SECONDS_EACH),SECONDS_EACH='$(SECONDS_EACH)') $(if $(SEED),SEED='$(SEED)') scripts/fuzz $(PARSERS)

simulate: ## Play simulated worlds (SEED=1 HOURS=1 PLAN=file; ARGS="--help" for more)
	@scripts/simulate $(if $(SEED),--seed '$(SEED)') $(if $(HOURS),--hours '$(HOURS)') $(if $(PLAN),--plan '$(PLAN)') $(ARGS)

bench: ## Measure full cycles per second on this machine (ARGS="--help" for its options)
	@scripts/bench $(ARGS)

bench-sign-in: ## Measure the OpenID provider: code exchanges, refreshes, introspections, pages (ARGS="--help" for its options)
	@scripts/bench --sign-in $(ARGS)

check: ## Formatting and the house rules
	@scripts/check

apple-check: ## Type-check what only Apple's systems compile, against hand-written declarations (after make build; Linux)
	@scripts/apple-check

format: ## Lay out the sources
	@swift format --in-place --recursive Sources Tests Benchmarks Examples Package.swift

build: ## Build everything for debugging
	@scripts/build

release: ## Build the one binary for release, with the Swift runtime linked in (OUT=folder; Linux)
	@scripts/release $(OUT)

docs: ## Build the API documentation of the libraries
	@scripts/build-documentation

clean: ## Remove what was built
	@scripts/clean
