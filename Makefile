# Builds the program for the processor it is built on, as test frameworks ask for it:
#
#   make EXE=name [EVALFILE=weights.json]
#
# leaves the program in this folder as `name`, or where an absolute path says. With EVALFILE those weights are built in,
# in place of weights/default.json. Neither git nor the network is needed once cargo has the dependencies.
#
#   make check
#
# does everything that must hold before a change is merged.

EXE ?= dyad

FOLDER := $(dir $(abspath $(lastword $(MAKEFILE_LIST))))
# A folder of its own, so that other flags do not make cargo build everything again.
TARGET := $(FOLDER)target/native

# Not with --target: the build script of the `chess` crate would not see the flags, and then its
# code for processors with BMI2 does not compile.
all: export RUSTFLAGS := $(RUSTFLAGS) -C target-cpu=native

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

.PHONY: all check clean

all:
	cargo build --release --bin dyad --manifest-path "$(FOLDER)Cargo.toml" --target-dir "$(TARGET)"
	mkdir -p "$(dir $(PROGRAM))"
	cp -f "$(TARGET)/release/dyad$(SUFFIX)" "$(PROGRAM)"

check:
	"$(FOLDER).ci/run"

clean:
	cargo clean --manifest-path "$(FOLDER)Cargo.toml" --target-dir "$(TARGET)"
