# manifest.json becomes the rows of a constant table, manifest_rows.h, when CMake runs. The
# files of one dataset must follow each other; test_fetch.c checks the rest.
set(manifest "${CMAKE_CURRENT_LIST_DIR}/manifest.json")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${manifest}")

# manifest_text(out object member...): a member, refused when C would need an escape for it.
function(manifest_text out object)
    string(JSON text GET "${object}" ${ARGN})
    if(text MATCHES "[\"\\\n]")
        message(FATAL_ERROR "${manifest}: quote, backslash or line break in \"${text}\"")
    endif()
    set(${out} "${text}" PARENT_SCOPE)
endfunction()

function(manifest_rows out)
    file(READ "${manifest}" json)
    set(rows "")
    string(JSON n_sources LENGTH "${json}" sources)
    math(EXPR last_source "${n_sources} - 1")
    foreach(s RANGE ${last_source})
        string(JSON source GET "${json}" sources ${s})
        manifest_text(page "${source}" page)
        manifest_text(url "${source}" url)
        manifest_text(licence "${source}" licence)
        string(JSON n_files LENGTH "${source}" files)
        math(EXPR last_file "${n_files} - 1")
        foreach(f RANGE ${last_file})
            manifest_text(dataset "${source}" files ${f} dataset)
            manifest_text(file "${source}" files ${f} file)
            manifest_text(checksum "${source}" files ${f} checksum)
            string(APPEND rows "{\"${dataset}\", \"${file}\", \"${url}/${file}\",\n"
                   " \"${licence}\",\n \"${page}\",\n \"${checksum}\"},\n")
        endforeach()
    endforeach()
    set(${out} "${rows}" PARENT_SCOPE)
endfunction()

manifest_rows(rows)
file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/generated/manifest_rows.h"
     CONTENT "/* Made from src/lab/fetch/manifest.json by src/lab/fetch/manifest.cmake. */\n@rows@" @ONLY)
target_include_directories(graphss_lab_objects PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/generated")
