/* live_test.c - ranks changed nodes, bets, checks and raises alerts. See sequential.h.
 *
 * A node is ranked by its suspicion among changes of its kind when it first differs from the
 * trusted snapshot. When it changes again, it is ranked by the rise of its suspicion since,
 * among other such rises: an unusual node that changes every hour must not count every hour,
 * while a slow rise at one node does. */
#include "live/live_private.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- groups ---- */

graphss_status graphss_i_live_group_add(graphss_ctx *ctx, graphss_live *x, const char *name)
{
    graphss_i_live_group *more =
        graphss_i_grow(ctx, x->group, x->n_groups, x->n_groups + 1, sizeof *more);
    if (!more)
        return GRAPHSS_ERR_NOMEM;
    x->group = more;
    x->group[x->n_groups] = (graphss_i_live_group){.name = graphss_i_strdup(ctx, name)};
    if (!x->group[x->n_groups].name)
        return GRAPHSS_ERR_NOMEM;
    x->n_groups++;
    return GRAPHSS_OK;
}

graphss_status graphss_live_watch(
    graphss_ctx *ctx, graphss_live *x, const char *group, const char *const *member, size_t n)
{
    if (GRAPHSS_I_LACKS(ctx, {"live graph", x}, {"name of the group", group},
            {"names", GRAPHSS_I_FILLED(member, n)}))
        return GRAPHSS_ERR_INVALID;
    if (!*group || !strcmp(group, "all") || n == 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "group '%s' of %zu nodes: want another name than all, and nodes", group, n);
    size_t g = 1;
    while (g < x->n_groups && strcmp(x->group[g].name, group))
        g++;
    if (g == GRAPHSS_LIVE_GROUPS)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_LIMIT, "more than %d groups", (int)GRAPHSS_LIVE_GROUPS);
    graphss_i_live_names names = {0};
    graphss_status st = GRAPHSS_OK;
    for (size_t i = 0; i < n && !st; i++)
        if (graphss_i_live_names_find(&names, member[i]) < 0)
            st = graphss_i_live_names_put(ctx, &names, names.n, member[i]);
    if (!st && g == x->n_groups)
        st = graphss_i_live_group_add(ctx, x, group);
    if (st) {
        graphss_i_live_names_destroy(ctx, &names);
        return st;
    }
    graphss_i_live_names_destroy(ctx, &x->group[g].member);
    x->group[g].member = names;
    return GRAPHSS_OK;
}

static bool belongs(const graphss_live *x, const graphss_i_live_group *g, size_t node)
{
    const char *name = graphss_i_live_names_get(&x->names, node);
    return g->member.n == 0 || (name && graphss_i_live_names_find(&g->member, name) >= 0);
}

/* All nodes have half of the false alarms that are allowed, the other groups the other half
 * together; without other groups all have all. */
double graphss_i_live_threshold(const graphss_live *x, size_t group)
{
    const double share = x->n_groups == 1 ? 1
                         : group == 0     ? 0.5
                                          : 0.5 / (double)(x->n_groups - 1);
    const double checks = x->opt.period / x->opt.check_every / x->opt.false_alarms / share;
    return checks > 2 ? checks : 2;
}

void graphss_live_group_get(const graphss_live *x, graphss_live_group *out, size_t i)
{
    const graphss_i_live_group *g = &x->group[i];
    *out = (graphss_live_group){.name = g->name,
        .members = g->member.n,
        .e_value = graphss_i_bets_value(&g->bets),
        .threshold = graphss_i_live_threshold(x, i),
        .p_value = graphss_i_bets_p_value(&g->bets),
        .judged = g->bets.judged,
        .open = g->alert != 0};
}

/* ---- suspicion of changed nodes ---- */

