/* growth.c - adds nodes that resemble existing ones. */
#include "attack/benign/class_sampler.h"
#include "data/build.h"
#include <graphss/benign.h>
#include <limits.h>
#include <string.h>

/* Lists that grow as nodes are drawn. */
typedef struct drawn {
    size_t n_pairs, pair_room;
    int32_t *from, *to;
    size_t n_words, word_room;
    int32_t *column;
    float *value;
    int64_t *offset;    /* [n_new + 1] of the words */
    int32_t *label;     /* [n_new] */
    int32_t *connected; /* [old nodes], [columns]: the last new node that drew it, from 1 */
    int32_t *worded;
} drawn;

static void drawn_destroy(graphss_ctx *ctx, drawn *x)
{
    graphss_release(ctx, x->worded);
    graphss_release(ctx, x->connected);
    graphss_release(ctx, x->label);
    graphss_release(ctx, x->offset);
    graphss_release(ctx, x->value);
    graphss_release(ctx, x->column);
    graphss_release(ctx, x->to);
    graphss_release(ctx, x->from);
    *x = (drawn){0};
}

/* Makes room for `more` entries after the first n of two lists of four-byte numbers. */
static bool reserve(
    graphss_ctx *ctx, void *a_list, void *b_list, size_t *room, size_t n, size_t more)
{
    void *const list[] = {a_list, b_list};
    size_t wanted = 0;
    if (!graphss_i_add(&wanted, n, more))
        return false;
    if (wanted <= *room)
        return true;
    const size_t bigger = wanted + wanted / 2 + 64;
    for (size_t i = 0; i < 2; i++) {
        void *block; /* copied, for the lists are not of void * */
        memcpy(&block, list[i], sizeof block);
        block = graphss_i_grow(ctx, block, n, bigger, sizeof(int32_t));
        if (!block)
            return false;
        memcpy(list[i], &block, sizeof block);
    }
    *room = bigger;
    return true;
}

static size_t row_length(const graphss_features *f, size_t node)
{
    if (f->n_cols == 0)
        return 0;
    if (f->offset)
        return (size_t)(f->offset[node + 1] - f->offset[node]);
    size_t n = 0;
    for (size_t c = 0; c < f->n_cols; c++)
        n += f->value[node * f->n_cols + c] != 0;
    return n;
}

/* Draws as many edges and features as the template has; duplicates are dropped. */
static graphss_status draw_node(
    graphss_ctx *ctx, drawn *x, const graphss_i_mixing *m, size_t number, graphss_rng *rng)
{
    const graphss_dataset *data = m->data;
    const size_t n = data->graph.n_nodes;
    const size_t template = (size_t)graphss_rng_below(rng, n);
    const size_t class = graphss_i_mixing_class(m, (int32_t) template);
    const size_t degree = graphss_graph_degree(&data->graph, template);
    const size_t words = row_length(&data->features, template);
    if (!reserve(ctx, &x->from, &x->to, &x->pair_room, x->n_pairs, degree) ||
        !reserve(ctx, &x->column, &x->value, &x->word_room, x->n_words, words))
        return GRAPHSS_ERR_NOMEM;
    x->label[number] = data->label ? data->label[template] : -1;
    const size_t first_pair = x->n_pairs, first_word = x->n_words;
    const int32_t turn = (int32_t)number + 1;
    for (size_t i = 0; i < 2 * degree && x->n_pairs - first_pair < degree; i++) {
        const int32_t other = graphss_i_mixing_end(m, class, rng);
        if (other < 0 || x->connected[other] == turn)
            continue;
        x->connected[other] = turn;
        x->from[x->n_pairs] = (int32_t)(n + number);
        x->to[x->n_pairs++] = other;
    }
    for (size_t i = 0; i < 2 * words && x->n_words - first_word < words; i++) {
        float value = 0;
        const int32_t c = graphss_i_mixing_feature(m, class, &value, rng);
        if (c < 0 || x->worded[c] == turn)
            continue;
        x->worded[c] = turn;
        x->column[x->n_words] = c;
        x->value[x->n_words++] = value;
    }
    x->offset[number + 1] = (int64_t)x->n_words;
    return GRAPHSS_OK;
}

