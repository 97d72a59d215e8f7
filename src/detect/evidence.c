/* evidence.c - what an attacker must leave behind: many strong words, links to unlike and
 * weakly tied nodes. What depends on what nodes are believed to be is in votes.c. */
#include "detect/evidence.h"
#include "detect/copy_source.h"
#include "graph/edges.h"
#include "graph/products.h"
#include "graph/rows.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAME_WORDS = 1, SAME_LINKS = 2 };
enum { ROWS = 64, STRONGEST = 10, PROBES = 64, LINK_TASKS = 16 };
void graphss_i_view_destroy(graphss_ctx *ctx, graphss_i_view *v)
{
    if (!v->borrowed) {
        graphss_graph_destroy(ctx, &v->graph);
        graphss_features_destroy(ctx, &v->features);
    }
    graphss_release(ctx, v->prob);
    graphss_release(ctx, v->mlp);
    graphss_release(ctx, v->alike);
    graphss_release(ctx, v->cosine);
    graphss_release(ctx, v->closed);
    graphss_release(ctx, v->twin);
    graphss_release(ctx, v->rest);
    graphss_release(ctx, v->counts);
    graphss_release(ctx, v->linear);
    graphss_release(ctx, v->belief);
    graphss_release(ctx, v->trust);
    graphss_release(ctx, v->says);
    graphss_release(ctx, v->odd);
    graphss_release(ctx, v->norm);
    graphss_release(ctx, v->margin);
    graphss_release(ctx, v->wanted);
    *v = (graphss_i_view){0};
}

void graphss_i_count_features(float *words, const graphss_features *features)
{
    for (size_t i = 0; i < features->n_rows; i++)
        words[i] = (float)graphss_i_row_count(graphss_i_row_of(features, i));
}

/* z [k] = sum over the words of value * w[word]; the margin of the largest over the next */
static double word_margin(double *z, size_t *best, graphss_i_row r, const float *w, size_t k)
{
    memset(z, 0, k * sizeof *z);
    for (size_t j = 0; j < r.n; j++) {
        const size_t word = graphss_i_row_at(r, j);
        for (size_t c = 0; c < k && r.value[j] != 0; c++)
            z[c] += (double)r.value[j] * (double)w[word * k + c];
    }
    *best = graphss_i_top_double(z, k);
    return graphss_i_margin(z, k);
}

graphss_status graphss_i_feature_strength(graphss_ctx *ctx, double *strength,
                                          const graphss_features *features,
                                          const float *surrogate, size_t k)
{
    const size_t n = features->n_rows;
    double *margin = graphss_i_alloc(ctx, n, sizeof *margin);
    double *z = graphss_i_alloc(ctx, k, sizeof *z);
    if (margin && z) {
        size_t best;
        for (size_t i = 0; i < n; i++)
            margin[i] = word_margin(z, &best, graphss_i_row_of(features, i), surrogate, k);
        qsort(margin, n, sizeof *margin, graphss_i_compare_doubles);
        *strength = fmax(margin[n / 2], 1e-9);
    }
    const bool good = margin && z;
    graphss_release(ctx, z);
    graphss_release(ctx, margin);
    return good ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
}

/* ---- what does not depend on beliefs ---- */

typedef struct opening {
    graphss_i_view *v;
    const graphss_i_lens *lens;
    double *z;     /* [tasks x 2 k] */
    float *apart;  /* [tasks x k] */
    float *spread; /* [LINK_TASKS x n_cols] a row by column; 0 between nodes */
    uint8_t *same; /* [n] SAME_WORDS, SAME_LINKS: as in lens->base */
    uint8_t *skip; /* [n] all as there */
    float *alike;  /* [n] */
} opening;

static double relative(double x, double unit)
{
    return log1p(fmax(x, 0) / unit);
}

/* What of a node its words alone say, as open_words fills it. */
static const int OF_WORDS[] = {ODD_WORDS,      ODD_WORDS_2,      ODD_MARGIN,
                               ODD_LARGEST,    ODD_STRONG_WORDS, ODD_AGAINST,
                               ODD_WORDS_GAIN, ODD_WORDS_CHANGE};

/* The same from the base, where the words are the same. */
static void take_words(const opening *o, size_t i)
{
    const graphss_i_view *base = o->lens->base;
    const size_t k = o->lens->k;
    o->v->norm[i] = base->norm[i];
    o->v->margin[i] = base->margin[i];
    memcpy(o->v->counts + i * k, base->counts + i * k, k * sizeof *base->counts);
    memcpy(o->v->linear + i * k, base->linear + i * k, k * sizeof *base->linear);
    for (size_t j = 0; j < sizeof OF_WORDS / sizeof *OF_WORDS; j++)
        o->v->odd[i * GRAPHSS_I_ODD + (size_t)OF_WORDS[j]] =
            base->odd[i * GRAPHSS_I_ODD + (size_t)OF_WORDS[j]];
}

