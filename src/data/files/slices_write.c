/* slices_write.c - the shard of each rank, the hash of what all have, and the manifest. */
#include "data/digest.h"
#include "data/files/slices.h"
#include <graphss/engine.h>
#include <string.h>

/* ---- the hash ---- */

static void put(graphss_i_digest *d, uint64_t value, size_t width)
{
    uint8_t bytes[8];
    for (size_t b = 0; b < width; b++)
        bytes[b] = (uint8_t)(value >> 8 * b);
    graphss_i_digest_add(d, bytes, width);
}

/* The sections of the hash in dataset_finish.c; each has an entry for every node. */
enum { OFFSETS, TARGETS, STORED, COLUMNS, VALUES, LABELS, SECTIONS };

static void put_stored(graphss_i_digest *d, const sliced *g, int section, int64_t before)
{
    const graphss_features *f = &g->shard.features;
    int64_t at = before;
    if (section == VALUES && f->kind == GRAPHSS_FEATURES_BINARY)
        return;
    for (size_t i = 0; i < f->n_rows; i++) {
        const size_t from = f->offset ? (size_t)f->offset[i] : i * f->n_cols;
        const size_t to = f->offset ? (size_t)f->offset[i + 1] : from + f->n_cols;
        for (size_t e = from; e < to; e++) {
            uint32_t bits;
            memcpy(&bits, &f->value[e], sizeof bits);
            if (f->value[e] == 0)
                continue;
            at++;
            if (section != STORED)
                put(d,
                    section == VALUES ? bits
                    : f->offset       ? (uint32_t)f->column[e]
                                      : (uint32_t)(e - from),
                    4);
        }
        if (section == STORED)
            put(d, (uint64_t)at, 8);
    }
}

static void put_section(graphss_i_digest *d, const sliced *g, int section, bool begins)
{
    const graphss_i_shard *s = &g->shard;
    static const char head[] = "graphss dataset 1\n";
    if (begins && section == OFFSETS) {
        graphss_i_digest_add(d, head, sizeof head - 1);
        put(d, g->n_all, 8);
        put(d, 0, 8);
    }
    if (begins && section == STORED) {
        put(d, s->features.n_cols, 8);
        put(d, (uint64_t)s->features.kind, 8);
        if (s->features.n_cols)
            put(d, 0, 8);
    }
    if (section >= STORED && section <= VALUES) {
        if (s->features.n_cols)
            put_stored(d, g, section, g->stored_before);
        return;
    }
    for (size_t i = 0; i < s->n_nodes; i++) {
        if (section == OFFSETS)
            put(d, (uint64_t)(g->entries_before + s->offset[i + 1]), 8);
        else if (section == LABELS)
            put(d, (uint32_t)(s->label ? s->label[i] : -1), 4);
        for (int64_t e = s->offset[i]; e < s->offset[i + 1] && section == TARGETS; e++)
            if (s->target[e] > s->node[i])
                put(d, (uint64_t)s->target[e], g->n_all > INT32_MAX ? 8 : 4);
    }
}

/* SHA-256 continues from rank to rank: each adds its nodes to the state of the one before. */
static graphss_status hash(graphss_ctx *ctx, char hex[65], const sliced *g)
{
    const size_t ranks = graphss_i_ranks(ctx);
    graphss_i_digest d, *all = graphss_i_alloc(ctx, ranks, sizeof *all);
    graphss_status st = graphss_engine_agree(ctx, all ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, NULL);
    graphss_i_digest_begin(&d, GRAPHSS_I_SHA256);
    for (int section = 0; section < SECTIONS && !st; section++)
        for (size_t r = 0; r < ranks && !st; r++) {
            if (r == graphss_i_rank(ctx))
                put_section(&d, g, section, r == 0);
            st = graphss_i_ranks_gather(ctx, all, &d, sizeof d);
            if (!st)
                d = all[r];
        }
    if (!st)
        graphss_i_digest_end(&d, hex);
    graphss_release(ctx, all);
    return st;
}

/* ---- the shards ---- */

static size_t count_cut(const sliced *g, size_t rank)
{
    const graphss_i_shard *s = &g->shard;
    size_t cut = 0;
    for (int64_t e = 0; e < s->offset[s->n_nodes]; e++)
        cut += s->target[e] < g->first[rank] || s->target[e] >= g->first[rank + 1];
    return cut;
}