static graphss_status grow_graph(graphss_ctx *ctx, graphss_dataset *out,
    const graphss_graph *g, const drawn *x, size_t n_new)
{
    const size_t old = graphss_graph_edges(g), m = old + x->n_pairs;
    int32_t *from = graphss_i_alloc(ctx, m, sizeof *from);
    int32_t *to = graphss_i_alloc(ctx, m, sizeof *to);
    graphss_status st = GRAPHSS_ERR_NOMEM;
    if (from && to) {
        size_t e = 0;
        for (size_t i = 0; i < g->n_nodes; i++)
            for (int64_t s = g->offset[i]; s < g->offset[i + 1]; s++)
                if ((size_t)g->target[s] > i) {
                    from[e] = (int32_t)i;
                    to[e++] = g->target[s];
                }
        for (size_t i = 0; i < x->n_pairs; i++) {
            from[e] = x->from[i];
            to[e++] = x->to[i];
        }
        st = graphss_graph_build(ctx, &out->graph, NULL, g->n_nodes + n_new, from, to, e);
    }
    graphss_release(ctx, to);
    graphss_release(ctx, from);
    return st;
}

static graphss_status grow_features(graphss_ctx *ctx, graphss_dataset *out,
    const graphss_features *f, const drawn *x, size_t n_new)
{
    const size_t n = out->graph.n_nodes, d = f->n_cols;
    if (d == 0) {
        out->features = (graphss_features){.n_rows = n};
        return GRAPHSS_OK;
    }
    if (!f->offset) {
        size_t count = 0;
        if (!graphss_i_mul(&count, n, d))
            return graphss_i_nomem(ctx, SIZE_MAX);
        float *value = graphss_i_calloc(ctx, count, sizeof *value);
        if (!value)
            return GRAPHSS_ERR_NOMEM;
        memcpy(value, f->value, f->n_rows * d * sizeof *value);
        for (size_t i = 0; i < n_new; i++)
            for (int64_t e = x->offset[i]; e < x->offset[i + 1]; e++)
                value[(f->n_rows + i) * d + (size_t)x->column[e]] = x->value[e];
        return graphss_i_features_from_dense(ctx, &out->features, n, d, value, "features");
    }
    const size_t old = (size_t)f->offset[f->n_rows], nnz = old + x->n_words;
    int64_t *offset = graphss_i_alloc(ctx, n + 1, sizeof *offset);
    int32_t *column = graphss_i_alloc(ctx, nnz, sizeof *column);
    float *value = graphss_i_alloc(ctx, nnz, sizeof *value);
    if (!offset || !column || !value) {
        graphss_release(ctx, value);
        graphss_release(ctx, column);
        graphss_release(ctx, offset);
        return GRAPHSS_ERR_NOMEM;
    }
    memcpy(offset, f->offset, f->n_rows * sizeof *offset);
    memcpy(column, f->column, old * sizeof *column);
    memcpy(value, f->value, old * sizeof *value);
    for (size_t i = 0; i <= n_new; i++)
        offset[f->n_rows + i] = (int64_t)old + x->offset[i];
    if (x->n_words) {
        memcpy(column + old, x->column, x->n_words * sizeof *column);
        memcpy(value + old, x->value, x->n_words * sizeof *value);
    }
    return graphss_i_features_from_rows(
        ctx, &out->features, n, d, offset, column, value, nnz, "features");
}

