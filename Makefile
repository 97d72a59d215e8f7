# The everyday commands. CMake does the work (CMakePresets.json); this file only names it.
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
export FUZZ_SECONDS JOBS

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 18

deps: ## install the packages that building and testing need, where they are missing
	@tools/deps check

build: ## build the program (build/graphss) and the library
	@tools/deps build
	@test -f build/build.ninja || cmake --preset release
	@cmake --build build -j $(JOBS)

demo: build ## train, attack, alert, recover on a generated graph; and a report page
	@build/graphss demo -o build/demo
	@echo 'The program is build/graphss. To call it graphss, in this shell:'
	@echo '    export PATH="$(CURDIR)/build:$$PATH"'
	@echo 'or for everybody: make install'
	@echo 'A graph that changes while you look at it, with a page: make live'

live: build ## a demo stream with an attack in it, served with its page; ends by itself
	@tools/live build/graphss build/live

check: ## every test, with gcc, clang and the sanitizers
	@tools/deps check
	@tools/check

asan: ## the tests with the address and undefined behaviour sanitizers
	@tools/deps check
	@tools/check asan

tsan: ## the tests that use threads with the thread sanitizer
	@tools/deps check
	@tools/check tsan

python: ## the Python package: build the wheel, test it in a clean virtual environment
	@tools/deps python
	@test -f build/build.ninja || cmake --preset release
	@cmake --build build -j $(JOBS)
	@tools/python build

engine: ## the engine for several machines (--engine mpi), and its tests with 2 and 4 ranks
	@tools/deps engine
	@cmake --preset dev
	@cmake --build build-dev -j $(JOBS)
	@ctest --test-dir build-dev --output-on-failure -R 'part|shards|slices|cli.mpi'

fuzz: ## feed the readers with broken files, FUZZ_SECONDS (60) for each
	@tools/deps fuzz
	@tools/fuzz

coverage: ## which lines the tests reach
	@tools/deps check
	@tools/coverage

bench: ## measure kernels and training, beside PyTorch where it is installed
	@tools/deps build
	@cmake --preset bench
	@cmake --build build-bench -j $(JOBS)
	@bench/run build-bench

results: build ## the results pages, from the archive of records: build/results/report.html
	@tools/deps results
	@tools/results

format: ## clang-format over all sources
	@tools/deps format
	@git ls-files 'include/*.h' '*/*.c' 'src/*.h' 'cli/*.h' 'tests/*.h' | xargs clang-format -i

install: build ## install below PREFIX (/usr/local); DESTDIR is put before it
	@cmake --install build --prefix "$(PREFIX)"
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig; fi

clean: ## remove what was built
	@rm -rf build build-*

.PHONY: help deps build demo live check asan tsan python engine fuzz coverage bench results format install clean
