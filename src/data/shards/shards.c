/* shards.c - cuts a dataset into shards and puts them together again. */
#include "data/build.h"
#include "data/shards/shard.h"
#include <dirent.h>
#include <errno.h>
#include <string.h>

/* ---- writing ---- */

graphss_status graphss_i_shards_folder(graphss_ctx *ctx, const char *folder)
{
    graphss_status st = graphss_i_folder_make(ctx, folder);
    if (st)
        return st;
    DIR *dir = opendir(folder);
    if (!dir)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_IO, "%s: cannot open: %s", folder, strerror(errno));
    for (const struct dirent *entry; !st && (entry = readdir(dir));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            st = graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                "%s: holds '%.80s', want an empty folder or a new name", folder,
                entry->d_name);
    closedir(dir);
    return st;
}

/* All but the parts. The names are borrowed. */
static graphss_i_manifest describe(const graphss_dataset *data, size_t parts)
{
    graphss_i_manifest m = {.n_nodes = data->graph.n_nodes,
        .entries = (size_t)data->graph.offset[data->graph.n_nodes],
        .n_cols = data->features.n_cols,
        .n_classes = data->n_classes,
        .kind = data->features.kind,
        .dense = data->features.n_cols && !data->features.offset,
        .labelled = data->label != NULL,
        .named = data->node_names.count > 0,
        .has_split = data->split.train != NULL,
        .cleaned = data->cleaned,
        .class_names = data->class_names,
        .column_names = data->column_names,
        .n_parts = parts};
    memcpy(m.name, data->name, sizeof m.name);
    memcpy(m.format, data->format, sizeof m.format);
    memcpy(m.hash, data->hash, sizeof m.hash);
    return m;
}

static graphss_status write_part(graphss_ctx *ctx, graphss_i_manifest *m, size_t p,
    const graphss_dataset *data, const int32_t *part, const char *folder)
{
    char path[GRAPHSS_I_SHARD_PATH];
    graphss_i_shard shard = {0};
    graphss_status st = graphss_i_shard_take(ctx, &shard, &m->cut, data, part, (int32_t)p);
    if (st)
        return st;
    m->part[p].nodes = shard.n_nodes;
    m->part[p].entries = (size_t)shard.offset[shard.n_nodes];
    m->part[p].stored = m->n_cols ? graphss_features_stored(&shard.features) : 0;
    st = graphss_i_shard_write(ctx, &shard, m, p, folder);
    graphss_i_shard_path(path, folder, p);
    if (!st)
        st = graphss_i_file_digest(ctx, m->part[p].sha256, path);
    graphss_i_shard_destroy(ctx, &shard);
    return st ? st : graphss_i_progress(ctx, "shard", p + 1, m->n_parts, NULL);
}

void graphss_i_shards_summarise(graphss_shards_summary *out, const graphss_i_manifest *m)
{
    *out = (graphss_shards_summary){
        .parts = m->n_parts, .entries = m->entries, .cut = m->cut, .least_nodes = m->n_nodes};
    for (size_t p = 0; p < m->n_parts; p++) {
        const size_t n = m->part[p].nodes;
        out->least_nodes = n < out->least_nodes ? n : out->least_nodes;
        out->most_nodes = n > out->most_nodes ? n : out->most_nodes;
    }
}

graphss_status graphss_shards_write(graphss_ctx *ctx, graphss_shards_summary *summary,
    const graphss_dataset *data, const int32_t *part, size_t parts, const char *folder)
{
    if (GRAPHSS_I_LACKS(
            ctx, {"dataset", data}, {"parts of the nodes", part}, {"folder", folder}))
        return GRAPHSS_ERR_INVALID;
    char path[GRAPHSS_I_SHARD_PATH];
    if (strlen(folder) + 32 > sizeof path)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "the name of the folder is too long");
    graphss_status st = graphss_i_dataset_check(ctx, data);
    if (!st)
        st = graphss_i_partition_check(ctx, part, data->graph.n_nodes, parts);
    if (!st)
        st = graphss_i_shards_folder(ctx, folder);
    if (st)
        return st;
    graphss_i_manifest m = describe(data, parts);
    m.part = graphss_i_calloc(ctx, parts, sizeof *m.part);
    if (!m.part)
        return GRAPHSS_ERR_NOMEM;
    for (size_t p = 0; p < parts && !st; p++)
        st = write_part(ctx, &m, p, data, part, folder);
    if (!st && m.has_split) {
        snprintf(path, sizeof path, "%s/split.npz", folder);
        st = graphss_split_write(ctx, &data->split, path);
    }
    if (!st)
        st = graphss_i_manifest_write(ctx, &m, folder);
    if (!st && summary)
        graphss_i_shards_summarise(summary, &m);
    graphss_release(ctx, m.part);
    return st;
}