/* The node alone: its words, how strongly they speak and how many speak against. */
static void open_words(void *arg, size_t task)
{
    const opening *o = arg;
    const graphss_i_lens *lens = o->lens;
    const size_t k = lens->k, end = graphss_i_task_end(task, lens->n, ROWS);
    double *z = o->z + 2 * task * k;
    for (size_t i = task * ROWS; i < end; i++) {
        if (lens->base && o->same[i] & SAME_WORDS) {
            take_words(o, i);
            continue;
        }
        const graphss_i_row r = graphss_i_row_of(&o->v->features, i);
        float *odd = o->v->odd + i * GRAPHSS_I_ODD;
        size_t best, words = 0, against = 0;
        o->v->margin[i] = word_margin(z, &best, r, lens->surrogate, k);
        double strongest[STRONGEST] = {0}, square = 0, sum = 0; /* descending */
        for (size_t j = 0; j < r.n; j++) {
            if (r.value[j] == 0)
                continue;
            const size_t word = graphss_i_row_at(r, j);
            double says = (double)r.value[j] * (double)lens->surrogate[word * k + best];
            words++;
            against += says < 0;
            square += (double)r.value[j] * (double)r.value[j];
            for (size_t s = 0; s < STRONGEST; s++)
                if (says > strongest[s]) {
                    const double pushed = strongest[s];
                    strongest[s] = says;
                    says = pushed;
                }
        }
        for (size_t s = 0; s < STRONGEST; s++)
            sum += strongest[s];
        graphss_i_softmax_of(o->v->linear + i * k, z, lens->strength, k);
        graphss_i_lexicon_read(o->v->counts + i * k, z + k, lens->lexicon, r, k);
        o->v->norm[i] = sqrt(square);
        odd[ODD_WORDS] = (float)log1p((double)words);
        odd[ODD_WORDS_2] = odd[ODD_WORDS] * odd[ODD_WORDS];
        odd[ODD_MARGIN] = (float)relative(o->v->margin[i], lens->strength);
        odd[ODD_LARGEST] = (float)relative(z[best], lens->strength);
        odd[ODD_STRONG_WORDS] = (float)(sum / STRONGEST / lens->strength);
        odd[ODD_AGAINST] = (float)against / (float)(words ? words : 1);
        if (lens->before && lens->before[i] >= 0) {
            odd[ODD_WORDS_GAIN] = odd[ODD_WORDS] - log1pf(lens->before_words[i]);
            odd[ODD_WORDS_CHANGE] = fabsf(odd[ODD_WORDS_GAIN]);
        }
    }
}

/* What a copy would have kept of its own: words the twin lacks, against those it has. */
static void open_twin(void *arg, size_t task)
{
    const opening *o = arg;
    const graphss_i_lens *lens = o->lens;
    const graphss_graph *g = &o->v->graph;
    const size_t k = lens->k, end = graphss_i_task_end(task, lens->n, ROWS);
    double *own = o->z + 2 * task * k, *shared = own + k;
    for (size_t i = task * ROWS; i < end; i++) {
        if (o->skip[i])
            continue;
        const graphss_i_row r = graphss_i_row_of(&o->v->features, i);
        const int32_t twin = o->v->twin[i];
        const graphss_i_row other =
            twin >= 0 ? graphss_i_row_of(&o->v->features, (size_t)twin) : (graphss_i_row){0};
        float *odd = o->v->odd + i * GRAPHSS_I_ODD, *rest = o->v->rest + i * k;
        size_t common = 0, words = 0;
        memset(own, 0, 2 * k * sizeof *own);
        for (size_t j = 0, t = 0; j < r.n; j++) {
            if (r.value[j] == 0)
                continue;
            const size_t word = graphss_i_row_at(r, j);
            while (other.column && t < other.n && (size_t)other.column[t] < word)
                t++;
            const bool both = other.column && t < other.n && (size_t)other.column[t] == word;
            double *z = both ? shared : own;
            words++;
            common += both;
            for (size_t c = 0; c < k; c++)
                z[c] += (double)r.value[j] * (double)lens->surrogate[word * k + c];
        }
        graphss_i_walk theirs = graphss_i_walk_from(g, twin);
        double links = 0;
        for (int64_t e = g->offset[i]; e < g->offset[i + 1] && twin >= 0; e++)
            links += graphss_i_walk_meets(&theirs, g->target[e]) || g->target[e] == twin;
        graphss_i_softmax_of(rest, own, lens->strength, k);
        odd[ODD_TWIN_LINKS] = (float)(links / fmax(1, (double)graphss_graph_degree(g, i)));
        odd[ODD_TWIN_WORDS] = (float)common / (float)(words ? words : 1);
        odd[ODD_TWIN_APART] = 0;
        graphss_i_softmax_of(o->apart + task * k, shared, lens->strength, k);
        for (size_t c = 0; c < k; c++)
            odd[ODD_TWIN_APART] += fabsf(rest[c] - o->apart[task * k + c]);
    }
}

