/* look_name.c - which of the rehearsed attacks it was: a gate for each, fitted on its rows of
 * the rehearsal alone; the one whose odds explain the suspects best names it. */
#include "defence/look.h"
#include <math.h>
#include <stdlib.h>

enum {
    ROWS = 256,
    NAME_MOST = 4000 /* nodes that tell which attack it was */
};
static const double RATIO_MOST = 8;

/* max over shares of the log likelihood of a mixture, sum over nodes of
 * log(1 - share + share * ratio) */
static double explains(const double *odds, size_t n)
{
    static const double share[] = {0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8};
    double best = -INFINITY;
    for (size_t s = 0; s < sizeof share / sizeof *share; s++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += log(1 - share[s] +
                       share[s] * exp(fmin(RATIO_MOST, fmax(-RATIO_MOST, odds[i]))));
        best = fmax(best, sum);
    }
    return best;
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

/* Gates of single attacks and what they make of the suspects. */
typedef struct naming {
    const graphss_i_look *x;
    const suspect *suspect;
    size_t n;
    double *odds; /* [REHEARSED x n] */
    graphss_i_gate gate[GRAPHSS_I_REHEARSED][GRAPHSS_I_EYES];
} naming;

static void name_rows(void *arg, size_t task)
{
    const naming *w = arg;
    const size_t end = graphss_i_task_end(task, w->n, ROWS);
    for (size_t i = task * ROWS; i < end; i++) {
        double odds[GRAPHSS_I_REHEARSED];
        graphss_i_change change;
        graphss_i_look_odds(odds, w->x, w->gate, GRAPHSS_I_REHEARSED, &w->x->now,
                (size_t)w->suspect[i].node, &change);
        for (size_t a = 0; a < GRAPHSS_I_REHEARSED; a++)
            w->odds[a * w->n + i] = odds[a];
    }
}

graphss_status graphss_i_look_name(graphss_ctx *ctx, size_t *kind, const graphss_i_look *x,
                                   const int32_t *node, size_t n)
{
    double best = -INFINITY;
    const size_t most = n < NAME_MOST ? n : NAME_MOST;
    suspect *list = graphss_i_alloc(ctx, n, sizeof *list);
    naming *w = graphss_i_calloc(ctx, 1, sizeof *w);
    double *odds = graphss_i_alloc(ctx, GRAPHSS_I_REHEARSED * most, sizeof *odds);
    graphss_status st = list && w && odds ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    *kind = 0;
    if (st)
        goto done;
    for (size_t i = 0; i < n; i++)
        list[i] = (suspect){x->odds[node[i]], node[i]};
    if (n > most) /* the others tell little of the attack */
        qsort(list, n, sizeof *list, likelier_first);
    w->x = x;
    w->suspect = list;
    w->n = most;
    w->odds = odds;
    for (size_t a = 0; a < GRAPHSS_I_REHEARSED && !st; a++)
        for (size_t e = 0; e < (x->before ? GRAPHSS_I_EYES : 1) && !st; e++) {
            w->gate[a][e] = x->gate[e];
            st = graphss_i_look_fit(ctx, &w->gate[a][e], x, e, a);
        }
    if (st)
        goto done;
    graphss_i_parallel(ctx, (most + ROWS - 1) / ROWS, name_rows, w);
    for (size_t a = 0; a < GRAPHSS_I_REHEARSED; a++) {
        const double found = explains(odds + a * most, most);
        if (found > best) {
            best = found;
            *kind = a;
        }
    }
done:
    graphss_release(ctx, odds);
    graphss_release(ctx, w);
    graphss_release(ctx, list);
    return st;
}
