/* node_features.c - what tells an attacked node: words that speak loudly and with one voice
 * for a class the neighbours do not have, links to weakly tied nodes whose words are strong,
 * and against the past: belief that moved, and changes that push it. Cosines of linked nodes
 * were tried and told nothing more; they cost more than all the rest. */
#include "detect/node_features.h"
#include "graph/rows.h"
#include "observation/observation.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 256, STRONGEST = 10, BLOCK = 16 };
static const double SMALL = 1e-2, LEAST = 1e-3;

/* says [k] = sum over the words of value * weight[word] */
static void add_up(float *says, graphss_i_row r, const graphss_i_voice *voice, size_t k)
{
    memset(says, 0, k * sizeof *says);
    for (size_t j = 0; j < r.n; j++) {
        if (r.value[j] == 0)
            continue;
        const float x = voice->counted ? 1 : r.value[j];
        const float *w = voice->weight + graphss_i_row_at(r, j) * k;
        for (size_t c = 0; c < k; c++)
            says[c] += x * w[c];
    }
}

/* of the largest over the next */
static double margin_of(const float *x, size_t k)
{
    const size_t best = graphss_i_top(x, k);
    double second = -INFINITY;
    for (size_t c = 0; c < k; c++)
        if (c != best)
            second = fmax(second, (double)x[c]);
    return k > 1 ? (double)x[best] - second : 0;
}

/* ---- voices ---- */

/* z = (n_wc - n_w pi_c) / sqrt(n_w pi_c + 5): n_wc counts nodes with the word by their
 * probability of the class, n_w = sum_c n_wc, pi_c is the mean probability */
void graphss_i_voice_count(float *weight, double *share, const graphss_features *features,
                           const float *prob, size_t k)
{
    const size_t n = features->n_rows, d = features->n_cols;
    memset(weight, 0, d * k * sizeof *weight);
    memset(share, 0, k * sizeof *share);
    for (size_t i = 0; i < n; i++) {
        const graphss_i_row r = graphss_i_row_of(features, i);
        for (size_t c = 0; c < k; c++)
            share[c] += (double)prob[i * k + c] / (double)n;
        for (size_t j = 0; j < r.n; j++) {
            float *w = weight + graphss_i_row_at(r, j) * k;
            for (size_t c = 0; c < k && r.value[j] != 0; c++)
                w[c] += prob[i * k + c];
        }
    }
    for (size_t j = 0; j < d; j++) {
        float *w = weight + j * k;
        double total = 0;
        for (size_t c = 0; c < k; c++)
            total += (double)w[c];
        for (size_t c = 0; c < k; c++) {
            const double expected = total * share[c];
            w[c] = (float)(((double)w[c] - expected) / sqrt(expected + 5));
        }
    }
}

void graphss_i_voice_centre(graphss_i_voice *voice, size_t d, size_t k)
{
    for (size_t j = 0; j < d; j++) {
        float *w = voice->weight + j * k, mean = 0;
        for (size_t c = 0; c < k; c++)
            mean += w[c] / (float)k;
        for (size_t c = 0; c < k; c++)
            voice->by_class[c * d + j] = w[c] -= mean;
    }
}

/* ---- what the words of a snapshot say ---- */

void graphss_i_glance_close(graphss_ctx *ctx, graphss_i_glance *g)
{
    for (size_t v = 0; v < GRAPHSS_I_VOICES; v++)
        graphss_release(ctx, g->says[v]);
    graphss_release(ctx, g->face);
    *g = (graphss_i_glance){0};
}

static void say(const graphss_i_glance *g, size_t v, size_t i)
{
    float *says = g->says[v] + i * g->k;
    add_up(says, graphss_i_row_of(g->features, i), &g->voice[v], g->k);
    graphss_i_face_margin(graphss_i_face(g, i), g->k)[v] = (float)margin_of(says, g->k);
}

/* leans = softmax(says / (heat sqrt(words))) */
static void lean(const graphss_i_glance *g, size_t v, size_t i)
{
    const size_t k = g->k, words = graphss_i_row_count(graphss_i_row_of(g->features, i));
    float *leans = graphss_i_face_leans(graphss_i_face(g, i), v, k), sum = 0;
    const float *says = g->says[v] + i * k, most = says[graphss_i_top(says, k)];
    const float scale = (float)(1 / (g->voice[v].heat * sqrt((double)(words ? words : 1))));
    for (size_t c = 0; c < k; c++)
        sum += leans[c] = expf((says[c] - most) * scale);
    for (size_t c = 0; c < k; c++)
        leans[c] /= sum;
}

