/* calibration.c - the clean nodes that each kind of node is compared with.
 *
 * With history changed nodes are compared with changed validation nodes, so that benign churn
 * raises no alert; where the snapshot has none, or none that will do, with validation nodes
 * that are churned as much in a second rehearsal. */
#include "alert/detector.h"
#include "graph/rows.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHURN_MOST = 1000, /* validation nodes churned in the second rehearsal, */
    EACH_LEAST = 40    /* of which each kind gets so many, if there are as many */
};
/* Standard errors by which nodes without a label may change more than clean ones. */
static const double MORE_ERRORS = 3;
/* Chance that a validation node that changed looks worse than a churned one, and standard
 * errors of it, above which it is no clean node. */
static const double WORSE = 0.65, WORSE_ERRORS = 4;

/* Kinds that changed, each beside those most like it, the least change last. */
static const int32_t order[] = {GRAPHSS_I_OTHER_WORDS, GRAPHSS_I_WORDS_AND_EDGES,
                                GRAPHSS_I_MOST_EDGES,  GRAPHSS_I_MORE_EDGES,
                                GRAPHSS_I_MANY_EDGES,  GRAPHSS_I_FEW_EDGES,
                                GRAPHSS_I_TWO_EDGES,   GRAPHSS_I_ONE_EDGE};

static int32_t kind_of(const graphss_i_change *c)
{
    static const int32_t by_links[] = {GRAPHSS_I_SAME, GRAPHSS_I_ONE_EDGE, GRAPHSS_I_TWO_EDGES,
                                       GRAPHSS_I_FEW_EDGES, GRAPHSS_I_FEW_EDGES};
    const size_t known = sizeof by_links / sizeof *by_links;
    if (c->words)
        return c->links ? GRAPHSS_I_WORDS_AND_EDGES : GRAPHSS_I_OTHER_WORDS;
    if ((size_t)c->links < known)
        return by_links[c->links];
    return c->links <= 8    ? GRAPHSS_I_MANY_EDGES
           : c->links <= 16 ? GRAPHSS_I_MORE_EDGES
                            : GRAPHSS_I_MOST_EDGES;
}

static void add_calm(graphss_i_calm *list, int32_t node, double odds)
{
    list->node[list->n] = node;
    list->odds[list->n++] = odds;
}

/* Nodes of the kinds that lack clean nodes, but for some, kind by kind. */
typedef struct models {
    int32_t *node;
    size_t start[GRAPHSS_I_CHANGED + 1];
    int32_t lacking[GRAPHSS_I_CHANGED];
    size_t n_lacking;
} models;

static void list_models(models *m, const graphss_i_look *x, const int32_t *kind,
                        const graphss_i_calm *list, const uint8_t *others)
{
    size_t n = 0;
    for (int32_t c = 0; c < GRAPHSS_I_CHANGED; c++) {
        m->start[c] = n;
        for (size_t i = 0; i < x->n && list[c].rehearsed; i++)
            if (kind[i] == c && !others[i])
                m->node[n++] = (int32_t)i;
        if (n > m->start[c])
            m->lacking[m->n_lacking++] = c;
    }
    m->start[GRAPHSS_I_CHANGED] = n;
}

/* Links and words a node has or had. */
typedef struct length {
    double links, words;
} length;

static length length_of(const graphss_i_look *x, size_t node)
{
    const graphss_i_change *c = &x->change[node];
    const graphss_i_row r = graphss_i_row_of(x->in->current.features, node);
    return (length){(double)graphss_graph_degree(x->in->current.graph, node) + c->cut,
                    (double)graphss_i_row_count(r) + c->dropped};
}

/* What share of its links and words a node changed: 0 to 2. */
static double share_changed(const graphss_i_look *x, size_t node)
{
    const graphss_i_change *c = &x->change[node];
    const length all = length_of(x, node);
    return c->links / fmax(all.links, 1) + c->words / fmax(all.words, 1);
}

