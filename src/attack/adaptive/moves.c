/* moves.c - see moves.h. The evidence of a feature for a class has two parts: the surrogate's
 * weight, and how much more often nodes of the class have it (log odds). They are scaled alike
 * and added: the first covers what a classifier uses, the second what it ignores. The evidence
 * of a node for a class is the surrogate's logit of it and its neighbours, normalised as an
 * edge to it would be. */
#include "attack/adaptive/moves.h"
#include "graph/rows.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CROWD = 60,  /* LOUD draws from this many nodes: if all victims joined the same two, these
                  * would stop to speak for the class */
    DEPTH = 5,   /* SOME draws from this many times the budget */
    SAMPLE = 64, /* ALIKE compares with this many nodes */
    TRIES = 200  /* draws of nodes that may be refused */
};
static const double SELDOM = 0.5; /* added to every count of a feature in a class */

typedef struct ranked {
    double key;
    int32_t item;
} ranked;

static int highest_first(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? 1 : -1;
    return (x->item > y->item) - (x->item < y->item);
}

/* Divides x [n] by the root of its mean square, if that is not 0. */
static void rescale(float *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    const double root = sqrt(sum / (double)(n ? n : 1));
    for (size_t i = 0; i < n && root > 0; i++)
        x[i] = (float)((double)x[i] / root);
}

/* Subtracts from each column of x [k x d] its mean over the classes. */
static void centre(float *x, size_t k, size_t d)
{
    for (size_t j = 0; j < d; j++) {
        double mean = 0;
        for (size_t c = 0; c < k; c++)
            mean += (double)x[c * d + j] / (double)k;
        for (size_t c = 0; c < k; c++)
            x[c * d + j] = (float)((double)x[c * d + j] - mean);
    }
}

static graphss_status weigh_features(graphss_ctx *ctx, graphss_i_known *x)
{
    const size_t k = x->k, d = x->d;
    const graphss_attack_input *in = x->in;
    graphss_status st = GRAPHSS_OK;
    float *odds = graphss_i_alloc(ctx, k, d * sizeof *odds);
    double *total = graphss_i_calloc(ctx, k, sizeof *total);
    ranked *order = graphss_i_alloc(ctx, d, sizeof *order);
    if (!odds || !total || !order) {
        st = GRAPHSS_ERR_NOMEM;
        goto done;
    }
    for (size_t e = 0; e < k * d; e++)
        odds[e] = (float)SELDOM;
    for (size_t i = 0; i < x->n; i++)
        for (int32_t e = 0; in->label[i] >= 0 && e < x->words.length[i]; e++)
            odds[(size_t)in->label[i] * d + (size_t)x->words.column[i][e]]++;
    for (size_t c = 0; c < k; c++)
        for (size_t j = 0; j < d; j++)
            total[c] += (double)odds[c * d + j];
    for (size_t c = 0; c < k; c++)
        for (size_t j = 0; j < d; j++) {
            odds[c * d + j] = (float)log((double)odds[c * d + j] / total[c]);
            x->speaks[c * d + j] = in->surrogate[j * k + c];
        }
    centre(odds, k, d);
    centre(x->speaks, k, d);
    rescale(odds, k * d);
    rescale(x->speaks, k * d);
    for (size_t c = 0; c < k; c++) {
        for (size_t j = 0; j < d; j++) {
            x->speaks[c * d + j] += odds[c * d + j];
            order[j] = (ranked){(double)x->speaks[c * d + j], (int32_t)j};
        }
        qsort(order, d, sizeof *order, highest_first);
        for (size_t j = 0; j < d; j++)
            x->loudest[c * d + j] = order[j].item;
    }
done:
    graphss_release(ctx, order);
    graphss_release(ctx, total);
    graphss_release(ctx, odds);
    return st;
}

/* pull [n x k]: what an edge to a node adds to the surrogate's logits, up to the factor of the
 * other end: sum over w in N(u) + u of (XW)_w / sqrt(d_w), divided by d_u. */
static graphss_status weigh_nodes(graphss_ctx *ctx, double *pull, const graphss_i_known *x)
{
    const size_t k = x->k;
    const graphss_graph *g = x->in->graph;
    double *xw = graphss_i_alloc(ctx, x->n, k * sizeof *xw);
    if (!xw)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < x->n; i++) {
        const double root = sqrt((double)graphss_graph_degree(g, i) + 1);
        graphss_i_feature_index_product(xw + i * k, &x->words, i, x->in->surrogate, k);
        for (size_t c = 0; c < k; c++)
            xw[i * k + c] /= root;
    }
    for (size_t i = 0; i < x->n; i++)
        for (size_t c = 0; c < k; c++) {
            double sum = xw[i * k + c];
            for (int64_t e = g->offset[i]; e < g->offset[i + 1]; e++)
                sum += xw[(size_t)g->target[e] * k + c];
            pull[i * k + c] = sum / ((double)graphss_graph_degree(g, i) + 1);
        }
    graphss_release(ctx, xw);
    return GRAPHSS_OK;
}

