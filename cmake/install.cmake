# What `make install` puts where: library, headers, graphss.pc, CMake package, program, its
# man page and completions. Nothing installed names the prefix, so it can be moved.
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/graphss")

install(TARGETS graphss EXPORT graphssTargets)
install(TARGETS graphss_static EXPORT graphssStaticTargets)
install(TARGETS graphss_cli)
install(DIRECTORY include/graphss TYPE INCLUDE FILES_MATCHING PATTERN "*.h")

# The static library stands apart: who links it needs the development files of ours too.
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
configure_file(cmake/graphss.pc.in graphss.pc @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/graphss.pc"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

install(FILES "${CMAKE_BINARY_DIR}/graphss.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
set(share "${CMAKE_INSTALL_DATADIR}")
install(FILES "${CMAKE_BINARY_DIR}/graphss.bash" RENAME graphss
    DESTINATION "${share}/bash-completion/completions")
install(FILES "${CMAKE_BINARY_DIR}/graphss.zsh" RENAME _graphss
    DESTINATION "${share}/zsh/site-functions")
install(FILES "${CMAKE_BINARY_DIR}/graphss.fish"
    DESTINATION "${share}/fish/vendor_completions.d")
install(FILES LICENSE TYPE DOC)
