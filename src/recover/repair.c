/* repair.c - lists edges and features whose change would undo an attack on suspicious nodes.
 * Edges and features of the previous snapshot are restored. Without one it guesses: edges to
 * nodes of other classes that share no neighbour, and features that support another class more
 * strongly than those of trusted nodes do. Without a previous snapshot, removed edges and
 * features leave no trace. */
#include "attack/attack_method.h"
#include "base/base.h"
#include "models/model_private.h"
#include "recover/defence.h"
#include <graphss/attack.h>
#include <graphss/recover.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double TRUSTED = 0.1, ALIKE = 0.5, USUAL = 0.95;

typedef struct input {
    const graphss_defence_input *in;
    const graphss_predictions *found;
    const graphss_graph *graph;
    const graphss_features *features;
    graphss_perturbation kind; /* features that it does not change are not guessed */
    size_t n, k;
    double least;
    int32_t *before; /* [n] node of previous or -1 */
    int32_t *after;  /* [nodes of previous] or NULL */
    float *prob;     /* [n x k] the model now */
    float *words;    /* [n_cols x k] */
    double usual;    /* push of the strongest words of trusted nodes */
} input;

static bool suspicious(const input *s, size_t i)
{
    return s->found->perturbed[i] >= s->least;
}

static size_t recovered(const input *s, size_t i)
{
    return graphss_i_top_double(s->found->posterior + i * s->k, s->k);
}

/* The class the model predicts for the node, other than the recovered one. */
static size_t pushed_to(const input *s, size_t i, size_t class)
{
    const float *p = s->prob + i * s->k;
    size_t best = class == 0;
    for (size_t c = best + 1; c < s->k; c++)
        best = c != class && p[c] > p[best] ? c : best;
    return best;
}

/* value * (w[word][towards] - w[word][class]) */
static double push_of(const input *s, int64_t entry, size_t class, size_t towards)
{
    const float *w = s->words + (size_t)s->features->column[entry] * s->k;
    return (double)s->features->value[entry] * (double)(w[towards] - w[class]);
}

/* The quantile USUAL of pushes of words of trusted nodes. */
static graphss_status learn_usual(graphss_ctx *ctx, input *s)
{
    const graphss_features *x = s->features;
    double *push = graphss_i_alloc(ctx, (size_t)x->offset[s->n] + 1, sizeof *push);
    size_t m = 0;
    if (!push)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < s->n; i++) {
        const size_t class = recovered(s, i), towards = pushed_to(s, i, class);
        for (int64_t e = x->offset[i];
             e < x->offset[i + 1] && s->found->perturbed[i] < TRUSTED; e++)
            push[m++] = push_of(s, e, class, towards);
    }
    qsort(push, m, sizeof *push, graphss_i_compare_doubles);
    s->usual = m ? fmax(0, push[(size_t)(USUAL * (double)(m - 1))]) : INFINITY;
    graphss_release(ctx, push);
    return GRAPHSS_OK;
}

static float value_of(const graphss_features *x, size_t row, size_t column)
{
    if (graphss_features_dense(x))
        return x->value[row * x->n_cols + column];
    for (int64_t low = x->offset[row], high = x->offset[row + 1]; low < high;) {
        const int64_t mid = low + (high - low) / 2;
        if ((size_t)x->column[mid] == column)
            return x->value[mid];
        if ((size_t)x->column[mid] < column)
            low = mid + 1;
        else
            high = mid;
    }
    return 0;
}

static graphss_status flip(graphss_ctx *ctx, graphss_flips *out, graphss_flip_kind kind,
    size_t node, size_t target, float from, float to)
{
    const graphss_flip one = {.victim = (int32_t)node,
        .kind = kind,
        .node = (int32_t)node,
        .target = (int32_t)target,
        .old_value = from,
        .new_value = to};
    return graphss_flips_add(ctx, out, one);
}

/* A row as it was. */
static graphss_status words_back(
    graphss_ctx *ctx, graphss_flips *out, const input *s, size_t i)
{
    const graphss_features *past = s->in->previous->features;
    const size_t b = (size_t)s->before[i];
    graphss_status st = GRAPHSS_OK;
    for (size_t j = 0; j < past->n_cols && !st; j++) {
        const float was = value_of(past, b, j), is = value_of(s->features, i, j);
        if (was != is)
            st = flip(ctx, out, GRAPHSS_FLIP_FEATURE, i, j, is, was);
    }
    return st;
}

static graphss_status strong_words(
    graphss_ctx *ctx, graphss_flips *out, const input *s, size_t i)
{
    const graphss_features *x = s->features;
    const size_t class = recovered(s, i), towards = pushed_to(s, i, class);
    graphss_status st = GRAPHSS_OK;
    for (int64_t e = x->offset[i]; e < x->offset[i + 1] && !st; e++)
        if (x->value[e] != 0 && push_of(s, e, class, towards) > s->usual)
            st = flip(ctx, out, GRAPHSS_FLIP_FEATURE, i, (size_t)x->column[e], x->value[e], 0);
    return st;
}

static bool share_a_neighbour(const graphss_graph *g, size_t a, size_t b)
{
    for (int64_t p = g->offset[a], q = g->offset[b];
         p < g->offset[a + 1] && q < g->offset[b + 1];) {
        const int32_t u = g->target[p], v = g->target[q];
        if (u == v)
            return true;
        p += u < v;
        q += v < u;
    }
    return false;
}