static graphss_status list_members(graphss_ctx *ctx, graphss_i_known *x)
{
    const size_t n = x->n, k = x->k;
    const graphss_attack_input *in = x->in;
    graphss_status st = GRAPHSS_OK;
    double *pull = graphss_i_alloc(ctx, n, k * sizeof *pull);
    ranked *order = graphss_i_alloc(ctx, n, sizeof *order);
    if (!pull || !order) {
        st = GRAPHSS_ERR_NOMEM;
        goto done;
    }
    st = weigh_nodes(ctx, pull, x);
    if (st)
        goto done;
    for (size_t i = 0; i < in->n_victims; i++)
        x->drawn[in->victim[i]] = 1;
    x->first[0] = 0;
    for (size_t c = 0; c < k; c++) {
        size_t count = 0;
        for (size_t i = 0; i < n; i++) {
            if (in->label[i] != (int32_t)c || x->drawn[i])
                continue;
            double mean = 0;
            for (size_t b = 0; b < k; b++)
                mean += pull[i * k + b] / (double)k;
            order[count++] = (ranked){pull[i * k + c] - mean, (int32_t)i};
        }
        qsort(order, count, sizeof *order, highest_first);
        for (size_t i = 0; i < count; i++)
            x->member[x->first[c] + (int64_t)i] = order[i].item;
        x->first[c + 1] = x->first[c] + (int64_t)count;
    }
    memset(x->drawn, 0, n);
done:
    graphss_release(ctx, order);
    graphss_release(ctx, pull);
    return st;
}

/* The other classes of each victim, the model's most likely first. */
static graphss_status list_wanted(graphss_ctx *ctx, graphss_i_known *x)
{
    const size_t k = x->k;
    const graphss_attack_input *in = x->in;
    float *prob = graphss_i_alloc(ctx, x->n, k * sizeof *prob);
    ranked *order = graphss_i_alloc(ctx, k, sizeof *order);
    graphss_status st = prob && order ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    if (!st)
        st = graphss_model_predict(ctx, prob, in->model, in->graph, in->features);
    for (size_t i = 0; i < in->n_victims && !st; i++) {
        const size_t v = (size_t)in->victim[i];
        size_t count = 0;
        for (size_t c = 0; c < k; c++)
            if ((int32_t)c != in->label[v])
                order[count++] = (ranked){(double)prob[v * k + c], (int32_t)c};
        qsort(order, count, sizeof *order, highest_first);
        for (size_t c = 0; c < count; c++)
            x->wanted[i * (k - 1) + c] = order[c].item;
    }
    graphss_release(ctx, order);
    graphss_release(ctx, prob);
    return st;
}

graphss_status graphss_i_known_init(graphss_ctx *ctx, graphss_i_known *known,
    const graphss_attack_input *in, const graphss_attack_options *opt)
{
    const size_t n = in->graph->n_nodes, d = in->features->n_cols, k = in->n_classes;
    *known = (graphss_i_known){.in = in, .n = n, .d = d, .k = k};
    known->on = graphss_i_alloc(ctx, d, sizeof *known->on);
    known->speaks = graphss_i_alloc(ctx, k, d * sizeof *known->speaks);
    known->loudest = graphss_i_alloc(ctx, k, d * sizeof *known->loudest);
    known->member = graphss_i_alloc(ctx, n, sizeof *known->member);
    known->first = graphss_i_alloc(ctx, k + 1, sizeof *known->first);
    known->wanted = graphss_i_alloc(ctx, in->n_victims, (k - 1) * sizeof *known->wanted);
    known->drawn = graphss_i_calloc(ctx, n > d ? n : d, sizeof *known->drawn);
    if (!known->on || !known->speaks || !known->loudest || !known->member || !known->first ||
        !known->wanted || !known->drawn)
        return GRAPHSS_ERR_NOMEM;
    graphss_status st = graphss_i_feature_index_rows(ctx, &known->words, in->features);
    if (!st)
        st = graphss_i_feature_index_on(
            ctx, known->on, &known->words, graphss_i_attack_domain(in->features, opt));
    if (!st)
        st = weigh_features(ctx, known);
    if (!st)
        st = list_members(ctx, known);
    return st ? st : list_wanted(ctx, known);
}