/* Do a and b share a neighbour? Of long rows PROBES to twice as many
 * neighbours are tried, evenly apart. */
static bool closes_triangle(const graphss_graph *g, int32_t a, int32_t b)
{
    if (graphss_graph_degree(g, (size_t)a) > graphss_graph_degree(g, (size_t)b)) {
        const int32_t t = a;
        a = b;
        b = t;
    }
    const int64_t n = (int64_t)graphss_graph_degree(g, (size_t)a);
    const int64_t stride = n > PROBES ? n / PROBES : 1;
    graphss_i_walk theirs = graphss_i_walk_from(g, b);
    for (int64_t j = 0; j < n; j += stride) {
        const int32_t u = g->target[g->offset[a] + j];
        if (graphss_i_walk_meets(&theirs, u) && u != b)
            return true;
    }
    return false;
}

/* All that is known of the node, from the base. */
static void take_over(const opening *o, size_t i)
{
    graphss_i_view *v = o->v;
    const graphss_i_view *base = o->lens->base;
    const size_t k = o->lens->k;
    const int64_t from = v->graph.offset[i], there = base->graph.offset[i];
    const size_t links = graphss_graph_degree(&v->graph, i);
    o->skip[i] = 1;
    v->twin[i] = base->twin[i];
    memcpy(v->rest + i * k, base->rest + i * k, k * sizeof *v->rest);
    memcpy(v->odd + i * GRAPHSS_I_ODD, base->odd + i * GRAPHSS_I_ODD,
           GRAPHSS_I_ODD * sizeof *v->odd);
    memcpy(v->cosine + from, base->cosine + there, links * sizeof *v->cosine);
    memcpy(v->closed + from, base->closed + there, links * sizeof *v->closed);
}

/* Which rows are those of the base? */
static void compare_rows(void *arg, size_t task)
{
    const opening *o = arg;
    const graphss_i_view *v = o->v, *base = o->lens->base;
    const size_t n = o->lens->n, end = graphss_i_task_end(task, n, ROWS);
    for (size_t i = task * ROWS; i < end; i++) {
        const graphss_i_row a = graphss_i_row_of(&v->features, i),
                            b = graphss_i_row_of(&base->features, i);
        const int64_t *p = v->graph.offset + i, *q = base->graph.offset + i;
        const size_t links = (size_t)(p[1] - p[0]);
        o->same[i] = o->skip[i] = 0;
        if (graphss_i_row_same(a, b))
            o->same[i] |= SAME_WORDS;
        if (p[1] - p[0] == q[1] - q[0] &&
            !memcmp(v->graph.target + p[0], base->graph.target + q[0],
                    links * sizeof *v->graph.target))
            o->same[i] |= SAME_LINKS;
        if (o->lens->wanted && !o->lens->wanted[i] && o->same[i] == (SAME_WORDS | SAME_LINKS))
            take_over(o, i);
    }
}

/* Where the base has link e of row i, or -1. at: the place in its row up to which links of i,
 * asked for in ascending order, were met. */
static int64_t base_link(const opening *o, size_t i, int64_t e, int64_t *at)
{
    const graphss_i_view *base = o->lens->base;
    const int32_t u = o->v->graph.target[e];
    if (!base)
        return -1;
    while (*at < base->graph.offset[i + 1] && base->graph.target[*at] < u)
        ++*at;
    return *at < base->graph.offset[i + 1] && base->graph.target[*at] == u ? *at : -1;
}

/* Do a triangle's other links close link e of row i? As in the base where both ends are. */
static void open_closed(const opening *o, size_t i, int64_t e, int64_t there)
{
    graphss_i_view *v = o->v;
    const int32_t u = v->graph.target[e];
    if (there >= 0 && o->same[i] & o->same[u] & SAME_LINKS)
        v->closed[e] = o->lens->base->closed[there];
    else
        v->closed[e] = closes_triangle(&v->graph, (int32_t)i, u);
}

