# Nuthatch. `make` builds, `make demo` shows, `make test` tests; `make help` lists the rest.

PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
DESTDIR ?=
SWIFTFLAGS ?=
BOOTSTRAP ?= Scripts/bootstrap

# Package.swift says what it changes.
export NUTHATCH_OWN_BUILD = 1

MAKEFLAGS += --no-builtin-rules --no-print-directory
.NOTPARALLEL:
.DEFAULT_GOAL := all
.PHONY: all machine test-machine demo test check archive release deb image packages arm install uninstall wheel sdist header lint format sanitize fuzz model soak reliability bench bench-imaging bench-quality bench-store bench-fetch bench-prefetch bench-bindings clean help

all: machine ## build the library, the command and the test server into build/
	@swift build -c release $(SWIFTFLAGS)
	@Scripts/place

machine:
	@$(BOOTSTRAP) build
	@mkdir -p .build/static
	@ln -sfn "$$(cc -print-file-name=libstdc++.a)" .build/static/libstdc++.a

test-machine:
	@Scripts/bootstrap test
	@Scripts/venv

demo: all ## show what works, with something to look at
	@Scripts/demo

test: test-machine all ## run every test: Swift, C, Python, command line, house; or those of the files that ONLY names
	@Scripts/test $(ONLY)

check: test-machine ## what to run before each commit: forms, house rules and the tests of what changed
	@Scripts/check

# The packages' names of source files don't say where this checkout is. SwiftPM keeps a build for each set of flags.
release: machine ## build what packages contain into build/release, without what tests need
	@NUTHATCH_OWN_BUILD=release swift build -c release --scratch-path .build-release --product nuthatch-c $(SWIFTFLAGS) \
	  -Xswiftc -file-prefix-map -Xswiftc '$(CURDIR)=.' -Xcc '-ffile-prefix-map=$(CURDIR)=.'
	@Scripts/place .build-release build/release
	@Scripts/make-archive .build-release build/release

deb: ## make the Debian packages in dist/, and look at them with lintian
	@Scripts/bootstrap packages
	@Scripts/make-deb

image: deb ## make an image for containers of the packages, and run it; needs root
	@rm -f dist/nuthatch_*_oci_*.tar
	@Scripts/make-image
	@Tests/Packages/image.py

packages: image wheel test-machine ## make packages, image and wheel, and use them in bare systems; needs root and the network
	@Tests/Packages/run.py
	@build/venv/bin/python Tests/Packages/wheel.py
	@Tests/Packages/readme.py

arm: ## compile the parts in C for 64-bit ARM, and compare their pixels with those of this machine; needs root
	@Scripts/bootstrap arm
	@Tests/ARM/run.py

archive: all ## make build/libnuthatch.a, the library that is linked into C programs
	@Scripts/make-archive

# A folder's name may have blanks, which functions of make don't understand.
install uninstall: export PREFIX := $(PREFIX)
install uninstall: export LIBDIR := $(LIBDIR)
install uninstall: export DESTDIR := $(DESTDIR)

install: archive ## install into $(DESTDIR)$(PREFIX), by default /usr/local
	@python3 Scripts/make-wheel --system
	@Scripts/install "$$PREFIX" "$$LIBDIR" "$$DESTDIR"

uninstall: ## remove what `make install` put into $(DESTDIR)$(PREFIX)
	@Scripts/uninstall "$$PREFIX" "$$DESTDIR"

wheel: release ## make the Python wheel in dist/, with all libraries inside; needs the network the first time
	@Scripts/bootstrap wheel
	@Scripts/make-libcurl
	@Scripts/link-wheel
	@Scripts/make-wheel

sdist: ## make the source distribution for Python in dist/
	@Scripts/make-sdist

header: machine ## print include/nuthatch.h and Python's prototypes anew from the sources
	@Scripts/make-header

lint: test-machine ## look for what the formatters, compilers and house rules object to
	@Scripts/lint

format: test-machine ## put Swift and Python files into the project's form
	@swift format --in-place --parallel --recursive Package.swift Sources Tests Examples
	@build/venv/bin/ruff check --quiet --fix Scripts bindings Tests
	@build/venv/bin/ruff format --quiet Scripts bindings Tests

sanitize: test-machine all ## run the Swift tests under the thread and the address sanitizer, the C tests under valgrind
	@Scripts/test --only thread --only address --only valgrind

fuzz: machine ## look for crashes for SECONDS (60) each in what decodes pictures
	@Tests/Fuzz/run.sh $(or $(SECONDS),60)

model: all ## check the promises of the cache with processes that are stopped and killed, for SECONDS (60), from SEED
	@Tests/Model/model.py --seconds $(or $(SECONDS),60) $(if $(SEED),--seed $(SEED)) $(OPTIONS)

soak: all ## prefetch a million URLs at ten thousand hosts, a tenth of them sick, from SEED
	@Tests/Soak/prefetch.py $(if $(SEED),--seed $(SEED)) $(OPTIONS)

reliability: test-machine all ## faults, file systems that fail, version 0.1 and the long rounds of tests with kills, for SECONDS (1800)
	@Scripts/bootstrap reliability
	@Tests/Reliability/run.py --seconds $(or $(SECONDS),1800) $(if $(SEED),--seed $(SEED)) $(OPTIONS)

bench-imaging: machine ## thumbnails beside the codecs alone, Pillow, libvips and OpenCV, in one run
	@Benchmarks/imaging/run.sh

bench-quality: machine ## thumbnails of photographs against an exact reference, in decibels
	@Benchmarks/imaging/quality.sh

bench-store: all ## the store beside a file for each entry, LMDB, SQLite and diskcache, in one run
	@.build/release/nuthatch-bench-store
	@Benchmarks/StoreRivals/run.sh

bench-fetch: all ## fetch small pictures beside a minimal C loop on libcurl
	@Benchmarks/fetch/run.sh

bench-prefetch: all ## `nuthatch prefetch` beside img2dataset, aiohttp + Pillow, curl + vipsthumbnail, and the limit
	@Benchmarks/prefetch/run.sh

bench-bindings: all ## what hits cost from C and Python, beside lru_cache, cachetools, diskcache, requests-cache, hishel
	@Benchmarks/bindings/run.sh

bench: bench-imaging bench-quality bench-store bench-fetch bench-prefetch bench-bindings ## every benchmark

clean: ## remove everything that was built
	rm -rf .build .build-release Benchmarks/.build build dist

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1 @ \2/p' Makefile | column -t -s @