/* Of all nodes, to tune by. */
static void say_rows(void *arg, size_t task)
{
    const graphss_i_glance *g = arg;
    const size_t end = graphss_i_task_end(task, g->n, ROWS);
    for (size_t i = task * ROWS; i < end; i++)
        for (size_t v = 0; v < GRAPHSS_I_VOICES; v++)
            say(g, v, i);
}

static void hear_rows(void *arg, size_t task)
{
    const graphss_i_glance *g = arg, *h = g->heard;
    const size_t k = g->k, width = graphss_i_face_width(k);
    const size_t end = graphss_i_task_end(task, g->n, ROWS);
    for (size_t i = task * ROWS; i < end; i++) {
        const size_t u = g->there ? (size_t)g->there[i] : i; /* -1: beyond h->n */
        float *face = graphss_i_face(g, i);
        if (g->wanted && !g->wanted[i])
            continue;
        const bool known = h && u < h->n &&
                           graphss_i_row_same(graphss_i_row_of(g->features, i),
                                              graphss_i_row_of(h->features, u));
        if (known)
            memcpy(face, graphss_i_face(h, u), width * sizeof *face);
        for (size_t v = 0; v < GRAPHSS_I_VOICES; v++) {
            if (known) {
                memcpy(g->says[v] + i * k, h->says[v] + u * k, k * sizeof **g->says);
                continue;
            }
            if (!g->tune)
                say(g, v, i);
            lean(g, v, i);
        }
        memcpy(face, g->prob + i * k, k * sizeof *face);
        *graphss_i_face_reach(face, k) = log1pf((float)graphss_graph_degree(g->graph, i));
    }
}

static double median(float *x, size_t n)
{
    return fmax((double)graphss_i_select(x, n, n / 2), 1e-9);
}

/* By every stride-th node. */
static graphss_status tune(graphss_ctx *ctx, const graphss_i_glance *g)
{
    enum { SAMPLE = 20000 };
    const size_t n = g->n, stride = n / SAMPLE + 1, m = (n + stride - 1) / stride;
    float *margin = graphss_i_alloc(ctx, m, sizeof *margin);
    float *relative = graphss_i_alloc(ctx, m, sizeof *relative);
    const bool good = margin && relative;
    for (size_t v = 0; v < GRAPHSS_I_VOICES && good; v++) {
        for (size_t i = 0; i < m; i++) {
            const size_t at = i * stride;
            const size_t words = graphss_i_row_count(graphss_i_row_of(g->features, at));
            margin[i] = graphss_i_face_margin(graphss_i_face(g, at), g->k)[v];
            relative[i] = margin[i] / sqrtf((float)(words ? words : 1));
        }
        g->tune[v].unit = median(margin, m);
        g->tune[v].heat = median(relative, m) / 2;
    }
    graphss_release(ctx, relative);
    graphss_release(ctx, margin);
    return good ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
}

graphss_status graphss_i_glance_open(graphss_ctx *ctx, graphss_i_glance *g)
{
    g->face = graphss_i_alloc(ctx, g->n, graphss_i_face_width(g->k) * sizeof *g->face);
    graphss_status st = g->face ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    for (size_t v = 0; v < GRAPHSS_I_VOICES; v++) {
        g->says[v] = graphss_i_alloc(ctx, g->n, g->k * sizeof **g->says);
        st = g->says[v] ? st : GRAPHSS_ERR_NOMEM;
    }
    if (!st && g->tune) {
        graphss_i_parallel(ctx, graphss_i_tasks(g->n, ROWS), say_rows, g);
        st = tune(ctx, g);
    }
    if (!st)
        graphss_i_parallel(ctx, graphss_i_tasks(g->n, ROWS), hear_rows, g);
    g->heard = NULL;
    g->there = NULL;
    g->tune = NULL;
    g->wanted = NULL;
    return st;
}

/* ---- a node now ---- */

static double dot(const float *a, const float *b, size_t k)
{
    double sum = 0;
    for (size_t c = 0; c < k; c++)
        sum += (double)a[c] * (double)b[c];
    return sum;
}