/* Suspicion of changed nodes [m], in place. */
static graphss_status suspect(graphss_ctx *ctx, graphss_live *x, const int32_t *node, size_t m)
{
    double *suspicion = graphss_i_alloc(ctx, m, sizeof *suspicion);
    const graphss_status st =
        suspicion ? graphss_i_live_evidence(ctx, x, suspicion, NULL, NULL, node, m)
                  : GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < m && !st; i++) {
        graphss_i_live_changed *c = &x->changed[x->record[node[i]]];
        const graphss_live_kind kind = graphss_i_live_kind_of(x, (size_t)node[i], NULL);
        c->suspicion = suspicion[i];
        c->judged_at = x->batch;
        c->p_value = kind == GRAPHSS_LIVE_SAME
                         ? 1
                         : graphss_i_score_counts_rank(&x->reference[kind], suspicion[i], 1);
    }
    graphss_release(ctx, suspicion);
    return st;
}

graphss_status graphss_i_live_refresh(graphss_ctx *ctx, graphss_live *x)
{
    if (!x->has_states)
        return GRAPHSS_OK;
    int32_t *list = graphss_i_alloc(ctx, x->n_changed, sizeof *list);
    size_t n = 0;
    if (!list)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < x->n_changed; i++)
        if (x->alive[x->changed[i].node] && !graphss_i_live_fresh(x, &x->changed[i]))
            list[n++] = x->changed[i].node;
    const graphss_status st = n ? suspect(ctx, x, list, n) : GRAPHSS_OK;
    graphss_release(ctx, list);
    return st;
}

/* ---- alerts ---- */

typedef struct ranked {
    double p, score;
    int32_t node;
} ranked;

static int by_p(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->p != y->p)
        return x->p < y->p ? -1 : 1;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

/* Changed nodes of a group (SIZE_MAX: of all), least p-value first. The caller releases. */
static graphss_status rank_changed(
    graphss_ctx *ctx, ranked **out, size_t *n, const graphss_live *x, size_t group)
{
    ranked *list = graphss_i_alloc(ctx, x->n_changed, sizeof *list);
    size_t count = 0;
    if (!list)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < x->n_changed; i++) {
        const graphss_i_live_changed *c = &x->changed[i];
        if (x->alive[c->node] && c->judged_at && c->p_value < 1 &&
            (group == SIZE_MAX || belongs(x, &x->group[group], (size_t)c->node)))
            list[count++] = (ranked){c->p_value, c->suspicion, c->node};
    }
    qsort(list, count, sizeof *list, by_p);
    *out = list;
    *n = count;
    return GRAPHSS_OK;
}

graphss_status graphss_live_suspects(
    graphss_ctx *ctx, graphss_live *x, int32_t *node, size_t *n)
{
    ranked *list = NULL;
    size_t count = 0;
    if (GRAPHSS_I_LACKS(ctx, {"live graph", x}, {"number of nodes", n},
            {"place for nodes", GRAPHSS_I_FILLED(node, n ? *n : 1)}))
        return GRAPHSS_ERR_INVALID;
    graphss_status st = graphss_i_live_refresh(ctx, x);
    if (!st)
        st = rank_changed(ctx, &list, &count, x, SIZE_MAX);
    if (st)
        return st;
    *n = count < *n ? count : *n;
    for (size_t i = 0; i < *n; i++)
        node[i] = list[i].node;
    graphss_release(ctx, list);
    return GRAPHSS_OK;
}

