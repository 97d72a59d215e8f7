# graphss_sources(file ...): adds the sources of the calling folder to the library.
function(graphss_sources)
    list(TRANSFORM ARGN PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
    target_sources(graphss_objects PRIVATE ${ARGN})
endfunction()

# graphss_listed_sources(models.def): adds x.c for each line KIND(x) of a list; it lies in the
# calling folder or in one of its subfolders.
function(graphss_listed_sources list)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${list}")
    file(STRINGS "${list}" lines REGEX "^[A-Z]+\\([a-z0-9_]+\\)$")
    list(TRANSFORM lines REPLACE "^[A-Z]+\\(([a-z0-9_]+)\\)$" "\\1.c")
    foreach(file ${lines})
        file(GLOB found RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" CONFIGURE_DEPENDS ${file} */${file})
        graphss_sources(${found})
    endforeach()
endfunction()

# graphss_add_test(rng [LABEL medium]): test/test_rng.c of the calling folder becomes the CTest
# base.rng. Tests link the library's objects, so they may call private functions.
function(graphss_add_test name)
    if(NOT GRAPHSS_TESTS)
        return()
    endif()
    cmake_parse_arguments(ARG "" "LABEL" "" ${ARGN})
    if(NOT ARG_LABEL)
        set(ARG_LABEL short)
    endif()
    file(RELATIVE_PATH folder "${PROJECT_SOURCE_DIR}/src" "${CMAKE_CURRENT_SOURCE_DIR}")
    string(REPLACE "/" "." folder "${folder}")
    set(target test_${name})
    add_executable(${target} "${CMAKE_CURRENT_SOURCE_DIR}/test/test_${name}.c")
    target_link_libraries(${target} PRIVATE graphss_testing)
    set_target_properties(${target} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
    add_test(NAME ${folder}.${name} COMMAND ${target})
    set_tests_properties(${folder}.${name} PROPERTIES LABELS ${ARG_LABEL} SKIP_RETURN_CODE 77)
endfunction()

# graphss_tests(name ...): graphss_add_test for each.
function(graphss_tests)
    foreach(name ${ARGN})
        graphss_add_test(${name})
    endforeach()
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
