/* slices.c - tables too large for one memory become shards: each rank reads a slice of the
 * lines, and none the whole file.
 *
 * The result equals that of one machine: nodes have the same numbers and names, the dataset
 * the same hash. A list of edges is cut into blocks of as many nodes, a folder into the nodes
 * of each slice of nodes.csv. */
#include "data/files/slices.h"
#include <errno.h>
#include <graphss/engine.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- lines of a file ---- */

/* The start of the first line at or after `at`; the end of the file if there is none. */
static int64_t line_begin(FILE *file, int64_t at, int64_t size)
{
    char bytes[4096];
    if (at == 0 || at >= size || fseeko(file, at - 1, SEEK_SET) != 0)
        return at < size ? at : size;
    for (int64_t begin = at - 1;;) {
        const size_t n = fread(bytes, 1, sizeof bytes, file);
        const char *end = n ? memchr(bytes, '\n', n) : NULL;
        if (end || n == 0)
            return end ? begin + (end - bytes) + 1 : size;
        begin += (int64_t)n;
    }
}

/* The position after the first line that is neither blank nor a comment. */
static int64_t head_end(FILE *file, const char *comments, int64_t size)
{
    bool said = false, remark = false;
    rewind(file);
    for (int c; (c = getc(file)) != EOF;) {
        if (c == '\n') {
            if (said)
                return ftello(file);
            remark = false;
        } else if (!said && !remark && c != ' ' && c != '\t' && c != '\r') {
            remark = comments[0] && strchr(comments, c);
            said = !remark;
        }
    }
    return size;
}

static int64_t share_begin(int64_t size, size_t rank, size_t ranks)
{
    const int64_t each = size / (int64_t)ranks, more = size % (int64_t)ranks;
    return each * (int64_t)rank + ((int64_t)rank < more ? (int64_t)rank : more);
}

static graphss_status read_part(graphss_ctx *ctx, graphss_i_slice *s, FILE *file)
{
    struct stat about = {0};
    const size_t rank = graphss_i_rank(ctx), ranks = graphss_i_ranks(ctx);
    if (fstat(fileno(file), &about) != 0 || !S_ISREG(about.st_mode))
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: want a plain file", s->file);
    const int64_t size = about.st_size, head = head_end(file, s->comments, size);
    int64_t from = line_begin(file, share_begin(size, rank, ranks), size);
    int64_t to = line_begin(file, share_begin(size, rank + 1, ranks), size);
    from = rank == 0 ? 0 : from > head ? from : head;
    to = to > head ? to : head;
    s->head = rank == 0 ? 0 : (size_t)head;
    s->n = s->head + (size_t)(to - from);
    s->bytes = graphss_i_alloc(ctx, s->n + 1, 1);
    if (!s->bytes)
        return GRAPHSS_ERR_NOMEM;
    const bool read = fseeko(file, 0, SEEK_SET) == 0 &&
                      fread(s->bytes, 1, s->head, file) == s->head &&
                      fseeko(file, from, SEEK_SET) == 0 &&
                      fread(s->bytes + s->head, 1, s->n - s->head, file) == s->n - s->head;
    s->bytes[s->n] = '\0';
    if (!read)
        return graphss_i_fail(ctx, GRAPHSS_ERR_IO, "%s: cannot read", s->file);
    if (s->n > 1 && memcmp(s->bytes, "\x1f\x8b", 2) == 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "%s: packed by gzip, which has no slices: unpack it", s->file);
    if (!graphss_i_is_utf8((const unsigned char *)s->bytes, s->n))
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_DATA, "%s: not UTF-8, want it converted", s->file);
    return GRAPHSS_OK;
}

/* Reads the lines of this rank; their numbers depend on the other ranks' slices. */
static graphss_status read_slice(graphss_ctx *ctx, graphss_i_slice *s)
{
    FILE *file = fopen(s->file, "rbe");
    graphss_status st =
        file ? read_part(ctx, s, file)
             : graphss_i_fail(ctx, errno == ENOENT ? GRAPHSS_ERR_NOT_FOUND : GRAPHSS_ERR_IO,
                   "%s: cannot open: %s", s->file, strerror(errno));
    if (file)
        fclose(file);
    size_t lines = 0;
    for (size_t i = s->head; i < s->n && !st; i++)
        lines += s->bytes[i] == '\n';
    size_t *all = graphss_i_alloc(ctx, graphss_i_ranks(ctx), sizeof *all);
    st = graphss_engine_agree(ctx, st ? st : all ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, NULL);
    if (!st)
        st = graphss_i_ranks_gather(ctx, all, &lines, sizeof lines);
    s->line = 1;
    for (size_t r = 0; r < graphss_i_rank(ctx) && !st; r++)
        s->line += all[r];
    graphss_release(ctx, all);
    return st;
}