/* The old names, then new1, new2 ..., extended until they are unique. */
static graphss_status grow_names(
    graphss_ctx *ctx, graphss_names *out, const graphss_names *old, size_t n_new)
{
    graphss_i_intern table = {0};
    graphss_status st = GRAPHSS_OK;
    size_t index = 0;
    for (size_t i = 0; i < old->count && !st; i++) {
        const char *name = graphss_names_get(old, i);
        bool added = false;
        st = graphss_i_intern_add(ctx, &index, &added, &table, name, strlen(name));
        if (!st && !added) /* a file may give two nodes the same name */
            st = graphss_i_name_list_add(ctx, &table.list, name, strlen(name));
    }
    for (size_t i = 0; i < n_new && !st; i++) {
        bool added = false;
        for (size_t more = 0; !added && !st; more++) {
            char name[64];
            int length = snprintf(name, sizeof name, "new%zu", i + 1);
            if (more)
                length = snprintf(name, sizeof name, "new%zu.%zu", i + 1, more);
            st = graphss_i_intern_add(ctx, &index, &added, &table, name, (size_t)length);
        }
    }
    if (!st)
        st = graphss_i_name_list_finish(ctx, out, &table.list);
    graphss_i_intern_destroy(ctx, &table);
    return st;
}

static graphss_status assemble(graphss_ctx *ctx, graphss_dataset *out,
    const graphss_dataset *data, const drawn *x, size_t n_new)
{
    graphss_status st = grow_graph(ctx, out, &data->graph, x, n_new);
    if (!st)
        st = grow_features(ctx, out, &data->features, x, n_new);
    if (!st && data->node_names.count)
        st = grow_names(ctx, &out->node_names, &data->node_names, n_new);
    if (!st)
        st = graphss_i_names_copy(ctx, &out->class_names, &data->class_names);
    if (!st)
        st = graphss_i_names_copy(ctx, &out->column_names, &data->column_names);
    if (!st)
        st = graphss_split_copy(ctx, &out->split, &data->split);
    if (st || !data->label)
        return st;
    const size_t n = data->graph.n_nodes;
    out->label = graphss_i_alloc(ctx, n + n_new, sizeof *out->label);
    if (!out->label)
        return GRAPHSS_ERR_NOMEM;
    memcpy(out->label, data->label, n * sizeof *out->label);
    memcpy(out->label + n, x->label, n_new * sizeof *out->label);
    return GRAPHSS_OK;
}

graphss_status graphss_benign_grow(graphss_ctx *ctx, graphss_dataset *out,
    const graphss_dataset *data, size_t n_new, uint64_t seed)
{
    if (GRAPHSS_I_LACKS(ctx, {"dataset", data}, {"place for the dataset", out}))
        return GRAPHSS_ERR_INVALID;
    const size_t n = data->graph.n_nodes;
    if (n == 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "no nodes that new ones could resemble");
    if (n_new > (size_t)INT32_MAX - n)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "%zu nodes and %zu new ones, want at most %d", n, n_new, INT32_MAX);
    graphss_rng rng = graphss_rng_make(seed, GRAPHSS_STREAM_BENIGN);
    graphss_i_mixing m = {0};
    drawn x = {0};
    graphss_dataset made = {.n_classes = data->n_classes, .cleaned = data->cleaned};
    memcpy(made.name, data->name, sizeof made.name);
    memcpy(made.format, data->format, sizeof made.format);
    graphss_status st = graphss_i_dataset_check(ctx, data);
    if (!st)
        st = graphss_i_mixing_init(ctx, &m, data);
    if (st)
        goto done;
    x.offset = graphss_i_calloc(ctx, n_new + 1, sizeof *x.offset);
    x.label = graphss_i_alloc(ctx, n_new, sizeof *x.label);
    x.connected = graphss_i_calloc(ctx, n, sizeof *x.connected);
    x.worded = graphss_i_calloc(ctx, data->features.n_cols, sizeof *x.worded);
    if (!x.offset || !x.label || !x.connected || !x.worded)
        st = GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < n_new && !st; i++)
        st = draw_node(ctx, &x, &m, i, &rng);
    if (!st)
        st = assemble(ctx, &made, data, &x, n_new);
    if (!st)
        st = graphss_dataset_refresh(ctx, &made);
done:
    drawn_destroy(ctx, &x);
    graphss_i_mixing_destroy(ctx, &m);
    if (st)
        graphss_dataset_destroy(ctx, &made);
    else
        *out = made;
    return st;
}