static double entropy(const float *p, size_t k)
{
    double sum = 0;
    for (size_t c = 0; c < k; c++)
        sum -= p[c] > 0 ? (double)p[c] * log((double)p[c]) : 0;
    return sum;
}

/* The mean of the ten words that say most for the class, and the share that speaks against. */
static void strong_words(float *column, graphss_i_row r, const float *weight)
{
    float strongest[STRONGEST] = {0}; /* descending */
    size_t words = 0, against = 0;
    for (size_t j = 0; j < r.n; j++) {
        if (r.value[j] == 0)
            continue;
        const float x = weight[graphss_i_row_at(r, j)];
        words++;
        against += x < 0;
        if (!(x > strongest[STRONGEST - 1]))
            continue;
        size_t s = STRONGEST - 1;
        for (; s > 0 && x > strongest[s - 1]; s--)
            strongest[s] = strongest[s - 1];
        strongest[s] = x;
    }
    double sum = 0;
    for (size_t s = 0; s < STRONGEST; s++)
        sum += (double)strongest[s];
    column[0] = (float)(sum / STRONGEST);
    column[1] = (float)against / (float)(words ? words : 1);
}

/* sum over the neighbours of x . a, over their number; a node alone meets itself */
static double meets(const float *x, const float *a, const graphss_graph *g, size_t node,
                    size_t k)
{
    const int64_t from = g->offset[node], to = g->offset[node + 1];
    double sum = 0;
    for (int64_t e = from; e < to; e++)
        sum += dot(x, a + (size_t)g->target[e] * k, k);
    return to > from ? sum / (double)(to - from) : dot(x, a + node * k, k);
}

/* The neighbours of a node, beside what it says itself. */
typedef struct company {
    double believed;                /* belief . mean belief */
    double heard[GRAPHSS_I_VOICES]; /* leans . mean belief */
    double alike[GRAPHSS_I_VOICES]; /* leans . mean leans */
    double vote;                    /* entropy of the mean belief; alone: 0 */
    double agree;                   /* the least belief . belief of one; alone: 1 */
    double reach, nearest;          /* the mean and the least; alone: 0 */
    double margin[GRAPHSS_I_VOICES], largest[GRAPHSS_I_VOICES]; /* the same; alone: 0 */
} company;

/* One neighbour of n: what takes no sum over classes. */
static void meet_one(company *met, const float *own, float *face, size_t k, double n)
{
    const double d = (double)*graphss_i_face_reach(face, k), x = dot(own, face, k);
    met->agree = x < met->agree ? x : met->agree;
    met->reach += d / n;
    met->nearest = d < met->nearest ? d : met->nearest;
    for (size_t v = 0; v < GRAPHSS_I_VOICES; v++) {
        const double m = (double)graphss_i_face_margin(face, k)[v];
        met->margin[v] += m;
        met->largest[v] = m > met->largest[v] ? m : met->largest[v];
    }
}

/* sum over the neighbours of x . a_u, over their number, is x . mean a: one pass over the
 * links for all of it, some classes at a time. A node alone meets itself. */
static company meet(const graphss_i_glance *g, size_t node)
{
    const size_t k = g->k;
    const int64_t from = g->graph->offset[node], to = g->graph->offset[node + 1];
    const int32_t self = (int32_t)node;
    const int32_t *near = to > from ? g->graph->target + from : &self;
    const size_t n = to > from ? (size_t)(to - from) : 1;
    const double each = 1 / (double)n;
    float *const own = graphss_i_face(g, node);
    company met = {.agree = 1, .nearest = to > from ? INFINITY : 0};
    for (size_t c0 = 0; c0 < k; c0 += BLOCK) {
        const size_t width = k - c0 < BLOCK ? k - c0 : BLOCK;
        double prob[BLOCK] = {0}, leans[GRAPHSS_I_VOICES][BLOCK] = {{0}};
        for (size_t e = 0; e < n; e++) {
            float *face = graphss_i_face(g, (size_t)near[e]);
            for (size_t c = 0; c < width; c++)
                prob[c] += (double)face[c0 + c];
            for (size_t v = 0; v < GRAPHSS_I_VOICES; v++)
                for (size_t c = 0; c < width; c++)
                    leans[v][c] += (double)graphss_i_face_leans(face, v, k)[c0 + c];
            if (c0 == 0 && to > from)
                meet_one(&met, own, face, k, (double)n);
        }
        for (size_t c = 0; c < width; c++) {
            const double p = prob[c] * each;
            met.believed += (double)own[c0 + c] * p;
            met.vote -= p > 0 && to > from ? p * log(p) : 0;
            for (size_t v = 0; v < GRAPHSS_I_VOICES; v++) {
                const double x = (double)graphss_i_face_leans(own, v, k)[c0 + c];
                met.heard[v] += x * p;
                met.alike[v] += x * leans[v][c] * each;
            }
        }
    }
    for (size_t v = 0; v < GRAPHSS_I_VOICES; v++)
        met.margin[v] /= (double)n;
    return met;
}