static graphss_status raise_alert(graphss_ctx *ctx, graphss_live *x, size_t group, double e)
{
    graphss_i_live_group *g = &x->group[group];
    ranked *list = NULL;
    size_t n = 0;
    graphss_status st = graphss_i_live_refresh(ctx, x);
    if (!st)
        st = rank_changed(ctx, &list, &n, x, group);
    graphss_i_live_alert *more =
        graphss_i_grow(ctx, x->alert, x->n_alerts, x->n_alerts + 1, sizeof *more);
    if (more)
        x->alert = more;
    if (st || !more) {
        graphss_release(ctx, list);
        return st ? st : GRAPHSS_ERR_NOMEM;
    }
    n = n < GRAPHSS_LIVE_SUSPECTS ? n : GRAPHSS_LIVE_SUSPECTS;
    graphss_i_live_alert a = {.group = group,
        .t = x->now_t,
        .settled = NAN,
        .e_value = e,
        .threshold = graphss_i_live_threshold(x, group),
        .p_value = graphss_i_bets_p_value(&g->bets),
        .judged = g->bets.judged,
        .n_suspects = n,
        .suspect = graphss_i_alloc(ctx, n, sizeof *a.suspect),
        .suspect_p = graphss_i_alloc(ctx, n, sizeof *a.suspect_p),
        .suspect_score = graphss_i_alloc(ctx, n, sizeof *a.suspect_score)};
    st = a.suspect && a.suspect_p && a.suspect_score ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < n && !st; i++) {
        a.suspect[i] = list[i].node;
        a.suspect_p[i] = list[i].p;
        a.suspect_score[i] = list[i].score;
    }
    graphss_release(ctx, list);
    x->alert[x->n_alerts++] = a;
    g->alert = x->n_alerts;
    return st;
}

const char *graphss_alert_state_text(graphss_alert_state state)
{
    static const char *const text[] = {"open", "acknowledged", "dismissed", "confirmed"};
    return (size_t)state < sizeof text / sizeof *text ? text[state] : "?";
}

void graphss_live_alert_get(const graphss_live *x, graphss_live_alert *out, size_t i)
{
    const graphss_i_live_alert *a = &x->alert[i];
    *out = (graphss_live_alert){.id = i + 1,
        .group = x->group[a->group].name,
        .state = a->state,
        .t = a->t,
        .settled = a->settled,
        .e_value = a->e_value,
        .threshold = a->threshold,
        .p_value = a->p_value,
        .judged = a->judged,
        .n_suspects = a->n_suspects,
        .suspect = a->suspect,
        .suspect_p = a->suspect_p,
        .suspect_score = a->suspect_score};
}

graphss_status graphss_live_settle(
    graphss_ctx *ctx, graphss_live *x, uint64_t id, graphss_alert_state state)
{
    if (GRAPHSS_I_LACKS(ctx, {"live graph", x}))
        return GRAPHSS_ERR_INVALID;
    if (id == 0 || id > x->n_alerts)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "no alert %llu: there are %zu",
            (unsigned long long)id, x->n_alerts);
    graphss_i_live_alert *a = &x->alert[id - 1];
    const bool open = a->state == GRAPHSS_ALERT_OPEN || a->state == GRAPHSS_ALERT_ACKNOWLEDGED;
    if (!open || state <= a->state || state > GRAPHSS_ALERT_CONFIRMED)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "alert %llu is %s, it cannot become %s", (unsigned long long)id,
            graphss_alert_state_text(a->state), graphss_alert_state_text(state));
    a->state = state;
    if (state == GRAPHSS_ALERT_ACKNOWLEDGED)
        return GRAPHSS_OK;
    a->settled = x->now_t;
    graphss_i_bets_restart(&x->group[a->group].bets);
    x->group[a->group].alert = 0;
    return GRAPHSS_OK;
}

size_t graphss_i_live_open_alerts(const graphss_live *x)
{
    size_t open = 0;
    for (size_t g = 0; g < x->n_groups; g++)
        open += x->group[g].alert != 0;
    return open;
}

graphss_status graphss_live_trust(graphss_ctx *ctx, graphss_live *x)
{
    if (GRAPHSS_I_LACKS(ctx, {"live graph", x}))
        return GRAPHSS_ERR_INVALID;
    if (graphss_i_live_open_alerts(x))
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "%zu alert%s open: dismiss or confirm first, then trust",
            graphss_i_live_open_alerts(x),
            graphss_i_live_open_alerts(x) == 1 ? " is" : "s are");
    return graphss_i_live_trust_now(ctx, x);
}

/* ---- the test ---- */