/* ---- numbers of nodes ---- */

/* first [ranks + 1]: where the items of each rank begin among those of all. */
static graphss_status count_own(graphss_ctx *ctx, int64_t *first, size_t own)
{
    const graphss_status st = graphss_i_ranks_gather(ctx, first + 1, &own, sizeof own);
    first[0] = 0;
    for (size_t r = 0; r < graphss_i_ranks(ctx) && !st; r++)
        first[r + 1] += first[r];
    return st;
}

static graphss_names names_of(const graphss_i_intern *ids)
{
    static size_t nothing[1];
    const graphss_i_name_list *list = &ids->list;
    return list->count ? (graphss_names){list->count, list->start, list->text}
                       : (graphss_names){0, nothing, NULL};
}

/* value [n] of names that are the plain numbers below n_all; false: one is not. */
static bool plain(int64_t *value, const graphss_names *names, size_t n_all)
{
    for (size_t i = 0; i < names->count; i++) {
        const char *text = graphss_names_get(names, i);
        const size_t length = strlen(text);
        if (text[0] < '0' || text[0] > '9' || (text[0] == '0' && length > 1) ||
            !graphss_i_parse_int(&value[i], text, length) || (uint64_t)value[i] >= n_all)
            return false;
    }
    return true;
}

/* Ids that lower ranks have read belong to them: mine [ids] is true for those of this rank. */
static graphss_status find_first(
    graphss_ctx *ctx, int64_t *first_seen, size_t *mine, const graphss_names *ids)
{
    int64_t *place = graphss_i_alloc(ctx, ids->count, sizeof *place);
    graphss_status st =
        graphss_engine_agree(ctx, place ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, NULL);
    for (size_t i = 0; i < ids->count && !st; i++)
        place[i] = (int64_t)(graphss_i_rank(ctx) << 40 | i);
    if (!st)
        st = graphss_i_directory_find(ctx, first_seen, ids, ids, place);
    *mine = 0;
    for (size_t i = 0; i < ids->count && !st; i++) {
        first_seen[i] = first_seen[i] == place[i];
        *mine += (size_t)first_seen[i];
    }
    graphss_release(ctx, place);
    return st;
}

/* Names of nodes go to the ranks that have them. own: by ascending numbers, from base on. */
static graphss_status send_names(graphss_ctx *ctx, graphss_names *out, const sliced *g,
    const graphss_i_name_list *own, int64_t base)
{
    const size_t ranks = graphss_i_ranks(ctx);
    graphss_i_name_list list = {0};
    size_t *bytes = graphss_i_calloc(ctx, ranks, 2 * sizeof *bytes), total = 0, at = 0;
    char *came = NULL;
    graphss_status st =
        graphss_engine_agree(ctx, bytes ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, NULL);
    for (size_t r = 0; r < ranks && !st; r++)
        for (; at < own->count && base + (int64_t)at < g->first[r + 1]; at++)
            bytes[r] += own->start[at + 1] - own->start[at];
    if (!st)
        st = graphss_i_ranks_counts(ctx, bytes + ranks, bytes);
    for (size_t r = 0; r < ranks && !st; r++)
        total += bytes[ranks + r];
    if (!st) {
        came = graphss_i_alloc(ctx, total, 1);
        st = graphss_engine_agree(ctx, came ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, NULL);
    }
    if (!st)
        st = graphss_i_ranks_exchange(ctx, came, bytes + ranks, own->text, bytes, 1);
    for (const char *name = came; !st && name < came + total; name += strlen(name) + 1)
        st = graphss_i_name_list_add(ctx, &list, name, strlen(name));
    if (!st)
        st = graphss_i_name_list_finish(ctx, out, &list);
    graphss_i_name_list_destroy(ctx, &list);
    graphss_release(ctx, came);
    graphss_release(ctx, bytes);
    return graphss_engine_agree(ctx, st, NULL);
}

/* number [ids] gets the node numbers of the ids of an edge list: the ids themselves if they
 * are 0, 1 ... n - 1, else their order of appearance. */