/* Links of a row whose cosine is still to be worked out. */
typedef struct waiting {
    size_t n;
    int64_t link[GRAPHSS_I_DOTS];
    graphss_i_row row[GRAPHSS_I_DOTS];
} waiting;

/* Cosines of links of i, and of the same links seen from the other end: both orders multiply
 * and add the same numbers. */
static void cosines(const opening *o, size_t i, waiting *w, const float *spread)
{
    graphss_i_view *v = o->v;
    const graphss_graph *g = &v->graph;
    double dot[GRAPHSS_I_DOTS];
    graphss_i_row_dots(dot, w->row, w->n, spread);
    for (size_t q = 0; q < w->n; q++) {
        const int32_t u = g->target[w->link[q]];
        const double lengths = v->norm[i] * v->norm[u];
        v->cosine[w->link[q]] = lengths > 0 ? (float)(dot[q] / lengths) : 0;
        graphss_i_walk back = graphss_i_walk_from(g, u);
        if ((size_t)u > i && !o->skip[u] && graphss_i_walk_meets(&back, (int32_t)i))
            v->cosine[back.at - g->target] = v->cosine[w->link[q]];
    }
    w->n = 0;
}

/* out by column = the row, or 0 there */
static void spread_row(float *out, graphss_i_row r, bool there)
{
    for (size_t j = 0; j < r.n; j++)
        out[graphss_i_row_at(r, j)] = there ? r.value[j] : 0;
}

/* How alike are the ends of links? As in the base where both have the words they have there;
 * else worked out by the end that comes first, unless that one is skipped. */
static void open_cosines(void *arg, size_t task)
{
    const opening *o = arg;
    const graphss_i_lens *lens = o->lens;
    graphss_i_view *v = o->v;
    const graphss_graph *g = &v->graph;
    float *spread = o->spread + task * v->features.n_cols;
    const size_t from = lens->n * task / LINK_TASKS, end = lens->n * (task + 1) / LINK_TASKS;
    for (size_t i = from; i < end; i++) {
        waiting w = {0};
        int64_t at = lens->base ? lens->base->graph.offset[i] : 0;
        if (o->skip[i])
            continue;
        spread_row(spread, graphss_i_row_of(&v->features, i), true);
        for (int64_t e = g->offset[i]; e < g->offset[i + 1]; e++) {
            const size_t u = (size_t)g->target[e];
            const int64_t there = base_link(o, i, e, &at);
            if (there >= 0 && o->same[i] & o->same[u] & SAME_WORDS) {
                v->cosine[e] = lens->base->cosine[there];
            } else if (u >= i || o->skip[u]) {
                w.link[w.n] = e;
                w.row[w.n++] = graphss_i_row_of(&v->features, u);
            }
            if (w.n == GRAPHSS_I_DOTS)
                cosines(o, i, &w, spread);
        }
        cosines(o, i, &w, spread);
        spread_row(spread, graphss_i_row_of(&v->features, i), false);
    }
}

/* The node among its neighbours. */
static void open_links(void *arg, size_t task)
{
    const opening *o = arg;
    const graphss_i_lens *lens = o->lens;
    const graphss_graph *g = &o->v->graph;
    const size_t from = lens->n * task / LINK_TASKS, end = lens->n * (task + 1) / LINK_TASKS;
    for (size_t i = from; i < end; i++) {
        if (o->skip[i])
            continue;
        float *odd = o->v->odd + i * GRAPHSS_I_ODD;
        const double degree = (double)graphss_graph_degree(g, i);
        int64_t at = lens->base ? lens->base->graph.offset[i] : 0;
        double similar = 0, least = 1, closed = 0, near = 0, nearest = INFINITY, margin = 0;
        double most = 0;
        for (int64_t e = g->offset[i]; e < g->offset[i + 1]; e++) {
            const size_t u = (size_t)g->target[e];
            open_closed(o, i, e, base_link(o, i, e, &at));
            const double cosine = (double)o->v->cosine[e];
            const double d = log1p((double)graphss_graph_degree(g, u));
            similar += cosine;
            least = fmin(least, cosine);
            closed += o->v->closed[e];
            near += d;
            nearest = fmin(nearest, d);
            margin += o->v->margin[u];
            most = fmax(most, o->v->margin[u]);
        }
        const double one = fmax(degree, 1);
        odd[ODD_DEGREE] = (float)log1p(degree);
        odd[ODD_DEGREE_2] = odd[ODD_DEGREE] * odd[ODD_DEGREE];
        odd[ODD_SIMILAR] = (float)(similar / one);
        odd[ODD_LEAST_SIMILAR] = (float)least;
        odd[ODD_TRIANGLES] = (float)(closed / one);
        odd[ODD_DEGREE_NEAR] = (float)(near / one);
        odd[ODD_DEGREE_NEAR_LEAST] = degree > 0 ? (float)nearest : 0;
        odd[ODD_MARGIN_NEAR] = (float)relative(margin / one, lens->strength);
        odd[ODD_MARGIN_NEAR_MOST] = (float)relative(most, lens->strength);
        if (lens->before && lens->before[i] >= 0) {
            odd[ODD_DEGREE_GAIN] = odd[ODD_DEGREE] - log1pf(lens->before_degree[i]);
            odd[ODD_DEGREE_CHANGE] = fabsf(odd[ODD_DEGREE_GAIN]);
        }
    }
}