/* Columns of one voice: 11. */
static void glance_voice(float *column, const graphss_i_glance *g, const company *met,
                         size_t v, size_t node)
{
    const size_t k = g->k;
    const double unit = g->voice[v].unit;
    float *face = graphss_i_face(g, node);
    const float *says = g->says[v] + node * k, *leans = graphss_i_face_leans(face, v, k);
    const size_t best = graphss_i_top(says, k);
    column[0] = (float)log1p((double)graphss_i_face_margin(face, k)[v] / unit);
    column[1] = (float)log1p(fmax((double)says[best], 0) / unit);
    strong_words(column + 2, graphss_i_row_of(g->features, node),
                 g->voice[v].by_class + best * g->features->n_cols);
    column[4] = (float)log(met->heard[v] + SMALL);
    column[5] = (float)log(met->alike[v] + SMALL);
    column[6] = (float)log(dot(leans, face, k) + SMALL);
    column[7] = (float)entropy(leans, k);
    column[8] = leans[graphss_i_top(leans, k)];
    column[9] = (float)log1p(met->margin[v] / unit);
    column[10] = (float)log1p(met->largest[v] / unit);
}

void graphss_i_glance_ahead(const graphss_i_glance *g, size_t node)
{
    enum { LINE = 64 / sizeof(float) };
    const size_t width = graphss_i_face_width(g->k);
    for (int64_t e = g->graph->offset[node]; e < g->graph->offset[node + 1]; e++) {
        const float *face = graphss_i_face(g, (size_t)g->graph->target[e]);
        for (size_t c = 0; c < width; c += LINE)
            __builtin_prefetch(face + c);
    }
}

void graphss_i_glance_now(float *column, const graphss_i_glance *g, size_t node)
{
    enum { OF_VOICE = 11, ALONE = 8 };
    _Static_assert(ALONE + OF_VOICE * GRAPHSS_I_VOICES == GRAPHSS_I_GLANCE_NOW, "columns");
    float *face = graphss_i_face(g, node);
    const company met = meet(g, node);
    column[0] = (float)log1p((double)graphss_i_row_count(graphss_i_row_of(g->features, node)));
    column[1] = *graphss_i_face_reach(face, g->k);
    column[2] = (float)log(met.believed + SMALL);
    column[3] = (float)entropy(face, g->k);
    column[4] = (float)met.vote;
    column[5] = (float)met.agree;
    column[6] = (float)met.reach;
    column[7] = (float)met.nearest;
    for (size_t v = 0; v < GRAPHSS_I_VOICES; v++)
        glance_voice(column + ALONE + v * OF_VOICE, g, &met, v, node);
}

/* ---- a node against its past ---- */

/* Of dense rows: as many values, drawn anew, would make that difference,
 *   d |a - b|^2 / (|a|^2 + |b|^2), at least 1 where they are not the same. */
static int32_t values_changed(graphss_i_row a, graphss_i_row b)
{
    const size_t d = a.column ? b.n : a.n;
    double apart = 0, length = 0;
    for (size_t j = 0, at_a = 0, at_b = 0; j < d; j++) {
        const double x = (double)graphss_i_row_value(a, &at_a, j);
        const double y = (double)graphss_i_row_value(b, &at_b, j);
        apart += (x - y) * (x - y);
        length += x * x + y * y;
    }
    return apart > 0 ? (int32_t)fmin(ceil((double)d * apart / length), (double)d) : 0;
}

/* Words in one row and not in the other, and those in both whose value is another. Of dense
 * rows none is gone. */
