/* names.c - strings in one block, and the hash table from a string to its number.
 *
 * Ids and class names come by the million, so each costs its bytes, an offset and two
 * slots, and no allocation of its own. */
#include "data/build.h"
#include <string.h>

const char *graphss_names_get(const graphss_names *names, size_t i)
{
    return names && i < names->count ? names->text + names->start[i] : "";
}

size_t graphss_name_escape(char *out, const char *name)
{
    static const char plain[] = "\t\n\r\\", escaped[] = "tnr\\";
    size_t n = 0;
    if (!out)
        return 0;
    for (size_t i = 0; name && name[i]; i++) {
        const char *at = strchr(plain, name[i]);
        const bool remark = name[i] == '#' && i == 0;
        if (at || remark)
            out[n++] = '\\';
        out[n++] = at ? escaped[at - plain] : name[i];
    }
    out[n] = '\0';
    return n;
}

const char *graphss_name_guard(const char *name)
{
    static const char *const wide[] = {"\uff1d", "\uff0b", "\uff0d", "\uff20"}; /* = + - @ */
    if (!name)
        return "";
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (strncmp(name, wide[i], strlen(wide[i])) == 0)
            return "'";
    return *name && strchr("=+-@\t\r\n'", *name) ? "'" : "";
}

bool graphss_i_name_unescape(char *name)
{
    char *to = name;
    for (const char *from = name; *from; from++) {
        char c = *from;
        if (c == '\\') {
            static const char escaped[] = "tnr\\# ", plain[] = "\t\n\r\\# ";
            const char *at = from[1] ? strchr(escaped, from[1]) : NULL;
            if (!at)
                return false;
            c = plain[at - escaped];
            from++;
        }
        *to++ = c;
    }
    *to = '\0';
    return true;
}

void graphss_names_destroy(graphss_ctx *ctx, graphss_names *names)
{
    if (!names)
        return;
    graphss_release(ctx, names->text);
    graphss_release(ctx, names->start);
    *names = (graphss_names){0};
}

graphss_status graphss_i_names_copy(
    graphss_ctx *ctx, graphss_names *out, const graphss_names *names)
{
    if (names->count == 0) {
        *out = (graphss_names){0};
        return GRAPHSS_OK;
    }
    graphss_names made = {.count = names->count};
    made.start = graphss_i_copy(ctx, names->start, names->count + 1, sizeof *made.start);
    made.text = graphss_i_copy(ctx, names->text, names->start[names->count], 1);
    if (!made.start || !made.text) {
        graphss_names_destroy(ctx, &made);
        return GRAPHSS_ERR_NOMEM;
    }
    *out = made;
    return GRAPHSS_OK;
}

/* Makes room for `wanted` elements by doubling; false if there is no memory. */
static bool reserve(
    graphss_ctx *ctx, void **block, size_t *room, size_t used, size_t wanted, size_t size)
{
    if (wanted <= *room)
        return true;
    size_t grown = *room > SIZE_MAX / 2 ? wanted : *room * 2;
    if (grown < wanted)
        grown = wanted;
    if (grown < 16)
        grown = 16;
    void *bigger = graphss_i_grow(ctx, *block, used, grown, size);
    if (!bigger)
        return false;
    *block = bigger;
    *room = grown;
    return true;
}

graphss_status graphss_i_name_list_add(
    graphss_ctx *ctx, graphss_i_name_list *list, const char *text, size_t length)
{
    if (length && memchr(text, 0, length))
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "name %zu holds a NUL byte", list->count);
    size_t bytes;
    if (!graphss_i_add(&bytes, list->bytes, length) || !graphss_i_add(&bytes, bytes, 1))
        return graphss_i_nomem(ctx, SIZE_MAX);
    void *start = list->start, *letters = list->text;
    const bool roomy = reserve(
        ctx, &start, &list->room, list->count + 1, list->count + 2, sizeof *list->start);
    list->start = start;
    if (!roomy)
        return GRAPHSS_ERR_NOMEM;
    const bool enough = reserve(ctx, &letters, &list->bytes_room, list->bytes, bytes, 1);
    list->text = letters;
    if (!enough)
        return GRAPHSS_ERR_NOMEM;
    if (length)
        memcpy(list->text + list->bytes, text, length);
    list->text[bytes - 1] = 0;
    list->start[list->count++] = list->bytes;
    list->start[list->count] = bytes;
    list->bytes = bytes;
    return GRAPHSS_OK;
}

