# exports.cmake - the version scripts of the two shared libraries, from their objects.
#
# Public are the functions that do not begin with graphss_i_. The laboratory also stands on some
# private functions of the core: those it calls, and no others, are exported under the version
# GRAPHSS_PRIVATE, which promises nothing; all others stay inside.
cmake_minimum_required(VERSION 3.21)

function(symbols out library how)
    execute_process(COMMAND "${NM}" ${how} "${library}" OUTPUT_VARIABLE text
        ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCHALL "[ \t][A-TV-Z] graphss_[a-z0-9_]+|[ \t]U graphss_[a-z0-9_]+" found "${text}")
    list(TRANSFORM found REPLACE "^.* " "")
    list(REMOVE_DUPLICATES found)
    list(SORT found)
    set(${out} "${found}" PARENT_SCOPE)
endfunction()

function(write_map file public private)
    list(JOIN public "; " public)
    set(text "GRAPHSS_${VERSION} { global: ${public}; local: *; };\n")
    if(private)
        list(JOIN private "; " private)
        string(APPEND text "GRAPHSS_PRIVATE { global: ${private}; };\n")
    endif()
    string(REPLACE "; " ";\n    " text "${text}")
    file(WRITE "${file}" "${text}")
endfunction()

symbols(core "${CORE}" --defined-only)
symbols(lab "${LAB}" --defined-only)
symbols(wanted "${LAB}" --undefined-only)
set(used "")
foreach(name ${wanted})
    if(name MATCHES "^graphss_i_" AND name IN_LIST core)
        list(APPEND used ${name})
    endif()
endforeach()
list(FILTER core EXCLUDE REGEX "^graphss_i_")
list(FILTER lab EXCLUDE REGEX "^graphss_i_")
write_map("${CORE_MAP}" "${core}" "${used}")
write_map("${LAB_MAP}" "${lab}" "")
