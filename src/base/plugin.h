/* plugin.h - shared objects that are loaded when they are asked for, so that the library does
 * not depend on what they link: libgraphss_mpi.so, libgraphss_scotch.so. */
#ifndef GRAPHSS_PLUGIN_H
#define GRAPHSS_PLUGIN_H

#include "base/base.h"

/* Copies the address of a function of libgraphss_NAME.so to out, a function pointer of that
 * size. It is sought by the dynamic linker, then beside the program and in ../lib from there,
 * and stays loaded. INVALID: it is not there, with what the linker says. */
graphss_status graphss_i_plugin_find(graphss_ctx *ctx, void *out, size_t size,
                                     const char *name, const char *function);

/* Opens a library of the system at its first use and copies the addresses of functions
 * name [n] to out, an array of n function pointers. It stays loaded. INVALID: it is not there;
 * package is what to install. */
graphss_status graphss_i_library_find(graphss_ctx *ctx, void *out, const char *file,
                                      const char *package, const char *const *name, size_t n);

#endif