static graphss_status number_list(
    graphss_ctx *ctx, sliced *g, int64_t *number, const graphss_names *ids)
{
    const size_t ranks = graphss_i_ranks(ctx);
    graphss_i_name_list own = {0};
    size_t mine = 0, odd = 0;
    graphss_status st = find_first(ctx, number, &mine, ids);
    if (!st)
        st = count_own(ctx, g->first, mine);
    const int64_t base = g->first[graphss_i_rank(ctx)];
    g->n_all = (size_t)g->first[ranks];
    if (!st && g->n_all < ranks)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "%s: %zu nodes for %zu ranks, want at least one for each", g->where, g->n_all,
            ranks);
    for (size_t i = 0, next = 0; i < ids->count && !st; i++) {
        if (number[i]) {
            const char *name = graphss_names_get(ids, i);
            st = graphss_i_name_list_add(ctx, &own, name, strlen(name));
        }
        number[i] = number[i] ? base + (int64_t)next++ : INT64_MAX;
    }
    st = graphss_engine_agree(ctx, st, NULL);
    if (!st)
        st = graphss_i_directory_find(ctx, number, ids, ids, number);
    for (size_t r = 0; r <= ranks; r++)
        g->first[r] = share_begin((int64_t)g->n_all, r, ranks);
    int64_t *value = st ? NULL : graphss_i_alloc(ctx, ids->count, sizeof *value);
    if (!st)
        st = graphss_engine_agree(ctx, value ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, NULL);
    if (!st) {
        odd = !plain(value, ids, g->n_all);
        st = graphss_i_ranks_most(ctx, &odd);
    }
    if (!st && !odd)
        memcpy(number, value, ids->count * sizeof *value);
    else if (!st)
        st = send_names(ctx, &g->shard.names, g, &own, base);
    g->named = odd;
    graphss_release(ctx, value);
    graphss_i_name_list_destroy(ctx, &own);
    return st;
}

/* The nodes of a table have the numbers of their lines. */
static graphss_status number_table(graphss_ctx *ctx, sliced *g, graphss_i_intern *nodes)
{
    const graphss_names ids = names_of(nodes);
    const size_t n = ids.count;
    char text[24];
    size_t odd = 0;
    g->number = graphss_i_alloc(ctx, n, sizeof *g->number);
    int64_t *found = graphss_i_alloc(ctx, n, sizeof *found);
    graphss_status st =
        graphss_engine_agree(ctx, g->number && found ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, NULL);
    if (!st)
        st = count_own(ctx, g->first, n);
    g->n_all = (size_t)g->first[graphss_i_ranks(ctx)];
    for (size_t i = 0; i < n && !st; i++) {
        g->number[i] = g->first[graphss_i_rank(ctx)] + (int64_t)i;
        snprintf(text, sizeof text, "%lld", (long long)g->number[i]);
        odd = odd || strcmp(text, graphss_names_get(&ids, i)) != 0;
    }
    if (!st)
        st = graphss_i_directory_find(ctx, found, &ids, &ids, g->number);
    for (size_t i = 0; i < n && !st; i++)
        if (found[i] != g->number[i])
            st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                "%s/nodes.csv: '%.80s' is the id of nodes %lld and %lld, want "
                "an id that no other node has",
                g->where, graphss_names_get(&ids, i), (long long)found[i],
                (long long)g->number[i]);
    st = graphss_engine_agree(ctx, st, NULL);
    if (!st)
        st = graphss_i_ranks_most(ctx, &odd);
    g->named = odd;
    graphss_release(ctx, found);
    return st;
}

/* ---- rows from edges ---- */

