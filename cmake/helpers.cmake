# graphss_folder(data [LISTED models.def] SOURCES file ... [TESTS name ...]): the sources of a folder
# of src go to its library, graphss_lab for what lies in lab and graphss for all else; its tests are
# added. A list has a line KIND(x) for each further source x.c, which lies in the folder or in one
# below.
function(graphss_folder folder)
    cmake_parse_arguments(ARG "" "LISTED" "SOURCES;TESTS" ${ARGN})
    set(path "${PROJECT_SOURCE_DIR}/src/${folder}")
    if(ARG_LISTED)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}/${ARG_LISTED}")
        file(STRINGS "${path}/${ARG_LISTED}" lines REGEX "^[A-Z]+\\([a-z0-9_]+\\)$")
        list(TRANSFORM lines REPLACE "^[A-Z]+\\(([a-z0-9_]+)\\)$" "\\1.c")
        foreach(file ${lines})
            file(GLOB found RELATIVE "${path}" CONFIGURE_DEPENDS "${path}/${file}"
                "${path}/*/${file}")
            list(APPEND ARG_SOURCES ${found})
        endforeach()
    endif()
    list(TRANSFORM ARG_SOURCES PREPEND "${path}/")
    if(folder MATCHES "^lab/")
        target_sources(graphss_lab_objects PRIVATE ${ARG_SOURCES})
    else()
        target_sources(graphss_objects PRIVATE ${ARG_SOURCES})
    endif()
    foreach(name ${ARG_TESTS})
        graphss_add_test(${name} ${folder})
    endforeach()
endfunction()

# graphss_exports(): what the two shared libraries let others see, as version scripts of the
# linker (cmake/exports.cmake writes them from the objects).
function(graphss_exports)
    set(core "${CMAKE_BINARY_DIR}/graphss.map")
    set(lab "${CMAKE_BINARY_DIR}/graphss_lab.map")
    add_custom_command(OUTPUT "${core}" "${lab}"
        COMMAND ${CMAKE_COMMAND} "-DNM=${CMAKE_NM}" "-DVERSION=${soversion}"
            "-DCORE=$<TARGET_FILE:graphss_static>" "-DLAB=$<TARGET_FILE:graphss_lab_static>"
            "-DCORE_MAP=${core}" "-DLAB_MAP=${lab}"
            -P "${PROJECT_SOURCE_DIR}/cmake/exports.cmake"
        DEPENDS graphss_static graphss_lab_static "${PROJECT_SOURCE_DIR}/cmake/exports.cmake"
        VERBATIM)
    add_custom_target(graphss_maps DEPENDS "${core}" "${lab}")
    foreach(part graphss graphss_lab)
        set(map "${CMAKE_BINARY_DIR}/${part}.map")
        add_dependencies(${part} graphss_maps)
        target_link_options(${part} PRIVATE "LINKER:--version-script=${map}")
        set_target_properties(${part} PROPERTIES LINK_DEPENDS "${map}")
    endforeach()
endfunction()

# graphss_add_test(rng base [LABEL medium]): src/base/test/test_rng.c becomes the CTest base.rng. Tests
# may call private functions.
function(graphss_add_test name folder)
    if(NOT GRAPHSS_TESTS)
        return()
    endif()
    cmake_parse_arguments(ARG "" "LABEL" "" ${ARGN})
    if(NOT ARG_LABEL)
        set(ARG_LABEL short)
    endif()
    set(target test_${name})
    add_executable(${target} "${PROJECT_SOURCE_DIR}/src/${folder}/test/test_${name}.c")
    target_link_libraries(${target} PRIVATE graphss_testing)
    set_target_properties(${target} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
    string(REPLACE "/" "." folder "${folder}")
    add_test(NAME ${folder}.${name} COMMAND ${target})
    set_tests_properties(${folder}.${name} PROPERTIES LABELS ${ARG_LABEL} SKIP_RETURN_CODE 77)
endfunction()

# graphss_unpack(archive folder): unpacks archive into folder whenever the build is configured
# when the archive changes (tools/seeds).
function(graphss_unpack archive folder)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${archive}")
    file(ARCHIVE_EXTRACT INPUT "${archive}" DESTINATION "${folder}")
endfunction()

if(GRAPHSS_TESTS)
    enable_testing()
    set(GRAPHSS_SEEDS "${CMAKE_BINARY_DIR}/seeds")
    graphss_unpack("${PROJECT_SOURCE_DIR}/tests/data.tar.xz" "${GRAPHSS_SEEDS}")
    pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
    # One shared object with the private functions of both libraries, so that a test links in no
    # time.
    add_library(graphss_testing SHARED $<TARGET_OBJECTS:graphss_objects>
        $<TARGET_OBJECTS:graphss_lab_objects>)
    target_link_libraries(graphss_testing PUBLIC graphss_settings graphss_libraries
        graphss_lab_libraries PkgConfig::CMOCKA)
    target_include_directories(graphss_testing INTERFACE
        "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/tests")
    target_compile_definitions(graphss_testing INTERFACE
        GRAPHSS_SOURCE_DIR="${PROJECT_SOURCE_DIR}" GRAPHSS_SEEDS="${GRAPHSS_SEEDS}")
endif()
