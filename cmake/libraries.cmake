# The libraries we stand on; docs/DEPENDENCIES.md says why each.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(EXPAT REQUIRED IMPORTED_TARGET expat)
pkg_check_modules(CURL REQUIRED IMPORTED_TARGET libcurl)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3) # of the store alone (src/store)
pkg_check_modules(MICROHTTPD REQUIRED libmicrohttpd) # its header; opened at run time (src/serve/listen.c)
pkg_check_modules(ARPACK REQUIRED arpack) # its header; opened at run time (src/lab/baselines/eigen.c)

# Of the core, and what the laboratory needs besides.
add_library(graphss_libraries INTERFACE)
target_link_libraries(graphss_libraries INTERFACE
    PkgConfig::ZLIB PkgConfig::EXPAT PkgConfig::JANSSON
    Threads::Threads ${CMAKE_DL_LIBS} m)
add_library(graphss_lab_libraries INTERFACE)
target_link_libraries(graphss_lab_libraries INTERFACE graphss_libraries PkgConfig::CURL
    ${CMAKE_DL_LIBS})
target_include_directories(graphss_lab_libraries INTERFACE ${ARPACK_INCLUDE_DIRS})