static size_t owner_of(const sliced *g, int64_t node, size_t ranks)
{
    size_t low = 0, high = ranks - 1;
    while (low < high) {
        const size_t middle = low + (high - low + 1) / 2;
        if (g->first[middle] <= node)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* An edge as a row holds it: the other end twice, and 1 if the file has it in this direction.
 */
typedef struct half {
    int64_t row, other;
} half;

static half half_of(
    const int64_t *number, const graphss_i_edge_pairs *pairs, size_t e, int way)
{
    const int64_t i = number[pairs->from[e]], j = number[pairs->to[e]];
    return way == 0 ? (half){i, 2 * j + 1} : (half){j, 2 * i};
}

static graphss_status send_edges(graphss_ctx *ctx, half **came, size_t *n, const sliced *g,
    const int64_t *number, const graphss_i_edge_pairs *pairs)
{
    const size_t ranks = graphss_i_ranks(ctx);
    size_t *out = graphss_i_calloc(ctx, ranks, 3 * sizeof *out), *in = out + ranks;
    size_t *next = in + ranks, total = 0;
    half *sent = NULL;
    graphss_status st = out ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    for (size_t e = 0; e < 2 * pairs->count && !st; e++) {
        const half h = half_of(number, pairs, e / 2, (int)(e % 2));
        const size_t to = h.row == h.other / 2 ? ranks : owner_of(g, h.row, ranks);
        if (to < ranks) /* loops are left out */
            out[to]++;
    }
    for (size_t r = 0; r < ranks && !st; r++) {
        next[r] = total;
        total += out[r];
    }
    if (!st) {
        sent = graphss_i_alloc(ctx, total, sizeof *sent);
        st = sent ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    }
    for (size_t e = 0; e < 2 * pairs->count && !st; e++) {
        const half h = half_of(number, pairs, e / 2, (int)(e % 2));
        if (h.row != h.other / 2)
            sent[next[owner_of(g, h.row, ranks)]++] = h;
    }
    st = graphss_engine_agree(ctx, st, NULL);
    if (!st)
        st = graphss_i_ranks_counts(ctx, in, out);
    *n = 0;
    for (size_t r = 0; r < ranks && !st; r++)
        *n += in[r];
    if (!st) {
        *came = graphss_i_alloc(ctx, *n, sizeof **came);
        st = graphss_engine_agree(ctx, *came ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, NULL);
    }
    if (!st)
        st = graphss_i_ranks_exchange(ctx, *came, in, sent, out, sizeof *sent);
    graphss_release(ctx, sent);
    graphss_release(ctx, out);
    return st;
}

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Sorts a row [n] of directed edges and drops duplicates. What is cleaned is counted at the
 * end with the lower number. */
static size_t settle_row(int64_t *other, size_t n, int64_t node, graphss_cleaning *c)
{
    size_t kept = 0;
    qsort(other, n, sizeof *other, ascending);
    for (size_t e = 0; e < n;) {
        const int64_t end = other[e] / 2;
        int64_t given[2] = {0};
        for (; e < n && other[e] / 2 == end; e++)
            given[other[e] % 2]++;
        if (node < end) {
            c->duplicates += given[0] > 1 ? given[0] - 1 : 0;
            c->duplicates += given[1] > 1 ? given[1] - 1 : 0;
            c->directed += !given[0] || !given[1];
        }
        other[kept++] = end;
    }
    return kept;
}

static graphss_status make_rows(graphss_ctx *ctx, sliced *g, const half *came, size_t n)
{
    graphss_i_shard *s = &g->shard;
    const int64_t base = g->first[graphss_i_rank(ctx)];
    s->n_nodes = (size_t)(g->first[graphss_i_rank(ctx) + 1] - base);
    s->node = graphss_i_alloc(ctx, s->n_nodes, sizeof *s->node);
    s->offset = graphss_i_calloc(ctx, s->n_nodes + 1, sizeof *s->offset);
    s->target = graphss_i_alloc(ctx, n, sizeof *s->target);
    if (!s->node || !s->offset || !s->target)
        return GRAPHSS_ERR_NOMEM;
    for (size_t e = 0; e < n; e++)
        s->offset[came[e].row - base + 1]++;
    for (size_t i = 0; i < s->n_nodes; i++) {
        s->node[i] = base + (int64_t)i;
        s->offset[i + 1] += s->offset[i];
    }
    for (size_t e = 0; e < n; e++) /* offset[i] becomes the end of row i */
        s->target[s->offset[came[e].row - base]++] = came[e].other;
    int64_t at = 0, from = 0;
    for (size_t i = 0; i < s->n_nodes; i++) {
        const int64_t end = s->offset[i];
        const size_t kept =
            settle_row(s->target + from, (size_t)(end - from), s->node[i], &g->cleaned);
        memmove(s->target + at, s->target + from, kept * sizeof *s->target);
        g->cleaned.isolated += kept == 0;
        s->offset[i] = at;
        at += (int64_t)kept;
        from = end;
    }
    s->offset[s->n_nodes] = at;
    return GRAPHSS_OK;
}

static graphss_status read_edges(
    graphss_ctx *ctx, sliced *g, const graphss_i_slice *slice, const graphss_i_intern *nodes)
{
    graphss_i_edge_pairs pairs = {0};
    graphss_i_intern ids = {0};
    int64_t *number = NULL;
    half *came = NULL;
    size_t n = 0;
    graphss_status st = graphss_i_read_edge_slice(ctx, &pairs, &ids, slice);
    const graphss_names names = names_of(&ids), known = nodes ? names_of(nodes) : names;
    if (!st) {
        number = graphss_i_alloc(ctx, names.count, sizeof *number);
        st = number ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    }
    st = graphss_engine_agree(ctx, st, NULL);
    if (!st)
        st = nodes ? graphss_i_directory_find(ctx, number, &names, &known, g->number)
                   : number_list(ctx, g, number, &names);
    for (size_t i = 0; i < names.count && !st; i++)
        if (number[i] < 0)
            st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                "%s: found '%.80s', want the id of a node in nodes.csv", slice->file,
                graphss_names_get(&names, i));
    for (size_t e = 0; e < pairs.count; e++)
        g->cleaned.loops += pairs.from[e] == pairs.to[e];
    g->cleaned.zeros = pairs.zeros;
    g->cleaned.weighted = pairs.weighted;
    st = graphss_engine_agree(ctx, st, NULL);
    graphss_i_intern_destroy(ctx, &ids);
    if (!st)
        st = send_edges(ctx, &came, &n, g, number, &pairs);
    graphss_i_edge_pairs_destroy(ctx, &pairs);
    graphss_release(ctx, number);
    if (!st)
        st = make_rows(ctx, g, came, n);
    graphss_release(ctx, came);
    return graphss_engine_agree(ctx, st, NULL);
}

static graphss_status read_list(graphss_ctx *ctx, sliced *g)
{
    graphss_i_slice slice = {.file = g->where, .comments = "#%", .blanks = true};
    graphss_status st = read_slice(ctx, &slice);
    if (!st)
        st = read_edges(ctx, g, &slice, NULL);
    graphss_release(ctx, slice.bytes);
    return st;
}

/* ---- a folder ---- */

static graphss_status read_nodes(
    graphss_ctx *ctx, sliced *g, graphss_i_intern *ids, graphss_missing_rule missing)
{
    char path[GRAPHSS_I_SHARD_PATH];
    graphss_dataset table = {0};
    graphss_i_feature_form form = GRAPHSS_I_FORM_NONE;
    snprintf(path, sizeof path, "%s/nodes.csv", g->where);
    graphss_i_slice slice = {.file = path, .comments = ""};
    graphss_status st = read_slice(ctx, &slice);
    if (!st) {
        const graphss_i_node_source source = {.file = path,
            .bytes = slice.bytes,
            .n_bytes = slice.n,
            .line = slice.head ? slice.line : 0,
            .found = &form};
        st = graphss_engine_agree(
            ctx, graphss_i_csv_nodes(ctx, &table, ids, &source, missing), NULL);
    }
    graphss_release(ctx, slice.bytes);
    if (!st)
        st = number_table(ctx, g, ids);
    if (!st)
        st = graphss_i_slices_unite(ctx, g, &table, form);
    graphss_dataset_destroy(ctx, &table);
    return st;
}

static graphss_status read_folder(graphss_ctx *ctx, sliced *g, graphss_missing_rule missing)
{
    char path[GRAPHSS_I_SHARD_PATH];
    graphss_i_intern ids = {0};
    graphss_status st = read_nodes(ctx, g, &ids, missing);
    snprintf(path, sizeof path, "%s/edges.csv", g->where);
    graphss_i_slice slice = {.file = path, .comments = ""};
    if (!st)
        st = read_slice(ctx, &slice);
    if (!st)
        st = read_edges(ctx, g, &slice, &ids);
    if (!st && g->named)
        st = graphss_i_name_list_finish(ctx, &g->shard.names, &ids.list);
    graphss_release(ctx, slice.bytes);
    graphss_i_intern_destroy(ctx, &ids);
    return st;
}

/* ---- all of it ---- */

graphss_status graphss_part_write(graphss_ctx *ctx, graphss_shards_summary *summary,
    const char *where, const char *folder, graphss_missing_rule missing)
{
    if (GRAPHSS_I_LACKS(ctx, {"name of the files", where}, {"folder", folder}))
        return GRAPHSS_ERR_INVALID;
    if (strlen(folder) + 32 > GRAPHSS_I_SHARD_PATH ||
        strlen(where) + 32 > GRAPHSS_I_SHARD_PATH)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "the name of the folder is too long");
    struct stat about = {0};
    const bool there = stat(where, &about) == 0;
    sliced g = {.where = where, .folder = there && S_ISDIR(about.st_mode)};
    g.first = graphss_i_calloc(ctx, graphss_i_ranks(ctx) + 1, sizeof *g.first);
    graphss_status st = g.first ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    if (!st && !there)
        st = graphss_i_fail(
            ctx, GRAPHSS_ERR_NOT_FOUND, "%s: cannot open: %s", where, strerror(errno));
    st = graphss_engine_agree(ctx, st, NULL);
    if (!st)
        st = g.folder ? read_folder(ctx, &g, missing) : read_list(ctx, &g);
    if (!st)
        st = graphss_i_slices_write(ctx, summary, &g, folder);
    graphss_i_slices_close(ctx, &g);
    return graphss_engine_agree(ctx, st, NULL);
}