/* Of so many a share, at least 1 where there was any. */
static int64_t part_of(int32_t count, double own, double other)
{
    return count ? (int64_t)fmax(1, round(count * own / fmax(other, 1))) : 0;
}

/* What can be lost is lost in proportion: a third of the words of a long row is more than a
 * short one has. */
graphss_i_churning graphss_i_look_likewise(const graphss_i_look *x, size_t model, size_t node)
{
    const graphss_i_change *c = &x->change[model];
    const length own = length_of(x, node), other = length_of(x, model);
    return (graphss_i_churning){.joins = c->links - c->cut,
                                .cuts = part_of(c->cut, own.links, other.links),
                                .adds = c->words - c->dropped - c->valued,
                                .drops = part_of(c->dropped, own.words, other.words),
                                .values = part_of(c->valued, own.words, other.words)};
}

/* Each of n nodes changes as a random node did, links joined and cut, words come and gone:
 * some for each kind, the others as the kinds are. */
static void draw_changes(graphss_i_churning *churn, const int32_t *node, size_t n,
                         const graphss_i_look *x, const models *m, graphss_rng *rng)
{
    for (size_t i = 0; i < n; i++) {
        size_t from = 0, to = m->start[GRAPHSS_I_CHANGED];
        if (i < EACH_LEAST * m->n_lacking) {
            const int32_t c = m->lacking[i % m->n_lacking];
            from = m->start[c];
            to = m->start[c + 1];
        }
        const size_t at = from + (size_t)graphss_rng_below(rng, to - from);
        churn[i] = graphss_i_look_likewise(x, (size_t)m->node[at], (size_t)node[i]);
    }
}

/* Validation nodes, churned as much as the nodes, but for others [n], of the kinds that lack
 * clean ones; those that changed in a way that is not trusted are left out. */
static graphss_status churn_calm(graphss_ctx *ctx, graphss_i_calm *list,
                                 const graphss_i_look *x, const int32_t *kind,
                                 const uint8_t *others, const bool *hostile)
{
    const size_t most = x->n_calm < CHURN_MOST ? x->n_calm : CHURN_MOST;
    graphss_rng rng = graphss_rng_make(x->in->seed, GRAPHSS_STREAM_DEFENCE);
    int32_t *node = graphss_i_alloc(ctx, most, sizeof *node);
    graphss_i_churning *churn = graphss_i_alloc(ctx, most, sizeof *churn);
    models m = {.node = graphss_i_alloc(ctx, x->n, sizeof *m.node)};
    graphss_i_stage s = {0};
    graphss_status st = node && m.node && churn ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    if (st)
        goto done;
    size_t n = 0;
    list_models(&m, x, kind, list, others);
    for (size_t i = 0; i < x->n_calm && n < most; i++)
        if (x->before[x->calm[i]] >= 0 && !hostile[kind[x->calm[i]]])
            node[n++] = x->calm[i];
    if (m.n_lacking == 0 || n == 0)
        goto done;
    draw_changes(churn, node, n, x, &m, &rng);
    graphss_i_rehearsal in = {.churned = node, .n_churned = n, .churn = churn};
    st = graphss_i_stage_open(ctx, &s, x, &in);
    for (size_t i = 0; i < n && !st; i++) {
        graphss_i_change change;
        double odds;
        graphss_i_look_odds(&odds, x, &x->gates.hit, 1, &s.seen, (size_t)node[i], &change);
        graphss_i_calm *own = &list[kind_of(&change)];
        if (own->rehearsed)
            add_calm(own, node[i], odds);
    }
done:
    graphss_i_stage_close(ctx, &s);
    graphss_release(ctx, churn);
    graphss_release(ctx, m.node);
    graphss_release(ctx, node);
    return st;
}

/* Do the nodes of the first look worse than those of the second? By the chance that one does,
 * and by its standard error where they are alike. Sorts the second. */
