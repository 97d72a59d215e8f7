/* attack_type.c - which of the rehearsed attacks it was.
 *
 * One softmax tells the attacks from one another and from untouched nodes, so a kind must
 * explain the suspects better than the others do. Gates that were fitted on one attack each
 * were all content with any odd node. A ratio is worth 1 on average for an untouched node;
 * what clean nodes have in excess of that is taken off: the classifier knows the training
 * nodes, and others look a little like copies beside them. What changed since the past rules
 * attacks out. */
#include "alert/detector.h"
#include <math.h>
#include <stdlib.h>

enum {
    ROWS = 256,
    NAME_MOST = 1500 /* nodes that tell which attack it was, and as many clean ones */
};
static const double RATIO_MOST = 8;

static double ratio(double odds)
{
    return exp(fmin(RATIO_MOST, fmax(-RATIO_MOST, odds)));
}

/* max over shares of the log likelihood of a mixture, sum over nodes of
 * log(1 - share + share * ratio) */
static double explains(const double *odds, size_t n, double excess)
{
    static const double share[] = {0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8};
    double best = -INFINITY;
    for (size_t s = 0; s < sizeof share / sizeof *share; s++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += log(1 - share[s] + share[s] * ratio(odds[i]) / excess);
        best = fmax(best, sum);
    }
    return best;
}

/* The mean ratio, where it is more than 1. */
static double excess_of(const double *odds, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += ratio(odds[i]);
    return n ? fmax(1, sum / (double)n) : 1;
}

/* With a past: an attack that changes what did not change in any of the nodes is none of
 * those it can have been. */
static bool possible(size_t kind, const graphss_i_look *x, const int32_t *node, size_t n)
{
    size_t links = 0, words = 0;
    for (size_t i = 0; i < n && x->change; i++) {
        links += x->change[node[i]].links > 0;
        words += x->change[node[i]].words > 0;
    }
    if (!links == !words)
        return true;
    return kind == (links ? GRAPHSS_I_REHEARSED_EDGES : GRAPHSS_I_REHEARSED_WORDS);
}

/* Nodes by odds, to be sorted. */
typedef struct suspect {
    double odds;
    int32_t node;
} suspect;

static int likelier_first(const void *a, const void *b)
{
    const suspect *x = a, *y = b;
    return x->odds != y->odds ? (x->odds < y->odds ? 1 : -1) : x->node - y->node;
}

/* Attacks against untouched nodes, and what they make of nodes. */
typedef struct naming {
    const graphss_i_look *x;
    const int32_t *node; /* [n] */
    size_t n;
    double *odds; /* [REHEARSED x n] */
} naming;

static void name_rows(void *arg, size_t task)
{
    const naming *w = arg;
    const size_t end = graphss_i_task_end(task, w->n, ROWS);
    for (size_t i = task * ROWS; i < end; i++) {
        double odds[GRAPHSS_I_REHEARSED];
        graphss_i_change change;
        graphss_i_look_odds(odds, w->x, w->x->gates.kind, GRAPHSS_I_REHEARSED, &w->x->now,
                            (size_t)w->node[i], &change);
        for (size_t a = 0; a < GRAPHSS_I_REHEARSED; a++)
            w->odds[a * w->n + i] = odds[a];
    }
}

/* The n likeliest of them, then some clean nodes: how many are written. */
static size_t list_nodes(int32_t *out, suspect *list, const graphss_i_look *x,
                         const int32_t *node, size_t n, size_t most)
{
    const size_t clean = x->n_calm < NAME_MOST ? x->n_calm : NAME_MOST;
    for (size_t i = 0; i < n; i++)
        list[i] = (suspect){x->odds[node[i]], node[i]};
    if (n > most) /* the others tell little of the attack */
        qsort(list, n, sizeof *list, likelier_first);
    for (size_t i = 0; i < most; i++)
        out[i] = list[i].node;
    for (size_t i = 0; i < clean; i++)
        out[most + i] = x->calm[i];
    return most + clean;
}

graphss_status graphss_i_look_name(graphss_ctx *ctx, size_t *kind, const graphss_i_look *x,
                                   const int32_t *node, size_t n)
{
    double best = -INFINITY;
    const size_t most = n < NAME_MOST ? n : NAME_MOST, room = most + NAME_MOST;
    suspect *list = graphss_i_alloc(ctx, n, sizeof *list);
    int32_t *asked = graphss_i_alloc(ctx, room, sizeof *asked);
    double *odds = graphss_i_alloc(ctx, GRAPHSS_I_REHEARSED * room, sizeof *odds);
    graphss_status st = list && asked && odds ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    *kind = 0;
    if (st)
        goto done;
    naming w = {
        .x = x, .node = asked, .n = list_nodes(asked, list, x, node, n, most), .odds = odds};
    graphss_i_parallel(ctx, graphss_i_tasks(w.n, ROWS), name_rows, &w);
    for (size_t a = 0; a < GRAPHSS_I_REHEARSED; a++) {
        const double *own = odds + a * w.n;
        const double found = explains(own, most, excess_of(own + most, w.n - most));
        if (found > best && possible(a, x, asked, most)) {
            best = found;
            *kind = a;
        }
    }
done:
    graphss_release(ctx, odds);
    graphss_release(ctx, asked);
    graphss_release(ctx, list);
    return st;
}