/* ---- reading ---- */

/* Sizes of all rows, which become offsets. */
typedef struct whole {
    graphss_dataset data;
    graphss_i_manifest m;
    graphss_i_shard *shard; /* [m.n_parts] */
    int32_t *owner;         /* [m.n_nodes] the part that has the node, -1: none yet */
} whole;

static graphss_status allocate(graphss_ctx *ctx, whole *w, uint64_t max_bytes)
{
    const graphss_i_manifest *m = &w->m;
    graphss_dataset *d = &w->data;
    size_t stored = 0;
    for (size_t p = 0; p < m->n_parts; p++)
        stored += m->part[p].stored;
    if (m->n_nodes > INT32_MAX)
        return graphss_i_fail(ctx, GRAPHSS_ERR_LIMIT, "%zu nodes, at most %d fit one dataset",
            m->n_nodes, INT32_MAX);
    const double bytes =
        20.0 * (double)m->n_nodes + 4.0 * (double)m->entries + 8.0 * (double)stored;
    if (bytes > (double)max_bytes)
        return graphss_i_fail(ctx, GRAPHSS_ERR_LIMIT,
            "the whole dataset takes %.0f MB, at most %.0f are allowed", bytes / 1e6,
            (double)max_bytes / 1e6);
    d->graph.n_nodes = m->n_nodes;
    d->graph.offset = graphss_i_calloc(ctx, m->n_nodes + 1, sizeof *d->graph.offset);
    d->graph.target = graphss_i_alloc(ctx, m->entries, sizeof *d->graph.target);
    w->owner = graphss_i_alloc(ctx, m->n_nodes, sizeof *w->owner);
    bool made = d->graph.offset && d->graph.target && w->owner;
    d->features =
        (graphss_features){.n_rows = m->n_nodes, .n_cols = m->n_cols, .kind = m->kind};
    if (m->n_cols) {
        d->features.value = graphss_i_alloc(ctx, stored, sizeof *d->features.value);
        made = made && d->features.value;
    }
    if (m->n_cols && !m->dense) {
        d->features.offset = graphss_i_calloc(ctx, m->n_nodes + 1, sizeof *d->features.offset);
        d->features.column = graphss_i_alloc(ctx, stored, sizeof *d->features.column);
        made = made && d->features.offset && d->features.column;
    }
    if (m->labelled) {
        d->label = graphss_i_alloc(ctx, m->n_nodes, sizeof *d->label);
        made = made && d->label;
    }
    return made ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
}

/* Which part has which node; lengths of rows, one position ahead in the offsets. */
static graphss_status measure(graphss_ctx *ctx, whole *w, const char *folder)
{
    for (size_t i = 0; i < w->m.n_nodes; i++)
        w->owner[i] = -1;
    for (size_t p = 0; p < w->m.n_parts; p++) {
        const graphss_i_shard *s = &w->shard[p];
        for (size_t i = 0; i < s->n_nodes; i++) {
            const size_t node = (size_t)s->node[i];
            if (w->owner[node] >= 0)
                return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                    "%s: node %zu is in part %d and in part %zu", folder, node,
                    (int)w->owner[node], p);
            w->owner[node] = (int32_t)p;
            w->data.graph.offset[node + 1] = s->offset[i + 1] - s->offset[i];
            if (w->data.features.offset)
                w->data.features.offset[node + 1] =
                    s->features.offset[i + 1] - s->features.offset[i];
        }
    }
    for (size_t i = 0; i < w->m.n_nodes; i++) {
        w->data.graph.offset[i + 1] += w->data.graph.offset[i];
        if (w->data.features.offset)
            w->data.features.offset[i + 1] += w->data.features.offset[i];
    }
    return GRAPHSS_OK; /* as many nodes as there are, each once: all of them */
}