static bool look_worse(const graphss_i_calm *a, graphss_i_calm *b)
{
    const double n_a = (double)a->n, n_b = (double)b->n;
    double sum = 0;
    if (a->n == 0 || b->n == 0)
        return false;
    qsort(b->odds, b->n, sizeof *b->odds, graphss_i_compare_doubles);
    for (size_t i = 0; i < a->n; i++)
        sum += (double)graphss_i_count_less(b->odds, b->n, a->odds[i]);
    const double chance = sum / (n_a * n_b);
    return chance > WORSE &&
           chance - 0.5 > WORSE_ERRORS * sqrt((n_a + n_b + 1) / (12 * n_a * n_b));
}

/* An attacker who does not know the split hits validation nodes, too, and compared with those
 * the others would look calm. So validation nodes that changed are first compared with ones
 * that did not and are churned as much. Those with one link are not asked: ends of hostile
 * links look hostile, and ends among the others are to be compared with them. */
static graphss_status find_hostile(graphss_ctx *ctx, bool *hostile, const graphss_i_calm *list,
                                   const graphss_i_look *x, const int32_t *kind)
{
    bool changed[GRAPHSS_I_CHANGED] = {0}, any = false;
    graphss_i_calm churned[GRAPHSS_I_CHANGED] = {0};
    for (size_t c = 0; c < GRAPHSS_I_CHANGED; c++) {
        changed[c] = graphss_i_changed_kind(c);
        churned[c].rehearsed =
            changed[c] && c != GRAPHSS_I_ONE_EDGE && list[c].n >= GRAPHSS_I_CALM_LEAST;
        any = any || churned[c].rehearsed;
    }
    if (!any || list[GRAPHSS_I_SAME].n < GRAPHSS_I_CALM_LEAST)
        return GRAPHSS_OK;
    uint8_t *others = graphss_i_alloc(ctx, x->n, sizeof *others);
    bool good = others != NULL;
    for (size_t c = 0; c < GRAPHSS_I_CHANGED; c++) {
        churned[c].node = graphss_i_alloc(ctx, x->n_calm, sizeof *churned[c].node);
        churned[c].odds = graphss_i_alloc(ctx, x->n_calm, sizeof *churned[c].odds);
        good = good && churned[c].node && churned[c].odds;
    }
    graphss_status st = good ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    if (!st) {
        memset(others, 1, x->n * sizeof *others);
        for (size_t i = 0; i < x->n_calm; i++)
            others[x->calm[i]] = 0;
        st = churn_calm(ctx, churned, x, kind, others, changed);
    }
    for (size_t c = 0; c < GRAPHSS_I_CHANGED && !st; c++)
        hostile[c] = churned[c].rehearsed && look_worse(&list[c], &churned[c]);
    for (size_t c = 0; c < GRAPHSS_I_CHANGED; c++) {
        graphss_release(ctx, churned[c].node);
        graphss_release(ctx, churned[c].odds);
    }
    graphss_release(ctx, others);
    return st;
}

/* Mean and variance of what some nodes changed. */
typedef struct moments {
    double n, sum, square;
} moments;

static void add_share(moments *m, double share)
{
    m->n++;
    m->sum += share;
    m->square += share * share;
}

/* Did the nodes of the first change more of themselves, on average, than those of the second?
 * A node of 60 links that gets four is no measure for one of ten that does: of links that
 * arrive at nodes without a label validation nodes see the other ends. */
static bool changed_more(const moments *a, const moments *b)
{
    if (a->n < 2 || b->n < 2)
        return false;
    const double mean_a = a->sum / a->n, mean_b = b->sum / b->n;
    const double error_a = (a->square / a->n - mean_a * mean_a) / (a->n - 1);
    const double error_b = (b->square / b->n - mean_b * mean_b) / (b->n - 1);
    return mean_a - mean_b > MORE_ERRORS * sqrt(fmax(error_a + error_b, 0)) + 1e-9;
}

/* Kinds whose changed validation nodes are too few, or hostile, or changed too little, to
 * compare with. */