/* True if the edge is new or, without a previous snapshot, looks new. */
static bool strange(const input *s, size_t i, size_t u)
{
    if (s->before && s->before[i] >= 0 && s->before[u] >= 0)
        return !graphss_graph_has_edge(s->in->previous->graph, s->before[i], s->before[u]);
    double alike = s->kind == GRAPHSS_PERTURBATION_FEATURES;
    for (size_t c = 0; c < s->k; c++)
        alike += s->found->posterior[i * s->k + c] * s->found->posterior[u * s->k + c];
    return alike < ALIKE && !share_a_neighbour(s->graph, i, u);
}

/* If both ends are suspicious, the first one decides. */
static bool told(const input *s, size_t i, size_t u)
{
    return u == i || (u < i && suspicious(s, u));
}

static graphss_status edges_back(
    graphss_ctx *ctx, graphss_flips *out, const input *s, size_t i)
{
    const graphss_graph *g = s->graph;
    graphss_status st = GRAPHSS_OK;
    for (int64_t e = g->offset[i]; e < g->offset[i + 1] && !st; e++) {
        const size_t u = (size_t)g->target[e];
        if (!told(s, i, u) && strange(s, i, u))
            st = flip(ctx, out, GRAPHSS_FLIP_EDGE, i, u, 1, 0);
    }
    if (st || !s->before || s->before[i] < 0)
        return st;
    const graphss_graph *past = s->in->previous->graph;
    const size_t b = (size_t)s->before[i];
    for (int64_t e = past->offset[b]; e < past->offset[b + 1] && !st; e++) {
        const int32_t u = s->after[past->target[e]];
        if (u >= 0 && !told(s, i, (size_t)u) && !graphss_graph_has_edge(g, (int32_t)i, u))
            st = flip(ctx, out, GRAPHSS_FLIP_EDGE, i, (size_t)u, 0, 1);
    }
    return st;
}

static graphss_status prepare(graphss_ctx *ctx, input *s)
{
    const graphss_defence_input *in = s->in;
    graphss_status st = GRAPHSS_OK;
    if (in->previous)
        st = graphss_i_match_past(ctx, &s->before, &s->after, &in->current, in->previous);
    s->prob = graphss_i_alloc(ctx, s->n, s->k * sizeof *s->prob);
    if (!st)
        st = s->prob
                 ? graphss_i_predict(ctx, s->prob, in->model, s->graph, in->current.features)
                 : GRAPHSS_ERR_NOMEM;
    size_t unknown = 0;
    for (size_t i = 0; i < s->n; i++)
        unknown += suspicious(s, i) && (!s->before || s->before[i] < 0);
    if (st || !unknown || s->k < 2 || s->kind == GRAPHSS_PERTURBATION_EDGES ||
        graphss_features_dense(s->features))
        return st;
    graphss_split own = {0};
    if (!in->split)
        st = graphss_split_match(ctx, &own, in->model, &in->current);
    if (!st)
        st = graphss_i_surrogate_train(ctx, &s->words,
            &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                .graph = s->graph,
                .features = s->features,
                .n_classes = s->k,
                .split = in->split ? in->split : &own,
                .seed = in->seed});
    graphss_split_destroy(ctx, &own);
    return st ? st : learn_usual(ctx, s);
}

graphss_status graphss_recover_flips(graphss_ctx *ctx, graphss_flips *out,
    const graphss_defence_input *in, const graphss_recover_result *recovery, double least)
{
    if (GRAPHSS_I_LACKS(
            ctx, {"input", in}, {"recovery", recovery}, {"place for the changes", out}))
        return GRAPHSS_ERR_INVALID;
    graphss_status st = graphss_i_check_input(ctx, in);
    if (st)
        return st;
    const graphss_predictions *found = &recovery->predictions;
    input s = {.in = in,
        .found = found,
        .kind = recovery->kind,
        .graph = in->current.graph,
        .features = in->current.features,
        .n = in->current.graph->n_nodes,
        .k = graphss_model_classes(in->model),
        .least = least};
    if (found->n_nodes != s.n || found->n_classes != s.k || !found->posterior ||
        !found->perturbed)
        return graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE,
            "the recovery is of %zu nodes and %zu classes, want %zu and %zu "
            "with posterior and perturbed",
            found->n_nodes, found->n_classes, s.n, s.k);
    if (recovery->foreign)
        return graphss_poisoned_flips(ctx, out, s.graph, recovery->foreign);
    graphss_flips made = {0};
    st = prepare(ctx, &s);
    for (size_t i = 0; i < s.n && !st; i++) {
        if (!suspicious(&s, i))
            continue;
        st = edges_back(ctx, &made, &s, i);
        if (!st && s.before && s.before[i] >= 0)
            st = words_back(ctx, &made, &s, i);
        else if (!st && s.words)
            st = strong_words(ctx, &made, &s, i);
    }
    graphss_release(ctx, s.words);
    graphss_release(ctx, s.prob);
    graphss_release(ctx, s.after);
    graphss_release(ctx, s.before);
    if (st) {
        graphss_flips_destroy(ctx, &made);
        return st;
    }
    snprintf(made.method, sizeof made.method, "recover");
    const int head = snprintf(made.victims, sizeof made.victims, "perturbed at least ");
    graphss_i_double_text(made.victims + head, sizeof made.victims - (size_t)head, least);
    *out = made;
    return GRAPHSS_OK;
}
