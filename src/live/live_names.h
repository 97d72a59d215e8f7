/* live_names.h - names of nodes that come and go, found by hash. */
#ifndef GRAPHSS_LIVE_NAMES_H
#define GRAPHSS_LIVE_NAMES_H

#include "base/base.h"

/* {0} is empty. */
typedef struct graphss_i_live_names {
    size_t *start; /* [room] into text, of each number; SIZE_MAX: it has no name */
    size_t n, room;
    char *text;
    size_t used, text_room, holes;
    int32_t *table; /* [slots] numbers; -1: empty, -2: was removed. slots is a power of two */
    size_t slots, filled; /* filled counts removed ones, too */
} graphss_i_live_names;

void graphss_i_live_names_destroy(graphss_ctx *ctx, graphss_i_live_names *names);
/* The number of a name, or -1. */
int64_t graphss_i_live_names_find(const graphss_i_live_names *names, const char *name);
/* Gives number i, which has none, a name that no other has; i <= n. */
graphss_status graphss_i_live_names_put(
    graphss_ctx *ctx, graphss_i_live_names *names, size_t i, const char *name);
/* It has one. */
void graphss_i_live_names_drop(graphss_i_live_names *names, size_t i);
/* NULL: it has none. */
static inline const char *graphss_i_live_names_get(const graphss_i_live_names *names, size_t i)
{
    return i < names->n && names->start[i] != SIZE_MAX ? names->text + names->start[i] : NULL;
}

#endif