static void put_part(whole *w, const graphss_i_shard *s)
{
    graphss_dataset *d = &w->data;
    graphss_features *f = &d->features;
    for (size_t i = 0; i < s->n_nodes; i++) {
        const size_t node = (size_t)s->node[i];
        int32_t *to = d->graph.target + d->graph.offset[node];
        for (int64_t e = s->offset[i]; e < s->offset[i + 1]; e++)
            *to++ = (int32_t)s->target[e];
        if (d->label)
            d->label[node] = s->label[i];
        if (f->n_cols == 0)
            continue;
        if (!f->offset) {
            memcpy(f->value + node * f->n_cols, s->features.value + i * f->n_cols,
                f->n_cols * sizeof *f->value);
            continue;
        }
        const int64_t from = s->features.offset[i], n = s->features.offset[i + 1] - from;
        memcpy(f->value + f->offset[node], s->features.value + from,
            (size_t)n * sizeof *f->value);
        memcpy(f->column + f->offset[node], s->features.column + from,
            (size_t)n * sizeof *f->column);
    }
}

/* Names of nodes, in the order of the nodes. */
static graphss_status put_names(graphss_ctx *ctx, whole *w)
{
    graphss_i_name_list names = {0};
    graphss_status st = GRAPHSS_OK;
    size_t *next = graphss_i_calloc(ctx, w->m.n_parts, sizeof *next);
    if (!next)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < w->m.n_nodes && !st; i++) {
        const int32_t p = w->owner[i];
        const char *name = graphss_names_get(&w->shard[p].names, next[p]++);
        st = graphss_i_name_list_add(ctx, &names, name, strlen(name));
    }
    if (!st)
        st = graphss_i_name_list_finish(ctx, &w->data.node_names, &names);
    graphss_i_name_list_destroy(ctx, &names);
    graphss_release(ctx, next);
    return st;
}

static graphss_status put_together(graphss_ctx *ctx, whole *w, const char *folder)
{
    graphss_dataset *d = &w->data;
    char path[GRAPHSS_I_SHARD_PATH];
    graphss_status st = measure(ctx, w, folder);
    if (st)
        return st;
    for (size_t p = 0; p < w->m.n_parts; p++)
        put_part(w, &w->shard[p]);
    if (w->m.named)
        st = put_names(ctx, w);
    d->n_classes = w->m.n_classes;
    if (!st && w->m.class_names.count)
        st = graphss_i_names_copy(ctx, &d->class_names, &w->m.class_names);
    if (!st && w->m.column_names.count)
        st = graphss_i_names_copy(ctx, &d->column_names, &w->m.column_names);
    if (!st && w->m.has_split) {
        snprintf(path, sizeof path, "%s/split.npz", folder);
        st =
            graphss_split_read(ctx, &d->split, path, d->label, d->graph.n_nodes, d->n_classes);
    }
    if (!st)
        st = graphss_graph_check(ctx, &d->graph);
    if (st == GRAPHSS_ERR_INVALID)
        st = graphss_i_fail_in(ctx, GRAPHSS_ERR_DATA, folder);
    if (!st)
        st = graphss_i_dataset_finish(ctx, d, folder, w->m.format);
    if (!st && strcmp(d->hash, w->m.hash) != 0)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "%s: the parts make a dataset whose hash begins with %.12s, the "
            "manifest says %.12s",
            folder, d->hash, w->m.hash);
    if (!st) {
        d->cleaned = w->m.cleaned;
        memcpy(d->name, w->m.name, sizeof d->name);
    }
    return st;
}

graphss_status graphss_i_read_shards(graphss_ctx *ctx, graphss_dataset *out,
    const char *folder, uint64_t max_bytes, graphss_missing_rule missing)
{
    (void)missing;
    whole w = {0};
    graphss_status st = graphss_i_manifest_read(ctx, &w.m, folder);
    if (st)
        return st;
    w.shard = graphss_i_calloc(ctx, w.m.n_parts, sizeof *w.shard);
    if (!w.shard)
        st = GRAPHSS_ERR_NOMEM;
    for (size_t p = 0; p < w.m.n_parts && !st; p++)
        st = graphss_i_shard_read(ctx, &w.shard[p], &w.m, p, folder);
    if (!st)
        st = allocate(ctx, &w, max_bytes);
    if (!st)
        st = put_together(ctx, &w, folder);
    for (size_t p = 0; p < w.m.n_parts && w.shard; p++)
        graphss_i_shard_destroy(ctx, &w.shard[p]);
    graphss_release(ctx, w.shard);
    graphss_release(ctx, w.owner);
    graphss_i_manifest_destroy(ctx, &w.m);
    if (st)
        graphss_dataset_destroy(ctx, &w.data);
    else
        *out = w.data;
    return st;
}
