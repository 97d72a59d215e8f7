/* partition.h - checks of a partition, and what a partitioner in a shared object is. */
#ifndef GRAPHSS_PARTITION_H
#define GRAPHSS_PARTITION_H

#include "base/base.h"

/* INVALID: a number that is no part, a part without nodes. */
graphss_status graphss_i_partition_check(
    graphss_ctx *ctx, const int32_t *part, size_t n, size_t parts);

/* Fills part [n] for a graph in compressed rows. NULL, or why it could not: constant text. */
typedef const char *(*graphss_i_partitioner)(
    int32_t *part, size_t n, const int64_t *offset, const int32_t *target, int32_t parts);

#endif