graphss_status graphss_i_view_open(graphss_ctx *ctx, graphss_i_view *v,
                                   const graphss_i_lens *lens)
{
    const size_t n = lens->n, k = lens->k, tasks = graphss_i_tasks(n, ROWS);
    opening o = {.v = v,
                 .lens = lens,
                 .z = graphss_i_alloc(ctx, tasks, 2 * k * sizeof *o.z),
                 .apart = graphss_i_alloc(ctx, tasks, k * sizeof *o.apart),
                 .spread =
                     graphss_i_calloc(ctx, v->features.n_cols, LINK_TASKS * sizeof *o.spread),
                 .same = graphss_i_alloc(ctx, n, sizeof *o.same),
                 .skip = graphss_i_calloc(ctx, n, sizeof *o.skip),
                 .alike = graphss_i_alloc(ctx, n, sizeof *o.alike)};
    v->twin = graphss_i_alloc(ctx, n, sizeof *v->twin);
    v->rest = graphss_i_alloc(ctx, n, k * sizeof *v->rest);
    v->counts = graphss_i_alloc(ctx, n, k * sizeof *v->counts);
    v->linear = graphss_i_alloc(ctx, n, k * sizeof *v->linear);
    v->cosine = graphss_i_alloc(ctx, (size_t)v->graph.offset[n], sizeof *v->cosine);
    v->closed = graphss_i_alloc(ctx, (size_t)v->graph.offset[n], sizeof *v->closed);
    v->trust = graphss_i_alloc(ctx, n, sizeof *v->trust);
    v->belief = graphss_i_copy(ctx, v->prob, n * k, sizeof *v->belief);
    v->says = graphss_i_calloc(ctx, n, k * GRAPHSS_I_SAYS * sizeof *v->says);
    v->odd = graphss_i_calloc(ctx, n, GRAPHSS_I_ODD * sizeof *v->odd);
    v->norm = graphss_i_alloc(ctx, n, sizeof *v->norm);
    v->margin = graphss_i_alloc(ctx, n, sizeof *v->margin);
    graphss_status st = o.z && o.apart && o.spread && o.same && o.skip && o.alike && v->twin &&
                                v->rest && v->counts && v->linear && v->cosine && v->closed &&
                                v->trust && v->belief && v->says && v->odd && v->norm &&
                                v->margin
                            ? GRAPHSS_OK
                            : GRAPHSS_ERR_NOMEM;
    if (!st && lens->base)
        st = graphss_i_parallel_checked(ctx, tasks, compare_rows, &o);
    if (!st)
        st = graphss_i_twins(ctx, v->twin, o.alike, &v->graph, &v->features, o.skip);
    if (!st) {
        for (size_t i = 0; i < n; i++) {
            v->trust[i] = 1;
            if (!o.skip[i])
                v->odd[i * GRAPHSS_I_ODD + ODD_TWIN_ALIKE] = o.alike[i];
        }
        st = graphss_i_parallel_checked(ctx, tasks, open_words, &o);
    }
    if (!st)
        st = graphss_i_parallel_checked(ctx, LINK_TASKS, open_cosines, &o);
    if (!st)
        st = graphss_i_parallel_checked(ctx, LINK_TASKS, open_links, &o);
    if (!st)
        st = graphss_i_parallel_checked(ctx, tasks, open_twin, &o);
    graphss_release(ctx, o.alike);
    graphss_release(ctx, o.skip);
    graphss_release(ctx, o.same);
    graphss_release(ctx, o.spread);
    graphss_release(ctx, o.apart);
    graphss_release(ctx, o.z);
    return st;
}