void graphss_i_known_destroy(graphss_ctx *ctx, graphss_i_known *known)
{
    graphss_i_feature_index_destroy(ctx, &known->words);
    graphss_release(ctx, known->drawn);
    graphss_release(ctx, known->wanted);
    graphss_release(ctx, known->first);
    graphss_release(ctx, known->member);
    graphss_release(ctx, known->loudest);
    graphss_release(ctx, known->speaks);
    graphss_release(ctx, known->on);
    *known = (graphss_i_known){0};
}

int32_t graphss_i_choose_donor(const graphss_i_known *known, int32_t class_, graphss_rng *rng)
{
    const int64_t from = known->first[class_], count = known->first[class_ + 1] - from;
    return count ? known->member[from + (int64_t)graphss_rng_below(rng, (uint64_t)count)] : -1;
}

/* ---- edges ---- */

typedef struct choice {
    graphss_i_change *out;
    size_t n, most;
    graphss_i_known *known;
    int32_t node, class_, donor;
    graphss_rng *rng;
} choice;

static bool linked(const graphss_graph *g, int32_t a, int32_t b)
{
    for (int64_t e = g->offset[a]; e < g->offset[a + 1]; e++)
        if (g->target[e] == b)
            return true;
    return false;
}

static void join(choice *c, int32_t to)
{
    if (c->n >= c->most || to == c->node || c->known->drawn[to] ||
        linked(c->known->in->graph, c->node, to))
        return;
    c->known->drawn[to] = 1;
    c->out[c->n++] = (graphss_i_change){to, 1};
}

/* Joins members of the class drawn from the first `pool`. */
static void join_members(choice *c, int64_t pool)
{
    const int64_t from = c->known->first[c->class_];
    const int64_t count = c->known->first[c->class_ + 1] - from;
    pool = pool < count ? pool : count;
    for (int i = 0; i < TRIES && pool && c->n < c->most; i++)
        join(c, c->known->member[from + (int64_t)graphss_rng_below(c->rng, (uint64_t)pool)]);
}

static void join_donor(choice *c)
{
    const graphss_graph *g = c->known->in->graph;
    if (c->donor < 0)
        return;
    join(c, c->donor);
    for (int64_t e = g->offset[c->donor]; e < g->offset[c->donor + 1]; e++)
        if (c->known->in->label[g->target[e]] == c->class_)
            join(c, g->target[e]);
}

static size_t common_words(const graphss_i_feature_index *x, int32_t a, int32_t b)
{
    size_t n = 0;
    for (int32_t i = 0, j = 0; i < x->length[a] && j < x->length[b];) {
        const int32_t p = x->column[a][i], q = x->column[b][j];
        n += p == q;
        i += p <= q;
        j += q <= p;
    }
    return n;
}

/* Adds edges to those of a sample of nodes with the largest Jaccard similarity to the node. */
static void join_alike(choice *c)
{
    const graphss_i_feature_index *x = &c->known->words;
    ranked best[SAMPLE];
    size_t n = 0;
    for (; n < SAMPLE; n++) {
        const int32_t u = graphss_i_choose_donor(c->known, c->class_, c->rng);
        if (u < 0)
            break;
        const size_t both = common_words(x, c->node, u);
        const size_t either = (size_t)(x->length[c->node] + x->length[u]) - both;
        best[n] = (ranked){(double)both / (double)(either ? either : 1), u};
    }
    qsort(best, n, sizeof *best, highest_first);
    for (size_t i = 0; i < n; i++)
        join(c, best[i].item);
}

/* Cuts edges to nodes of the same believed class, then others; one edge stays. */
static void cut(choice *c, size_t most)
{
    const graphss_attack_input *in = c->known->in;
    const graphss_graph *g = in->graph;
    const size_t degree = graphss_graph_degree(g, (size_t)c->node), before = c->n;
    for (int other = 0; other < 2; other++)
        for (int64_t e = g->offset[c->node]; e < g->offset[c->node + 1]; e++) {
            const int32_t u = g->target[e];
            const bool same = in->label[u] == in->label[c->node];
            const size_t cuts = c->n - before;
            if (same == (other == 1) || u == c->node || in->label[u] == c->class_ ||
                graphss_graph_degree(g, (size_t)u) < 2 || cuts >= most || cuts + 1 >= degree ||
                c->n >= c->most)
                continue;
            c->known->drawn[u] = 1;
            c->out[c->n++] = (graphss_i_change){u, 0};
        }
}

