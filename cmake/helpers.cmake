# graphss_sources(file ...): adds the sources of the calling folder to the library.
function(graphss_sources)
    list(TRANSFORM ARGN PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
    target_sources(graphss_objects PRIVATE ${ARGN})
endfunction()

# graphss_listed_sources(models.def): adds x.c for each line KIND(x) of a list.
function(graphss_listed_sources list)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${list}")
    file(STRINGS "${list}" lines REGEX "^[A-Z]+\\([a-z0-9_]+\\)$")
    list(TRANSFORM lines REPLACE "^[A-Z]+\\(([a-z0-9_]+)\\)$" "\\1.c")
    graphss_sources(${lines})
endfunction()

# graphss_add_test(base/rng [LABEL medium]): src/base/test_rng.c becomes the CTest base.rng.
# Tests link the library's objects, so they may call private functions.
function(graphss_add_test path)
    if(NOT GRAPHSS_TESTS)
        return()
    endif()
    cmake_parse_arguments(ARG "" "LABEL" "" ${ARGN})
    if(NOT ARG_LABEL)
        set(ARG_LABEL short)
    endif()
    get_filename_component(folder ${path} DIRECTORY)
    get_filename_component(name ${path} NAME)
    string(REPLACE "/" "." test ${path})
    set(target test_${name})
    add_executable(${target} "${PROJECT_SOURCE_DIR}/src/${folder}/test_${name}.c")
    target_link_libraries(${target} PRIVATE graphss_testing)
    set_target_properties(${target} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
    add_test(NAME ${test} COMMAND ${target})
    set_tests_properties(${test} PROPERTIES LABELS ${ARG_LABEL} SKIP_RETURN_CODE 77)
endfunction()

if(GRAPHSS_TESTS)
    enable_testing()
    pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
    add_library(graphss_testing INTERFACE)
    target_link_libraries(graphss_testing INTERFACE graphss_objects PkgConfig::CMOCKA)
    target_sources(graphss_testing INTERFACE $<TARGET_OBJECTS:graphss_objects>)
    target_include_directories(graphss_testing INTERFACE
        "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/tests")
    target_compile_definitions(graphss_testing INTERFACE
        GRAPHSS_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
endif()