graphss_status graphss_i_name_list_finish(
    graphss_ctx *ctx, graphss_names *out, graphss_i_name_list *list)
{
    if (list->count == 0) {
        graphss_i_name_list_destroy(ctx, list);
        *out = (graphss_names){0};
        return GRAPHSS_OK;
    }
    *out = (graphss_names){.count = list->count, .start = list->start, .text = list->text};
    *list = (graphss_i_name_list){0};
    return GRAPHSS_OK;
}

void graphss_i_name_list_destroy(graphss_ctx *ctx, graphss_i_name_list *list)
{
    graphss_release(ctx, list->text);
    graphss_release(ctx, list->start);
    *list = (graphss_i_name_list){0};
}

graphss_status graphss_i_names_number(graphss_ctx *ctx, graphss_names *out, size_t n)
{
    graphss_i_name_list names = {0};
    graphss_status st = GRAPHSS_OK;
    for (size_t i = 0; i < n && !st; i++) {
        char text[24];
        const int length = snprintf(text, sizeof text, "%zu", i);
        st = graphss_i_name_list_add(ctx, &names, text, (size_t)length);
    }
    if (!st)
        st = graphss_i_name_list_finish(ctx, out, &names);
    graphss_i_name_list_destroy(ctx, &names);
    return st;
}

/* FNV-1a, then mixed so that the low bits, which choose the slot, depend on all of it. */
uint64_t graphss_i_name_hash(const char *text, size_t length)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++)
        h = (h ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    h = (h ^ (h >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    return h ^ (h >> 32);
}

/* The slot of the text, or the free slot where it would be inserted. */
static size_t probe(const graphss_i_intern *table, const char *text, size_t length)
{
    const graphss_i_name_list *list = &table->list;
    size_t at = (size_t)graphss_i_name_hash(text, length) & (table->slots - 1);
    while (table->slot[at]) {
        const size_t i = table->slot[at] - 1;
        if (list->start[i + 1] - list->start[i] - 1 == length &&
            (length == 0 || memcmp(list->text + list->start[i], text, length) == 0))
            return at;
        at = (at + 1) & (table->slots - 1);
    }
    return at;
}

graphss_status graphss_i_intern_index(graphss_ctx *ctx, graphss_i_intern *table)
{
    size_t slots = 64, twice;
    if (!graphss_i_mul(&twice, table->list.count + 1, 2))
        return graphss_i_nomem(ctx, SIZE_MAX);
    while (slots <= twice)
        slots *= 2;
    size_t *slot = graphss_i_calloc(ctx, slots, sizeof *slot);
    if (!slot)
        return GRAPHSS_ERR_NOMEM;
    graphss_release(ctx, table->slot);
    table->slot = slot;
    table->slots = slots;
    for (size_t i = 0; i < table->list.count; i++) {
        const size_t begin = table->list.start[i], end = table->list.start[i + 1];
        const size_t at = probe(table, table->list.text + begin, end - begin - 1);
        if (!slot[at])
            slot[at] = i + 1;
    }
    return GRAPHSS_OK;
}

graphss_status graphss_i_intern_add(graphss_ctx *ctx, size_t *index, bool *added,
    graphss_i_intern *table, const char *text, size_t length)
{
    graphss_status st = GRAPHSS_OK;
    if (2 * (table->list.count + 1) > table->slots)
        st = graphss_i_intern_index(ctx, table);
    if (st)
        return st;
    const size_t at = probe(table, text, length);
    const bool fresh = !table->slot[at];
    if (fresh) {
        st = graphss_i_name_list_add(ctx, &table->list, text, length);
        if (st)
            return st;
        table->slot[at] = table->list.count;
    }
    *index = table->slot[at] - 1;
    if (added)
        *added = fresh;
    return GRAPHSS_OK;
}

int64_t graphss_i_intern_find(const graphss_i_intern *table, const char *text, size_t length)
{
    return table->slots ? (int64_t)table->slot[probe(table, text, length)] - 1 : -1;
}

void graphss_i_intern_destroy(graphss_ctx *ctx, graphss_i_intern *table)
{
    graphss_i_name_list_destroy(ctx, &table->list);
    graphss_release(ctx, table->slot);
    *table = (graphss_i_intern){0};
}
