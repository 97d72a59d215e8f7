# What `make install` puts where: libraries, headers, .pc files, CMake package, program, its
# man page and completions. Nothing installed names the prefix, so it can be moved.
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/graphss")

install(TARGETS graphss graphss_lab EXPORT graphssTargets)
install(TARGETS graphss_static graphss_lab_static EXPORT graphssStaticTargets)
install(TARGETS graphss_cli)
install(DIRECTORY include/graphss include/graphss_lab TYPE INCLUDE FILES_MATCHING PATTERN "*.h")

# The static libraries stand apart: linking them takes the development files of those below.
foreach(set graphssTargets graphssStaticTargets)
    install(EXPORT ${set} NAMESPACE graphss:: DESTINATION "${package_dir}")
endforeach()
configure_package_config_file(cmake/graphssConfig.cmake.in graphssConfig.cmake
    INSTALL_DESTINATION "${package_dir}" NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(graphssConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/graphssConfig.cmake"
    "${CMAKE_CURRENT_BINARY_DIR}/graphssConfigVersion.cmake" DESTINATION "${package_dir}")

file(RELATIVE_PATH pc_prefix "/any/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/any")
string(REGEX REPLACE "/$" "" pc_prefix "${pc_prefix}")
foreach(part graphss graphss_lab)
    configure_file(cmake/${part}.pc.in ${part}.pc @ONLY)
    install(FILES "${CMAKE_CURRENT_BINARY_DIR}/${part}.pc"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endforeach()

install(FILES "${CMAKE_BINARY_DIR}/graphss.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
set(share "${CMAKE_INSTALL_DATADIR}")
install(FILES "${CMAKE_BINARY_DIR}/graphss.bash" RENAME graphss
    DESTINATION "${share}/bash-completion/completions")
install(FILES "${CMAKE_BINARY_DIR}/graphss.zsh" RENAME _graphss
    DESTINATION "${share}/zsh/site-functions")
install(FILES "${CMAKE_BINARY_DIR}/graphss.fish"
    DESTINATION "${share}/fish/vendor_completions.d")
install(FILES packaging/prometheus-rules.yml packaging/grafana-graphss.json
        DESTINATION "${share}/graphss")
install(FILES LICENSE TYPE DOC)
