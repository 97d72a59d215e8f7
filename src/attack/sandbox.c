#include "attack/sandbox.h"
#include <string.h>

graphss_status graphss_i_sandbox_init(graphss_ctx *ctx, graphss_i_sandbox *s,
                                      const graphss_graph *graph,
                                      const graphss_features *features)
{
    graphss_i_sandbox made = {0};
    graphss_status st = graphss_i_rows_init(ctx, &made.links, graph);
    if (!st)
        st = graphss_i_words_rows(ctx, &made.words, features);
    if (!st) {
        made.column = graphss_i_alloc(ctx, features->n_cols, sizeof *made.column);
        made.value = graphss_i_alloc(ctx, features->n_cols, sizeof *made.value);
        if (!made.column || !made.value)
            st = GRAPHSS_ERR_NOMEM;
    }
    if (st)
        graphss_i_sandbox_destroy(ctx, &made);
    else
        *s = made;
    return st;
}

void graphss_i_sandbox_destroy(graphss_ctx *ctx, graphss_i_sandbox *s)
{
    graphss_release(ctx, s->value);
    graphss_release(ctx, s->column);
    graphss_i_words_destroy(ctx, &s->words);
    graphss_i_rows_destroy(ctx, &s->links);
    *s = (graphss_i_sandbox){0};
}

/* The first place in an ascending list that is not below x. */
static size_t lower_bound(const int32_t *list, size_t n, int32_t x)
{
    size_t from = 0, to = n;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (list[middle] < x)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

float graphss_i_sandbox_word(const graphss_i_sandbox *s, size_t node, int32_t column)
{
    const size_t n = (size_t)s->words.length[node];
    const size_t at = lower_bound(s->words.column[node], n, column);
    if (at == n || s->words.column[node][at] != column)
        return 0;
    return (float)graphss_i_words_value(&s->words, node, at);
}

bool graphss_i_sandbox_may_cut(const graphss_i_sandbox *s, int32_t a, int32_t b)
{
    return s->links.length[a] > 1 && s->links.length[b] > 1;
}

graphss_status graphss_i_sandbox_flip_link(graphss_ctx *ctx, graphss_i_sandbox *s,
                                           graphss_flips *flips, int32_t victim, int32_t a,
                                           int32_t b)
{
    const bool there = graphss_i_rows_has(&s->links, (size_t)a, b);
    const graphss_flip flip = {.victim = victim,
                               .kind = GRAPHSS_FLIP_LINK,
                               .node = a,
                               .target = b,
                               .old_value = there,
                               .new_value = !there};
    if (!graphss_i_rows_flip_link(ctx, &s->links, a, b))
        return GRAPHSS_ERR_NOMEM;
    return graphss_flips_add(ctx, flips, flip);
}

/* Words [from, from + n) of the node to place `to` of the scratch row. */
static void copy_words(graphss_i_sandbox *s, size_t to, size_t node, size_t from, size_t n)
{
    const graphss_i_words *x = &s->words;
    if (n == 0)
        return;
    memcpy(s->column + to, x->column[node] + from, n * sizeof *s->column);
    if (x->changed[node])
        memcpy(s->value + to, x->changed[node] + from, n * sizeof *s->value);
    else
        for (size_t e = 0; e < n; e++)
            s->value[to + e] = (double)x->value[(size_t)x->start[node] + from + e];
}

/* The node's row with one value replaced; value 0 takes the column out. */
static graphss_status replace(graphss_ctx *ctx, graphss_i_sandbox *s, size_t node,
                              int32_t column, double value)
{
    const size_t n = (size_t)s->words.length[node];
    const int32_t *old = s->words.column[node];
    const size_t at = lower_bound(old, n, column);
    const size_t skip = at < n && old[at] == column;
    const size_t rest = at + skip; /* what follows */
    size_t m = at;
    copy_words(s, 0, node, 0, at);
    if (value != 0) {
        s->column[m] = column;
        s->value[m++] = value;
    }
    copy_words(s, m, node, rest, n - rest);
    m += n - rest;
    return graphss_i_words_replace(ctx, &s->words, node, s->column, s->value, m);
}

graphss_status graphss_i_sandbox_set_word(graphss_ctx *ctx, graphss_i_sandbox *s,
                                          graphss_flips *flips, int32_t victim, int32_t node,
                                          int32_t column, float value)
{
    const graphss_flip flip = {.victim = victim,
                               .kind = GRAPHSS_FLIP_FEATURE,
                               .node = node,
                               .target = column,
                               .old_value = graphss_i_sandbox_word(s, (size_t)node, column),
                               .new_value = value};
    const graphss_status st = replace(ctx, s, (size_t)node, column, value);
    return st ? st : graphss_flips_add(ctx, flips, flip);
}

graphss_status graphss_i_sandbox_take_back(graphss_ctx *ctx, graphss_i_sandbox *s,
                                           const graphss_flips *flips, size_t from)
{
    for (size_t i = flips->count; i-- > from;) {
        const graphss_flip *f = &flips->item[i];
        if (f->kind == GRAPHSS_FLIP_LINK) {
            if (!graphss_i_rows_flip_link(ctx, &s->links, f->node, f->target))
                return GRAPHSS_ERR_NOMEM;
        } else {
            const graphss_status st =
                replace(ctx, s, (size_t)f->node, f->target, f->old_value);
            if (st)
                return st;
        }
    }
    return GRAPHSS_OK;
}
