# Builds the program for the processor it is built on, as test frameworks ask for it:
#
#   make EXE=name [EVALFILE=weights.json]
#
# leaves the program in this folder as `name`, or where an absolute path says. With EVALFILE those weights are built in,
# in place of weights/default.json. Neither git nor the network is needed once cargo has the dependencies.
#
#   make pgo EXE=name
#
# builds a program that counts what it does, lets that play and train a little, and builds again with these counts
# (profile-guided optimization). Whether that is faster depends on the machine: measure it (experiment P16 in
# docs/experiments.md). It needs `llvm-profdata` of the same LLVM as rustc's: `rustup component add llvm-tools`, or
# LLVM_PROFDATA=path of another one.
#
# FEATURES=pext looks slider attacks up by PEXT and PDEP, FEATURES= by magic multiplication. Without either it is PEXT, unless
# this is a processor of AMD before Zen 3, where these instructions are slow.
#
# CPU=name builds for another kind of processor (`rustc --print target-cpus`); for `pgo` this one must be able to run it.
#
#   make web
#
# builds the page that plays, explains and learns in a browser into web/dist (web/README.md).
#
#   make check
#
# does everything that must hold before a change is merged.

EXE ?= dyad
CPU := native

# Not from MAKEFILE_LIST: names of folders may have spaces.
FOLDER := $(CURDIR)/
SLOW_PEXT := native .*(znver[12]|bdver[1-4])\b
ifeq ($(CPU),native)
FEATURES ?= $(if $(shell rustc --print target-cpus | grep -E '$(SLOW_PEXT)'),,pext)
endif

# A folder of its own, so that other flags do not make cargo build everything again.
TARGET := $(FOLDER)target/native

# Not with --target: .cargo/config.toml says why.
FLAGS := $(RUSTFLAGS) -C target-cpu=$(CPU)
all: export RUSTFLAGS := $(FLAGS)

# The build looks for a relative path elsewhere than make does.
ifdef EVALFILE
override EVALFILE := $(abspath $(EVALFILE))
export EVALFILE
endif

ifeq ($(OS),Windows_NT)
SUFFIX := .exe
endif

# An absolute path starts with a slash or, on Windows, a drive.
PROGRAM := $(if $(filter /%,$(firstword $(EXE)))$(findstring :,$(EXE)),,$(FOLDER))$(patsubst %$(SUFFIX),%,$(EXE))$(SUFFIX)

BUILD := cargo build --release --bin dyad --features "$(FEATURES)" --manifest-path "$(FOLDER)Cargo.toml" --target-dir

# No space in this path: compiler flags are separated by them.
PGO := $(FOLDER)target/pgo
LLVM_PROFDATA ?= $(shell rustc --print sysroot)/lib/rustlib/$(shell rustc -vV | sed -n 's/^host: //p')/bin/llvm-profdata$(SUFFIX)

.PHONY: all pgo web check clean

all:
	$(BUILD) "$(TARGET)"
	mkdir -p "$$(dirname "$(PROGRAM)")"
	cp -f "$(TARGET)/release/dyad$(SUFFIX)" "$(PROGRAM)"

# A search for what is played, a small self-training for what is trained: what no run reaches is built to be small. What
# build scripts counted while they were run is thrown away.
pgo:
	@command -v "$(LLVM_PROFDATA)" > /dev/null || { echo "make pgo: there is no $(LLVM_PROFDATA): run 'rustup component add\
	 llvm-tools', or name one with LLVM_PROFDATA=path, of $$(rustc -vV | sed -n 's/^LLVM version: /LLVM /p')" >&2; exit 1; }
	rm -rf "$(PGO)/counts" "$(PGO)/selftrain"
	mkdir -p "$(PGO)/counts" "$(dir $(PROGRAM))"
	RUSTFLAGS="$(FLAGS) -C profile-generate=$(PGO)/counts" $(BUILD) "$(PGO)/counting"
	rm -f "$(PGO)"/counts/*
	"$(PGO)/counting/release/dyad$(SUFFIX)" bench > /dev/null
	"$(PGO)/counting/release/dyad$(SUFFIX)" selftrain --out "$(PGO)/selftrain" --generations 1 --positions 1000 \
	    --match-games 8 --threads 1 --seed 1 > /dev/null
	"$(LLVM_PROFDATA)" merge -o "$(PGO)/counts.profdata" "$(PGO)/counts"
	RUSTFLAGS="$(FLAGS) -C profile-use=$(PGO)/counts.profdata" $(BUILD) "$(PGO)/guided"
	cp -f "$(PGO)/guided/release/dyad$(SUFFIX)" "$(PROGRAM)"

# From its folder, whose .cargo/config.toml has the flags of the module.
WASM := wasm32-unknown-unknown
REVISION = $(shell git -C "$(FOLDER)" describe --always --dirty=+ --abbrev=10 2> /dev/null || echo unknown)

web:
	@rustc --print target-libdir --target $(WASM) | xargs -I{} test -d {} || rustup target add $(WASM)
	cd "$(FOLDER)web" && cargo build --release --lib --target $(WASM) --target-dir target
	cd "$(FOLDER)web" && RUSTFLAGS= cargo run --profile pack -p dyad-web-pack --target-dir target/pack -- \
	    target/$(WASM)/release/dyad_web.wasm page dist "$(REVISION)"

check:
	"$(FOLDER).ci/run"

clean:
	cargo clean --manifest-path "$(FOLDER)Cargo.toml" --target-dir "$(TARGET)"
