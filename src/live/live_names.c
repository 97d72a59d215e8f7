/* live_names.c - open addressing with linear probing; names lie in one block of text that is
 * packed when half of it is holes. The hash is keyed by nothing: a hostile stream can make
 * lookups slow, which SipHash with a random key would not allow but which would make runs
 * differ. The mixing step keeps names of equal endings apart. */
#include "live/live_names.h"
#include <string.h>

enum { EMPTY = -1, REMOVED = -2, LEAST_SLOTS = 64 };

/* FNV-1a, then the finisher of splitmix64. */
static uint64_t hash_of(const char *name)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 0x100000001b3u;
    h ^= h >> 30;
    h *= 0xbf58476d1ce4e5b9u;
    h ^= h >> 27;
    h *= 0x94d049bb133111ebu;
    return h ^ h >> 31;
}

void graphss_i_live_names_destroy(graphss_ctx *ctx, graphss_i_live_names *names)
{
    graphss_release(ctx, names->start);
    graphss_release(ctx, names->text);
    graphss_release(ctx, names->table);
    *names = (graphss_i_live_names){0};
}

/* The slot of a name, or of the place where it would be put. */
static size_t slot_of(const graphss_i_live_names *t, const char *name, bool *found)
{
    size_t at = hash_of(name) & (t->slots - 1), free_at = SIZE_MAX;
    *found = false;
    for (; t->table[at] != EMPTY; at = (at + 1) & (t->slots - 1)) {
        if (t->table[at] == REMOVED) {
            free_at = free_at == SIZE_MAX ? at : free_at;
        } else if (!strcmp(t->text + t->start[t->table[at]], name)) {
            *found = true;
            return at;
        }
    }
    return free_at == SIZE_MAX ? at : free_at;
}

int64_t graphss_i_live_names_find(const graphss_i_live_names *t, const char *name)
{
    bool found = false;
    if (t->slots == 0)
        return -1;
    const size_t at = slot_of(t, name, &found);
    return found ? t->table[at] : -1;
}

static graphss_status rehash(graphss_ctx *ctx, graphss_i_live_names *t)
{
    size_t live = 0, slots = LEAST_SLOTS;
    for (size_t i = 0; i < t->n; i++)
        live += t->start[i] != SIZE_MAX;
    while (slots < 4 * (live + 1))
        slots *= 2;
    int32_t *table = graphss_i_alloc(ctx, slots, sizeof *table);
    if (!table)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < slots; i++)
        table[i] = EMPTY;
    graphss_release(ctx, t->table);
    t->table = table;
    t->slots = slots;
    t->filled = live;
    for (size_t i = 0; i < t->n; i++)
        if (t->start[i] != SIZE_MAX) {
            size_t at = hash_of(t->text + t->start[i]) & (slots - 1);
            while (table[at] != EMPTY)
                at = (at + 1) & (slots - 1);
            table[at] = (int32_t)i;
        }
    return GRAPHSS_OK;
}

/* Room for one more name of `size` bytes, NUL included. */
static graphss_status reserve_text(graphss_ctx *ctx, graphss_i_live_names *t, size_t size)
{
    if (t->used + size <= t->text_room)
        return GRAPHSS_OK;
    const size_t need = t->used - t->holes + size, room = need + need / 2 + 1024;
    char *text = graphss_i_alloc(ctx, room, 1);
    if (!text)
        return GRAPHSS_ERR_NOMEM;
    size_t at = 0;
    for (size_t i = 0; i < t->n; i++)
        if (t->start[i] != SIZE_MAX) {
            const size_t n = strlen(t->text + t->start[i]) + 1;
            memcpy(text + at, t->text + t->start[i], n);
            t->start[i] = at;
            at += n;
        }
    graphss_release(ctx, t->text);
    t->text = text;
    t->used = at;
    t->text_room = room;
    t->holes = 0;
    return GRAPHSS_OK;
}

graphss_status graphss_i_live_names_put(
    graphss_ctx *ctx, graphss_i_live_names *t, size_t i, const char *name)
{
    const size_t size = strlen(name) + 1;
    graphss_status st = reserve_text(ctx, t, size);
    if (!st && 2 * (t->filled + 1) > t->slots)
        st = rehash(ctx, t);
    if (!st && i >= t->room) {
        const size_t room = i + i / 2 + LEAST_SLOTS;
        size_t *start = graphss_i_grow(ctx, t->start, t->n, room, sizeof *start);
        st = start ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
        if (start) {
            t->start = start;
            t->room = room;
        }
    }
    if (st)
        return st;
    if (i == t->n)
        t->n++;
    bool found = false;
    t->start[i] = SIZE_MAX;
    const size_t at = slot_of(t, name, &found);
    t->filled += t->table[at] == EMPTY;
    t->table[at] = (int32_t)i;
    t->start[i] = t->used;
    memcpy(t->text + t->used, name, size);
    t->used += size;
    return GRAPHSS_OK;
}

void graphss_i_live_names_drop(graphss_i_live_names *t, size_t i)
{
    bool found = false;
    const char *name = t->text + t->start[i];
    const size_t at = slot_of(t, name, &found);
    t->table[at] = REMOVED;
    t->holes += strlen(name) + 1;
    t->start[i] = SIZE_MAX;
}
