# Language, warnings and sanitizers, on one interface target.
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_C_FLAGS_RELEASE "-O3 -DNDEBUG")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g")
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")

option(GRAPHSS_TESTS "Build the tests" ON)
option(GRAPHSS_BENCH "Build the benchmarks" OFF)
option(GRAPHSS_FUZZ "Build the fuzz targets with libFuzzer (clang)" OFF)
set(GRAPHSS_SANITIZE "" CACHE STRING "Sanitizers, comma separated: address, undefined, thread")

add_library(graphss_settings INTERFACE)
target_compile_features(graphss_settings INTERFACE c_std_17)
set(CMAKE_C_EXTENSIONS OFF)
target_compile_definitions(graphss_settings INTERFACE _GNU_SOURCE _FILE_OFFSET_BITS=64)
target_compile_options(graphss_settings INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes
    -Wpointer-arith -Wcast-qual -Wwrite-strings -Wundef -Wformat=2 -Wvla
    -Wno-missing-field-initializers # rows of tables end before the fields that few have
    -ffp-contract=off -fno-math-errno -fno-semantic-interposition)
if(GRAPHSS_SANITIZE)
    set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O1 -g1") # half the time to build, and no slower to run
    target_compile_options(graphss_settings INTERFACE
        -fsanitize=${GRAPHSS_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(graphss_settings INTERFACE -fsanitize=${GRAPHSS_SANITIZE})
    if(CMAKE_C_COMPILER_ID MATCHES Clang)
        # Checks keep some loops from being vectors. Undefined behaviour stops the program where it
        # is found: that takes no library, and the address sanitizer tells the place.
        target_compile_options(graphss_settings INTERFACE -Wno-pass-failed
            -fsanitize-trap=undefined)
        target_link_options(graphss_settings INTERFACE -fsanitize-trap=undefined)
    endif()
endif()
option(GRAPHSS_COVERAGE "Instrument for coverage" OFF)
if(GRAPHSS_COVERAGE)
    target_compile_options(graphss_settings INTERFACE --coverage -fprofile-update=atomic)
    target_compile_definitions(graphss_settings INTERFACE GRAPHSS_COVERAGE)
    target_link_options(graphss_settings INTERFACE --coverage)
endif()

# What Debian and Fedora build their packages with: an overrun of a buffer on the stack or in a
# call of the C library ends the program, tables of the loader are read-only once it runs, and
# addresses are drawn at random (tests/hardened.sh looks). It costs no time that can be measured.
option(GRAPHSS_HARDEN "Stack protector, fortified C library calls, read-only tables" ON)
if(GRAPHSS_HARDEN)
    include(CheckPIESupported)
    check_pie_supported(LANGUAGES C)
    set(CMAKE_POSITION_INDEPENDENT_CODE ON)
    target_compile_options(graphss_settings INTERFACE
        -fstack-protector-strong -fstack-clash-protection)
    target_link_options(graphss_settings INTERFACE
        -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
    if(NOT GRAPHSS_SANITIZE) # these look at the same calls, and see more
        target_compile_options(graphss_settings INTERFACE
            $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE>
            $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=3>)
    endif()
endif()