/* A number in (0, 1) for the i-th rank. */
static double tie_breaker(const graphss_live *x)
{
    graphss_rng rng = graphss_rng_make(x->opt.seed + x->judged, GRAPHSS_STREAM_SAMPLER);
    return graphss_rng_double(&rng);
}

static void bet(graphss_live *x, graphss_i_live_changed *c, graphss_live_kind kind)
{
    graphss_i_score_counts *ref = &x->reference[c->judged ? GRAPHSS_LIVE_SAME : kind];
    const double score = c->judged ? c->suspicion - c->ranked : c->suspicion;
    const double u = tie_breaker(x);
    const double p = graphss_i_score_counts_rank(ref, score, u > 0 ? u : 0.5);
    const bool warm = ref->n < (uint64_t)x->opt.warm_up;
    graphss_i_score_counts_add(ref, score);
    c->judged = true;
    c->ranked = c->suspicion;
    x->judged++;
    x->warm += warm;
    for (size_t g = 0; g < x->n_groups && !warm; g++)
        if (belongs(x, &x->group[g], (size_t)c->node))
            graphss_i_bets_place(&x->group[g].bets, p);
}

static int by_number(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static void keep_test(graphss_live *x)
{
    const graphss_i_live_group *all = &x->group[0];
    if (x->n_past_tests == GRAPHSS_LIVE_PAST_TESTS) { /* drops every other one */
        for (size_t i = 0; i < GRAPHSS_LIVE_PAST_TESTS / 2; i++)
            x->past_test[i] = x->past_test[2 * i + 1];
        x->n_past_tests = GRAPHSS_LIVE_PAST_TESTS / 2;
    }
    x->past_test[x->n_past_tests++] = (graphss_live_past_test){.t = x->now_t,
        .p_value = graphss_i_bets_p_value(&all->bets),
        .e_value = graphss_i_bets_value(&all->bets),
        .open = all->alert != 0};
}

const graphss_live_past_test *graphss_live_past_tests(const graphss_live *x, size_t *n)
{
    *n = x->n_past_tests;
    return x->past_test;
}

static graphss_status check(graphss_ctx *ctx, graphss_live *x, graphss_live_batch *out)
{
    graphss_status st = GRAPHSS_OK;
    out->checks++;
    x->checks++;
    x->next_check = x->now_t + x->opt.check_every;
    for (size_t g = 0; g < x->n_groups && !st; g++) {
        const double e = graphss_i_bets_check(&x->group[g].bets);
        if (e >= graphss_i_live_threshold(x, g) && !x->group[g].alert)
            st = raise_alert(ctx, x, g, e);
    }
    keep_test(x);
    if (!st && x->opt.trust_after > 0 && !graphss_i_live_open_alerts(x) &&
        x->now_t >= x->trusted_since + x->opt.trust_after) {
        st = graphss_i_live_trust_now(ctx, x);
        out->trusted = true;
    }
    return st;
}

graphss_status graphss_i_live_judge(graphss_ctx *ctx, graphss_live *x, graphss_live_batch *out)
{
    graphss_status st = GRAPHSS_OK;
    size_t n = 0;
    for (size_t i = 0; i < x->n_touched; i++)
        if (x->alive[x->touched[i]] && x->record[x->touched[i]] >= 0)
            x->edged[n++] = x->touched[i]; /* the list is done with */
    if (n && x->has_states) {
        qsort(x->edged, n, sizeof *x->edged, by_number);
        st = suspect(ctx, x, x->edged, n);
        out->judged = n;
        for (size_t i = 0; i < n && !st; i++) {
            graphss_i_live_changed *c = &x->changed[x->record[x->edged[i]]];
            const graphss_live_kind kind =
                graphss_i_live_kind_of(x, (size_t)x->edged[i], NULL);
            if (kind != GRAPHSS_LIVE_SAME)
                bet(x, c, kind);
        }
    }
    if (!st && x->now_t >= x->next_check)
        st = check(ctx, x, out);
    return st;
}
