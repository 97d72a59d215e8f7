/* class_sampler.c - both draws are two numbers: lists grouped by class are made once, O(nodes
 * + edges). Drawing an edge's end rather than a node gives each node its share by degree. */
#include "attack/benign/class_sampler.h"

size_t graphss_i_mixing_class(const graphss_i_mixing *m, int32_t node)
{
    const int32_t label = m->data->label ? m->data->label[node] : -1;
    return label < 0 ? m->n_classes - 1 : (size_t)label;
}

/* Turns counts into offsets: start[c + 1] held the count of class c. */
static void add_up(int64_t *start, size_t n)
{
    for (size_t c = 0; c < n; c++)
        start[c + 1] += start[c];
}

/* Filling moved each offset to that of the next class; moves them back. */
static void move_back(int64_t *start, size_t n)
{
    for (size_t c = n; c > 0; c--)
        start[c] = start[c - 1];
    start[0] = 0;
}

static void fill(graphss_i_mixing *m)
{
    const graphss_graph *g = &m->data->graph;
    for (size_t i = 0; i < g->n_nodes; i++) {
        const size_t c = graphss_i_mixing_class(m, (int32_t)i);
        m->member_start[c + 1]++;
        m->end_start[c + 1] += g->offset[i + 1] - g->offset[i];
    }
    add_up(m->member_start, m->n_classes);
    add_up(m->end_start, m->n_classes);
    for (size_t i = 0; i < g->n_nodes; i++) {
        const size_t c = graphss_i_mixing_class(m, (int32_t)i);
        m->member[m->member_start[c]++] = (int32_t)i;
        for (int64_t e = g->offset[i]; e < g->offset[i + 1]; e++)
            m->end[m->end_start[c]++] = g->target[e];
    }
    move_back(m->member_start, m->n_classes);
    move_back(m->end_start, m->n_classes);
}

graphss_status graphss_i_mixing_init(
    graphss_ctx *ctx, graphss_i_mixing *m, const graphss_dataset *data)
{
    const graphss_graph *g = &data->graph;
    graphss_i_mixing made = {.data = data, .n_classes = data->n_classes + 1};
    made.end_start = graphss_i_calloc(ctx, made.n_classes + 1, sizeof *made.end_start);
    made.member_start = graphss_i_calloc(ctx, made.n_classes + 1, sizeof *made.member_start);
    made.end = graphss_i_alloc(ctx, (size_t)g->offset[g->n_nodes], sizeof *made.end);
    made.member = graphss_i_alloc(ctx, g->n_nodes, sizeof *made.member);
    if (!made.end_start || !made.member_start || !made.end || !made.member) {
        graphss_i_mixing_destroy(ctx, &made);
        return GRAPHSS_ERR_NOMEM;
    }
    fill(&made);
    *m = made;
    return GRAPHSS_OK;
}

void graphss_i_mixing_destroy(graphss_ctx *ctx, graphss_i_mixing *m)
{
    graphss_release(ctx, m->member);
    graphss_release(ctx, m->end);
    graphss_release(ctx, m->member_start);
    graphss_release(ctx, m->end_start);
    *m = (graphss_i_mixing){0};
}

int32_t graphss_i_mixing_end(const graphss_i_mixing *m, size_t class, graphss_rng *rng)
{
    const int64_t from = m->end_start[class], n = m->end_start[class + 1] - from;
    return n > 0 ? m->end[from + (int64_t)graphss_rng_below(rng, (uint64_t)n)] : -1;
}

int32_t graphss_i_mixing_feature(
    const graphss_i_mixing *m, size_t class, float *value, graphss_rng *rng)
{
    const int64_t begin = m->member_start[class], n = m->member_start[class + 1] - begin;
    const graphss_features *f = &m->data->features;
    if (n == 0 || f->n_cols == 0)
        return -1;
    const size_t node =
        (size_t)m->member[begin + (int64_t)graphss_rng_below(rng, (uint64_t)n)];
    if (f->offset) {
        const int64_t from = f->offset[node], count = f->offset[node + 1] - from;
        if (count == 0)
            return -1;
        const int64_t e = from + (int64_t)graphss_rng_below(rng, (uint64_t)count);
        *value = f->value[e];
        return f->column[e];
    }
    /* Dense rows are more than half filled on average, so a few tries find an entry. */
    for (int i = 0; i < 64; i++) {
        const size_t c = (size_t)graphss_rng_below(rng, f->n_cols);
        *value = f->value[node * f->n_cols + c];
        if (*value != 0)
            return (int32_t)c;
    }
    return -1;
}