size_t graphss_i_choose_edges(graphss_i_change *out, size_t most, graphss_i_known *known,
    int32_t node, int32_t class_, int32_t donor, graphss_i_edge_move move, graphss_rng *rng)
{
    choice c = {out, 0, most, known, node, class_, donor, rng};
    switch (move) {
    case GRAPHSS_I_EDGES_SWAP:
        cut(&c, most / 2);
        join_members(&c, CROWD);
        break;
    case GRAPHSS_I_EDGES_LOUD:
        join_members(&c, CROWD);
        break;
    case GRAPHSS_I_EDGES_ANY:
        join_members(&c, INT64_MAX);
        break;
    case GRAPHSS_I_EDGES_DONOR:
        join_donor(&c);
        break;
    case GRAPHSS_I_EDGES_ALIKE:
        join_alike(&c);
        break;
    case GRAPHSS_I_EDGES_CUT:
        cut(&c, most);
        break;
    case GRAPHSS_I_EDGES_NONE:
    case GRAPHSS_I_EDGE_MOVES:
        break;
    }
    for (size_t i = 0; i < c.n; i++)
        known->drawn[out[i].target] = 0;
    return c.n;
}

/* ---- features ---- */

static float value_of(const graphss_i_known *x, int32_t node, int32_t word)
{
    bool there;
    const size_t at = graphss_i_feature_index_find(&there, &x->words, (size_t)node, word);
    return there ? (float)graphss_i_feature_index_value(&x->words, (size_t)node, at) : 0;
}

static void set(choice *c, int32_t word, float value)
{
    if (c->n >= c->most || c->known->drawn[word] || value_of(c->known, c->node, word) == value)
        return;
    c->known->drawn[word] = 1;
    c->out[c->n++] = (graphss_i_change){word, value};
}

/* Dense features have no "absent": they take the values of the donor. */
static void add(choice *c, int32_t word)
{
    if (!graphss_features_dense(c->known->in->features)) {
        if (value_of(c->known, c->node, word) == 0)
            set(c, word, c->known->on[word]);
    } else if (c->donor >= 0) {
        set(c, word, value_of(c->known, c->donor, word));
    }
}

static void add_loudest(choice *c)
{
    const size_t d = c->known->d;
    for (size_t j = 0; j < d && c->n < c->most; j++)
        add(c, c->known->loudest[(size_t)c->class_ * d + j]);
}

static void add_some(choice *c)
{
    const size_t d = c->known->d, pool = DEPTH * c->most < d ? DEPTH * c->most : d;
    for (size_t i = 0; i < TRIES + 4 * c->most && pool && c->n < c->most; i++)
        add(c, c->known
                   ->loudest[(size_t)c->class_ * d + (size_t)graphss_rng_below(c->rng, pool)]);
}

/* The donor's features, those first that speak for the class. */
static void add_donor(choice *c)
{
    const size_t d = c->known->d;
    for (size_t j = 0; c->donor >= 0 && j < d && c->n < c->most; j++) {
        const int32_t word = c->known->loudest[(size_t)c->class_ * d + j];
        const float value = value_of(c->known, c->donor, word);
        if (value != 0 || graphss_features_dense(c->known->in->features))
            set(c, word, value);
    }
}

/* Removes features that are evidence for the node's own class; one feature stays. */
static void drop(choice *c, size_t most)
{
    const graphss_i_known *x = c->known;
    const size_t d = x->d, has = (size_t)x->words.length[c->node], before = c->n;
    const int32_t *loudest = x->loudest + (size_t)x->in->label[c->node] * d;
    for (size_t j = 0; j < d; j++) {
        const size_t dropped = c->n - before;
        if (dropped >= most || dropped + 1 >= has)
            break;
        if (graphss_features_dense(x->in->features))
            add(c, loudest[j]);
        else if (value_of(x, c->node, loudest[j]) != 0)
            set(c, loudest[j], 0);
    }
}

size_t graphss_i_choose_features(graphss_i_change *out, size_t most, graphss_i_known *known,
    int32_t node, int32_t class_, int32_t donor, graphss_i_feature_move move, graphss_rng *rng)
{
    choice c = {out, 0, most, known, node, class_, donor, rng};
    switch (move) {
    case GRAPHSS_I_FEATURES_FEW:
        c.most = (most + 3) / 4;
        add_loudest(&c);
        break;
    case GRAPHSS_I_FEATURES_LOUD:
        add_loudest(&c);
        break;
    case GRAPHSS_I_FEATURES_SWAP:
        drop(&c, most / 2);
        add_some(&c);
        break;
    case GRAPHSS_I_FEATURES_SOME:
        add_some(&c);
        break;
    case GRAPHSS_I_FEATURES_DONOR:
        add_donor(&c);
        break;
    case GRAPHSS_I_FEATURES_DROP:
        drop(&c, most);
        break;
    case GRAPHSS_I_FEATURES_NONE:
    case GRAPHSS_I_FEATURE_MOVES:
        break;
    }
    for (size_t i = 0; i < c.n; i++)
        known->drawn[out[i].target] = 0;
    return c.n;
}