static void words_changed(graphss_i_change *c, graphss_i_row now, graphss_i_row then)
{
    if (!now.column || !then.column) {
        c->words = values_changed(now, then);
        return;
    }
    for (size_t i = 0, j = 0; i < now.n || j < then.n;) {
        const int64_t p = i < now.n ? now.column[i] : INT64_MAX;
        const int64_t q = j < then.n ? then.column[j] : INT64_MAX;
        const float x = p <= q ? now.value[i] : 0, y = q <= p ? then.value[j] : 0;
        c->words += x != y;
        c->dropped += x == 0 && y != 0;
        c->valued += x != 0 && y != 0 && x != y;
        i += p <= q;
        j += q <= p;
    }
}

/* How far belief moved: 6 columns. p: before, q: now. */
static void movement(float *column, const float *p, const float *q, size_t k)
{
    const size_t was = graphss_i_top(p, k);
    double there = 0, back = 0, distance = 0, gain = -1;
    for (size_t c = 0; c < k; c++) {
        const double a = (double)p[c], b = (double)q[c];
        const double ratio = log((a + LEAST) / (b + LEAST));
        there += a * ratio;
        back -= b * ratio;
        distance += 0.5 * fabs(a - b);
        if (c != was)
            gain = fmax(gain, b - a);
    }
    column[0] = (float)sqrt(fmax(there, 0));
    column[1] = (float)sqrt(fmax(back, 0));
    column[2] = (float)log(((double)p[was] + LEAST) / ((double)q[was] + LEAST));
    column[3] = (float)gain;
    column[4] = graphss_i_top(q, k) != was;
    column[5] = (float)distance;
}

/* How the change of words pushes from the class the node had, and how strong it is. */
static void push(float *column, const float *said, const float *says, size_t was, size_t k,
                 double unit)
{
    const double own = (double)says[was] - (double)said[was];
    double most = k > 1 ? -INFINITY : 0, largest = 0;
    for (size_t c = 0; c < k; c++) {
        const double moved = (double)says[c] - (double)said[c];
        largest = fmax(largest, fabs(moved));
        if (c != was)
            most = fmax(most, moved - own);
    }
    column[0] = (float)asinh(most / unit);
    column[1] = (float)log1p(largest / unit);
}

void graphss_i_glance_past(float *column, graphss_i_change *change, const graphss_i_glance *g,
                           const graphss_i_glance *past, const int32_t *before, size_t node)
{
    const size_t k = g->k;
    memset(column, 0, GRAPHSS_I_GLANCE_PAST * sizeof *column);
    *change = (graphss_i_change){0};
    if (before[node] < 0)
        return;
    const size_t was_node = (size_t)before[node];
    const float *p = past->prob + was_node * k, *q = g->prob + node * k;
    const size_t was = graphss_i_top(p, k);
    const size_t degree = graphss_graph_degree(g->graph, node);
    const size_t degree_before = graphss_graph_degree(past->graph, was_node);
    size_t kept = 0, joined = 0;
    double agree_new = 0, agree = 0;
    for (int64_t e = g->graph->offset[node]; e < g->graph->offset[node + 1]; e++) {
        const size_t u = (size_t)g->graph->target[e];
        const bool known = before[u] >= 0;
        const float *belief = known ? past->prob + (size_t)before[u] * k : g->prob + u * k;
        const double x = dot(p, belief, k);
        agree += x;
        if (known && graphss_graph_has_edge(past->graph, before[node], before[u])) {
            kept++;
        } else {
            joined++;
            agree_new += x;
        }
    }
    const graphss_i_row now = graphss_i_row_of(g->features, node),
                        then = graphss_i_row_of(past->features, was_node);
    change->cut = (int32_t)(degree_before - kept);
    change->links = (int32_t)joined + change->cut;
    words_changed(change, now, then);
    movement(column, p, q, k);
    column[6] = (float)log1p((double)change->words);
    column[7] = (float)(log1p((double)graphss_i_row_count(now)) -
                        log1p((double)graphss_i_row_count(then)));
    column[8] = (float)log1p((double)change->links);
    column[9] = (float)(log1p((double)degree) - log1p((double)degree_before));
    for (size_t v = 0; v < GRAPHSS_I_VOICES; v++)
        push(column + 10 + 2 * v, past->says[v] + was_node * k, g->says[v] + node * k, was, k,
             g->voice[v].unit);
    column[14] = joined ? (float)log(agree_new / (double)joined + SMALL) : 0;
    if (change->links) {
        const double vote = degree ? agree / (double)degree : dot(p, p, k);
        column[15] = (float)(log(vote + SMALL) -
                             log(meets(p, past->prob, past->graph, was_node, k) + SMALL));
    }
}
