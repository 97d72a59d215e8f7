/* packed.h - the bytes of a text file, wherever they are: plain, behind gzip, or on standard
 * input. */
#ifndef GRAPHSS_PACKED_H
#define GRAPHSS_PACKED_H

#include "base/base.h"

/* The whole file in one block with a NUL behind it, unpacked if it begins as a gzip file does;
 * path "-" is standard input. LIMIT: more than max bytes, packed or not. DATA: a gzip file
 * that is cut short or damaged. NOT_FOUND, IO, NOMEM. */
graphss_status graphss_i_packed_read(graphss_ctx *ctx, char **bytes, size_t *n,
                                     const char *path, uint64_t max);
/* What messages call a path: "standard input" for "-". */
const char *graphss_i_packed_name(const char *path);

#endif