static bool find_lacking(graphss_i_calm *list, const graphss_i_look *x, const int32_t *kind,
                         const uint8_t *labelled, const bool *hostile)
{
    moments free[GRAPHSS_I_CHANGED] = {{0}}, calm[GRAPHSS_I_CHANGED] = {{0}};
    bool lacking = false;
    for (size_t i = 0; i < x->n && x->before; i++)
        if (!labelled[i] && graphss_i_changed_kind((size_t)kind[i]))
            add_share(&free[kind[i]], share_changed(x, i));
    for (size_t i = 0; i < x->n_calm && x->before; i++)
        if (graphss_i_changed_kind((size_t)kind[x->calm[i]]))
            add_share(&calm[kind[x->calm[i]]], share_changed(x, (size_t)x->calm[i]));
    for (size_t c = 0; c < GRAPHSS_I_CHANGED; c++)
        if (free[c].n > 0 && (list[c].n < GRAPHSS_I_CALM_LEAST || hostile[c] ||
                              changed_more(&free[c], &calm[c]))) {
            list[c].n = 0;
            list[c].rehearsed = lacking = true;
        }
    return lacking;
}

/* Few nodes, churned for many kinds, may leave one without any: its nodes are then judged
 * among those that changed a little more, if there are such. */
static void lend(int32_t *kind, size_t n, const graphss_i_calm *list)
{
    const int32_t kinds = sizeof order / sizeof *order;
    int32_t judged[GRAPHSS_I_CHANGED];
    for (int32_t c = 0; c < GRAPHSS_I_CHANGED; c++)
        judged[c] = c;
    for (int32_t i = 0; i < kinds; i++)
        for (int32_t d = 1; d < kinds && list[judged[order[i]]].n == 0; d++)
            for (int32_t at = i + d; at >= i - d; at -= 2 * d)
                if (at >= 0 && at < kinds && list[order[at]].n)
                    judged[order[i]] = order[at];
    for (size_t i = 0; i < n; i++)
        kind[i] = judged[kind[i]];
}

graphss_status graphss_i_look_calm(graphss_ctx *ctx, graphss_i_calm *list,
                                   const graphss_i_look *x, int32_t *kind,
                                   const uint8_t *labelled)
{
    size_t used[GRAPHSS_I_CHANGED] = {0};
    graphss_status st = GRAPHSS_OK;
    for (size_t i = 0; i < x->n; i++) {
        const bool seen = x->before && x->before[i] >= 0;
        kind[i] = seen ? kind_of(&x->change[i]) : GRAPHSS_I_NO_PAST;
        used[kind[i]] += !labelled[i];
    }
    for (size_t i = 0; i < x->n_calm; i++) {
        const size_t node = (size_t)x->calm[i];
        if (kind[node] != GRAPHSS_I_NO_PAST)
            add_calm(&list[kind[node]], x->calm[i], x->odds[node]);
        if (!x->before)
            add_calm(&list[GRAPHSS_I_NO_PAST], x->calm[i], x->odds[node]);
        else if (used[GRAPHSS_I_NO_PAST]) {
            float column[GRAPHSS_I_GLANCE_MOST];
            graphss_i_glance_now(column, &x->now, node);
            add_calm(&list[GRAPHSS_I_NO_PAST], x->calm[i],
                     graphss_i_logistic_odds(&x->gates.hit[GRAPHSS_I_EYE_NOW], column));
        }
    }
    bool hostile[GRAPHSS_I_CHANGED] = {0};
    if (x->before)
        st = find_hostile(ctx, hostile, list, x, kind);
    if (!st && find_lacking(list, x, kind, labelled, hostile))
        st = churn_calm(ctx, list, x, kind, labelled, hostile);
    if (x->before)
        lend(kind, x->n, list);
    int32_t like = GRAPHSS_I_SAME; /* all clean nodes changed: others are judged among those */
    for (size_t i = sizeof order / sizeof *order; i-- > 0 && list[like].n == 0;)
        if (list[order[i]].n)
            like = order[i];
    for (size_t i = 0; i < x->n && !st; i++)
        if (kind[i] == GRAPHSS_I_SAME)
            kind[i] = like;
    return st;
}