/* Sums over all ranks, and over the lower ranks. */
static graphss_status add_up(graphss_ctx *ctx, graphss_i_manifest *m, sliced *g)
{
    const graphss_i_shard *s = &g->shard;
    const graphss_features *f = &s->features;
    graphss_cleaning *c = &g->cleaned;
    const size_t rank = graphss_i_rank(ctx), ranks = graphss_i_ranks(ctx);
    int64_t stored = 0;
    for (size_t e = 0, n = f->n_cols ? graphss_features_stored(f) : 0; e < n; e++)
        stored += f->value[e] != 0;
    const int64_t own[] = {s->offset[s->n_nodes], stored, (int64_t)count_cut(g, rank),
        c->directed, c->duplicates, c->loops, c->zeros, c->weighted, c->isolated};
    enum { COUNTS = sizeof own / sizeof *own };
    int64_t *all = graphss_i_alloc(ctx, ranks, sizeof own), sum[COUNTS] = {0};
    graphss_status st = graphss_engine_agree(ctx, all ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, NULL);
    if (!st)
        st = graphss_i_ranks_gather(ctx, all, own, sizeof own);
    for (size_t r = 0; r < ranks && !st; r++) {
        if (r == rank) {
            g->entries_before = sum[0];
            g->stored_before = sum[1];
        }
        for (size_t i = 0; i < COUNTS; i++)
            sum[i] += all[r * COUNTS + i];
    }
    graphss_release(ctx, all);
    m->entries = (size_t)sum[0];
    m->cut = (size_t)sum[2];
    m->cleaned = (graphss_cleaning){.directed = sum[3],
        .duplicates = sum[4],
        .loops = sum[5],
        .zeros = sum[6],
        .weighted = sum[7],
        .isolated = sum[8]};
    return st;
}

static graphss_status write_shard(
    graphss_ctx *ctx, graphss_i_manifest *m, sliced *g, const char *folder)
{
    char path[GRAPHSS_I_SHARD_PATH];
    const size_t rank = graphss_i_rank(ctx);
    graphss_i_shard *s = &g->shard;
    graphss_i_manifest_part own = {.nodes = s->n_nodes,
        .entries = (size_t)s->offset[s->n_nodes],
        .stored = m->n_cols ? graphss_features_stored(&s->features) : 0};
    graphss_status st = GRAPHSS_OK;
    if (s->features.offset) {
        s->entry = graphss_i_alloc(ctx, s->n_nodes, sizeof *s->entry);
        st = s->entry ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    }
    for (size_t i = 0; i < s->n_nodes && s->entry; i++)
        s->entry[i] = g->stored_before + s->features.offset[i];
    if (!st)
        st = graphss_i_shard_write(ctx, s, m, rank, folder);
    graphss_i_shard_path(path, folder, rank);
    if (!st)
        st = graphss_i_file_digest(ctx, own.sha256, path);
    st = graphss_engine_agree(ctx, st, NULL);
    return st ? st : graphss_i_ranks_gather(ctx, m->part, &own, sizeof own);
}

static graphss_status write_rest(
    graphss_ctx *ctx, const graphss_i_manifest *m, const sliced *g, const char *folder)
{
    char path[GRAPHSS_I_SHARD_PATH];
    graphss_status st = GRAPHSS_OK;
    if (graphss_i_rank(ctx) != 0)
        return st;
    snprintf(path, sizeof path, "%s/split.npz", folder);
    if (m->has_split)
        st = graphss_split_write(ctx, &g->split, path);
    return st ? st : graphss_i_manifest_write(ctx, m, folder);
}

graphss_status graphss_i_slices_write(
    graphss_ctx *ctx, graphss_shards_summary *summary, sliced *g, const char *folder)
{
    graphss_i_manifest m = {.n_nodes = g->n_all,
        .n_cols = g->shard.features.n_cols,
        .n_classes = g->n_classes,
        .kind = g->shard.features.kind,
        .dense = g->shard.features.n_cols && !g->shard.features.offset,
        .labelled = g->shard.label != NULL,
        .named = g->named,
        .has_split = g->split.train != NULL,
        .class_names = g->class_names,
        .column_names = g->column_names,
        .n_parts = graphss_i_ranks(ctx)};
    snprintf(m.format, sizeof m.format, "%s", g->folder ? "csv" : "edges");
    graphss_i_dataset_stem(m.name, sizeof m.name, g->where, m.format);
    m.part = graphss_i_calloc(ctx, m.n_parts, sizeof *m.part);
    graphss_status st = m.part ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    if (!st && graphss_i_rank(ctx) == 0)
        st = graphss_i_shards_folder(ctx, folder);
    st = graphss_engine_agree(ctx, st, NULL);
    if (!st)
        st = add_up(ctx, &m, g);
    if (!st)
        st = hash(ctx, m.hash, g);
    if (!st)
        st = write_shard(ctx, &m, g, folder);
    if (!st)
        st = graphss_engine_agree(ctx, write_rest(ctx, &m, g, folder), NULL);
    if (!st && summary)
        graphss_i_shards_summarise(summary, &m);
    graphss_release(ctx, m.part);
    return st;
}
