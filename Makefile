# The commands of the project. Each does all of its set-up itself; a second call starts its work at once.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.ONESHELL:
.NOTPARALLEL:
.SILENT:

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
# Which PyTorch the engine is built with: auto, pip, apt or a directory (tools/setup says what each means).
TORCH ?= auto
TORCH_VERSION ?=
export JOBS TORCH TORCH_VERSION

groups := base test comm data torch
configure = tools/configure $(1) -DLOCKSTEP_TEST_TIMEOUT_FACTOR=1
build = tools/setup $(groups) $(2) && $(call configure,$(1)) && cmake --build build/$(1) -j $(JOBS)
# The program, its worker and its backends alone: what a demo, a benchmark or an installation needs.
program = tools/setup $(groups) $(2) && $(call configure,$(1)) && cmake --build build/$(1) -j $(JOBS) --target program
ctest = ctest --test-dir build/$(1) -j $(JOBS) --output-on-failure --no-label-summary

.PHONY: help
help:  ## This list
	@echo "Lockstep trains neural networks data-parallel and measures it. Commands:"
	sed -nE 's/^([a-z0-9-]+):[^#]*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22
	echo "Choices: JOBS=$(JOBS) PREFIX=$(PREFIX) TORCH=$(TORCH) (auto, pip, apt or a directory)"

.PHONY: demo
demo:  ## Build, and show the best the program can do on this machine
	$(call program,release)
	tools/demo

.PHONY: build
build:  ## Build the dev preset: optimised, with assertions
	$(call build,dev)

.PHONY: test
test:  ## Build and test everything but the GPU, within 25 minutes on 2 cores
	$(call build,dev,peer)
	$(call ctest,dev) -LE 'gpu|full|web' </dev/null

.PHONY: test-web
test-web:  ## Open reports in a real Chromium, and compile their LaTeX
	tools/setup $(groups) web
	$(call configure,dev)
	cmake --build build/dev -j $(JOBS) --target report_samples
	tools/get_axe build/dev/web
	$(call ctest,dev) -L web </dev/null

.PHONY: test-torch2
test-torch2: export TORCH = pip
test-torch2: export TORCH_VERSION := $(or $(TORCH_VERSION),2.15.0)
test-torch2:  ## Test what touches torch with a PyTorch from pip and nvcc (TORCH_VERSION=2.11.0|newest)
	tools/setup $(groups) peer cuda
	$(call configure,torch2)
	cmake --build build/torch2 -j $(JOBS) --target torch_tests
	$(call ctest,torch2) -L torch -LE 'gpu|full|web' </dev/null

.PHONY: test-full
test-full:  ## The complete matrices, then the address, undefined-behaviour and thread sanitizers
	tools/setup $(groups) peer
	tools/test_full

.PHONY: test-gpu
test-gpu:  ## Build with CUDA and NCCL and run the tests that need a GPU
	$(call build,cuda)
	$(call ctest,cuda) -L gpu </dev/null

.PHONY: bench-comm
bench-comm:  ## Compare the CPU backends, interleaved in one run of 2 workers
	$(call program,release)
	python3 tools/bench_comm.py $(WORKERS)

.PHONY: bench-train
bench-train:  ## Train with this engine and with PyTorch, interleaved, 2 workers of 1 thread (ARGS="--models vit")
	$(call program,release,peer)
	python3 tools/bench_train.py $(ARGS)

.PHONY: bench-strategies
bench-strategies:  ## Every strategy beside PyTorch's DDP: time, bytes, messages and memory (ARGS="--models vit")
	$(call program,release,peer)
	python3 tools/bench_strategies.py $(ARGS)

.PHONY: bench-split
bench-split:  ## How much of a step no span explains, on every model (ARGS="--models vit")
	$(call program,release)
	python3 tools/bench_split.py $(ARGS)

.PHONY: bench-measure
bench-measure:  ## What measuring costs: steps with and without it, taking turns in one run
	$(call program,release)
	python3 tools/bench_measure.py $(ARGS)

.PHONY: bench-store
bench-store:  ## How long a store of 10,000 runs takes to be listed
	$(call program,release)
	python3 tools/bench_store.py $(ARGS)

.PHONY: studies-quick
studies-quick:  ## The quick variant of every built-in study, with minutes and status (ARGS="psnr driving")
	$(call program,release)
	python3 tools/studies_quick.py $(ARGS)

.PHONY: campaign
campaign:  ## Draw faults from a seed and do them to what `make build` made (ARGS="--seed 7 --faults 1000")
	python3 tools/campaign $(ARGS)

.PHONY: check
check: format-check layers test  ## Everything a change must pass: format, layers, tests

.PHONY: format
format:  ## Format every source file in place
	tools/format

.PHONY: format-check
format-check:
	tools/format --check || { code=$$?; [ $$code -eq 77 ]; }

.PHONY: layers
layers:
	python3 tools/check_layers.py

.PHONY: tidy
tidy:  ## clang-tidy over what changed since main (FILES=--all: over everything)
	tools/setup $(groups)
	tools/tidy $(FILES)

.PHONY: install
install:  ## Build the release preset and install it under PREFIX
	$(call program,release)
	cmake --install build/release --prefix "$(PREFIX)"

.PHONY: clean
clean:  ## Remove everything that was built or produced
	rm -rf build out
