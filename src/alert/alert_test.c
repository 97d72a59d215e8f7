/* alert.c - p-values of scores. Knows no model and no graph: scores in, chances out.
 *
 * Exchanging nodes between the group and the clean ones, rather than drawing groups from
 * the clean ones alone, keeps the rate exact when the group is as large as what there is to
 * compare it with. */
#include "alert/alert_check.h"
#include "base/base.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIELD(f) offsetof(graphss_alert_options, f)
static const graphss_option table[] = {
    {"false-alarm-rate", GRAPHSS_OPTION_REAL, FIELD(false_alarm_rate), 1e-6, 0.999999, NULL,
     "R", "how often a clean group may raise an alert", 0},
    {"draws", GRAPHSS_OPTION_INT, FIELD(draws), 19, 1e7, NULL, "N",
     "random exchanges behind a p-value", 0},
    {"validation-only", GRAPHSS_OPTION_BOOL, FIELD(validation_only), 0, 1, NULL, NULL,
     "compare with validation nodes alone, even where the snapshot is quiet", 0},
    {NULL, 0, 0, 0, 0, NULL, NULL, NULL, 0},
};

void graphss_alert_options_init(graphss_alert_options *opt)
{
    *opt = (graphss_alert_options){
        .struct_size = sizeof(graphss_alert_options), .false_alarm_rate = 0.05, .draws = 1999};
}

const graphss_option *graphss_alert_options_table(void)
{
    return table;
}

graphss_status graphss_i_alert_options_take(graphss_ctx *ctx, graphss_alert_options *opt,
                                            const graphss_alert_options *given)
{
    graphss_alert_options_init(opt);
    graphss_status st = GRAPHSS_I_TAKE(ctx, graphss_alert_options, opt, given);
    if (!st)
        st = graphss_options_check(ctx, opt, table);
    if (st || opt->false_alarm_rate * (double)(opt->draws + 1) >= 1 - 1e-9)
        return st;
    return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                          "--false-alarm-rate %g with --draws %lld can never alert, since no "
                          "p-value is below 1/%lld: want --draws %.0f or more",
                          opt->false_alarm_rate, (long long)opt->draws,
                          (long long)opt->draws + 1,
                          ceil((1 - 1e-9) / opt->false_alarm_rate) - 1);
}

double graphss_alert_rank(double score, const double *calm, size_t n_calm)
{
    size_t higher = 1;
    for (size_t i = 0; i < n_calm; i++)
        higher += calm[i] >= score;
    return (double)higher / (double)(n_calm + 1);
}

/* sum[d] += n numbers drawn from pool [size] without putting back; the smaller side is
 * drawn and the rest is what remains of the total. */
static void exchange(double *sum, size_t draws, double *pool, size_t size, size_t n,
                     double total, graphss_rng *rng)
{
    const size_t drawn = n <= size - n ? n : size - n;
    for (size_t d = 0; d < draws; d++) {
        double own = 0;
        for (size_t i = 0; i < drawn; i++) {
            const size_t j = i + (size_t)graphss_rng_below(rng, size - i);
            const double taken = pool[j];
            pool[j] = pool[i];
            pool[i] = taken;
            own += taken;
        }
        sum[d] += drawn == n ? own : total - own;
    }
}

/* p: the share of exchanges with a sum as high, ours being one of them; the sums are sorted.
 * Equal sums differ by rounding. At most rate * (draws + 1) - 1 draws may be as high. */
static void conclude(double *p_value, double *threshold, double *sum, size_t draws, double own,
                     double rounding, double rate)
{
    size_t higher = 1;
    for (size_t d = 0; d < draws; d++)
        higher += sum[d] >= own - rounding;
    qsort(sum, draws, sizeof *sum, graphss_i_compare_doubles);
    const double allowed = floor(rate * (double)(draws + 1) + 1e-9); /* 0.29 * 100 is 29 */
    const size_t above = allowed >= 1 ? (size_t)allowed : 1;
    *p_value = (double)higher / (double)(draws + 1);
    *threshold = sum[draws - above];
}

graphss_status graphss_alert_test(graphss_ctx *ctx, double *p_value, double *threshold,
                                  const double *score, size_t n, const double *calm,
                                  size_t n_calm, uint64_t seed,
                                  const graphss_alert_options *given)
{
    if (GRAPHSS_I_LACKS(ctx, {"scores", score}, {"clean scores", calm},
                        {"place for the p-value", p_value},
                        {"place for the threshold", threshold}))
        return GRAPHSS_ERR_INVALID;
    graphss_alert_options opt;
    graphss_status st = graphss_i_alert_options_take(ctx, &opt, given);
    if (st)
        return st;
    if (n == 0 || n_calm == 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                              "%zu scores to judge by %zu of clean nodes, want some of both",
                              n, n_calm);
    const size_t draws = (size_t)opt.draws, size = n + n_calm;
    double *pool = graphss_i_alloc(ctx, size, sizeof *pool);
    double *sum = graphss_i_calloc(ctx, draws, sizeof *sum);
    st = pool && sum ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    if (st)
        goto done;
    double own = 0, total = 0;
    for (size_t i = 0; i < size; i++) {
        pool[i] = i < n ? score[i] : calm[i - n];
        total += pool[i];
        own += i < n ? pool[i] : 0;
    }
    if (!isfinite(total)) {
        st = graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "a score is no finite number");
        goto done;
    }
    graphss_rng rng = graphss_rng_make(seed, GRAPHSS_STREAM_SAMPLER);
    exchange(sum, draws, pool, size, n, total, &rng);
    conclude(p_value, threshold, sum, draws, own, 1e-9 * fabs(total), opt.false_alarm_rate);
    *threshold /= (double)n;
done:
    graphss_release(ctx, sum);
    graphss_release(ctx, pool);
    return st;
}

/* ---- groups of nodes, each among its like ---- */

/* Where a node of the pool is from. */
typedef enum origin { OF_GROUP, OF_OTHERS, OF_CALM, ORIGINS } origin;

/* A node of the pool. */
typedef struct pooled {
    double score;
    origin from;
} pooled;

/* What a rank is worth: to see a few nodes at the top of many, and to see that most of a
 * group are above the clean ones, of which there may be few. */
typedef enum worth { OF_TOP, OF_MOST, WORTHS } worth;

/* value [WORTHS x size] = -weight log^3 r and weight (1 - r), r = rank / (size + 1), the
 * highest score having rank 1, equal scores their mean rank. The pool is sorted. sum: over the
 * nodes of each origin. */
static void rank_values(double *value, double sum[WORTHS][ORIGINS], const pooled *pool,
                        size_t size, const double weight[WORTHS])
{
    memset(sum, 0, WORTHS * sizeof *sum);
    for (size_t i = 0, end; i < size; i = end) {
        for (end = i + 1; end < size && pool[end].score >= pool[i].score;)
            end++;
        const double r = 0.5 * (double)(i + 1 + end) / (double)(size + 1), x = log(r);
        for (size_t j = i; j < end; j++) {
            value[j] = -weight[OF_TOP] * x * x * x;
            value[size + j] = weight[OF_MOST] * (1 - r);
            for (size_t w = 0; w < WORTHS; w++)
                sum[w][pool[j].from] += value[w * size + j];
        }
    }
}

/* What the exchanges add up to over the kinds: of each what is above its mean, and a tenth of
 * what is below. A kind that is calmer than its clean nodes, because those were made to
 * change, must not hide another; alone it still tells calm groups from calmer ones. */
typedef struct exchanges {
    double own[WORTHS];
    double *sum;   /* [WORTHS x draws] */
    double *drawn; /* [draws] room */
} exchanges;

static const double DRAWN_MOST = 2e6; /* numbers drawn for a verdict */
static const double BELOW = 0.1;
static const double SETTLED = 0.02; /* what nodes count that cannot have been attacked:
                                     * they decide where there are no others */
enum { MANY_TIMES = 4 }; /* as many others as nodes of the group: it is a small part */

static double above(double x)
{
    return x > 0 ? x : BELOW * x;
}

/* own: the sum of the n nodes of the group. By drawing, or where that is much work by the
 * moments of such a sum, m, s, g: m + s (z + g (z^2 - 1) / 6), z being normal. The same draws
 * for each worth. */
static void exchange_kind(exchanges *x, worth w, double own, double *value, size_t size,
                          size_t n, size_t draws, bool draw, graphss_rng rng)
{
    double total = 0, square = 0, cube = 0;
    for (size_t i = 0; i < size; i++)
        total += value[i];
    const double each = total / (double)size, mean = (double)n * each;
    for (size_t i = 0; i < size; i++) {
        const double off = value[i] - each;
        square += off * off;
        cube += off * off * off;
    }
    const double all = (double)size, left = (double)(size - n), variance = square / all;
    const double spread = sqrt(variance * (double)n * left / (all - 1));
    const double skew = size > 2 && variance > 0
                            ? cube / all / (variance * sqrt(variance)) * (left - (double)n) /
                                  (all - 2) * sqrt((all - 1) / ((double)n * left))
                            : 0;
    memset(x->drawn, 0, draws * sizeof *x->drawn);
    if (draw)
        exchange(x->drawn, draws, value, size, n, total, &rng);
    else
        for (size_t d = 0; d < draws; d++) {
            const double z = graphss_rng_normal(&rng);
            x->drawn[d] = mean + spread * (z + skew * (z * z - 1) / 6);
        }
    for (size_t d = 0; d < draws; d++)
        x->sum[w * draws + d] += above(x->drawn[d] - mean);
    x->own[w] += above(own - mean);
}

/* The greater of the two in units of their root mean square: own, and sum [draws]. */
static double combine(exchanges *x, size_t draws)
{
    double own = 0;
    for (size_t w = 0; w < WORTHS; w++) {
        double *sum = x->sum + w * draws, square = x->own[w] * x->own[w];
        for (size_t d = 0; d < draws; d++)
            square += sum[d] * sum[d];
        const double unit = sqrt(square / (double)(draws + 1));
        if (unit <= 0) /* all scores are equal, or no nodes changed */
            continue;
        for (size_t d = 0; d < draws; d++)
            x->sum[d] = w == 0 ? sum[d] / unit : fmax(x->sum[d], sum[d] / unit);
        own = w == 0 ? x->own[w] / unit : fmax(own, x->own[w] / unit);
    }
    return own;
}

/* A few hundred validation nodes may be calmer than others by luck, which all groups of the
 * snapshot would share. So where a group is a small part of it, the clean nodes count for no
 * less than the nodes without a label, of which there are more:
 *   n (mean over group and others - mean over all), where that is above 0 */
static double too_calm(const double sum[ORIGINS], const size_t count[ORIGINS])
{
    const double n_free = (double)(count[OF_GROUP] + count[OF_OTHERS]);
    const double all = sum[OF_GROUP] + sum[OF_OTHERS] + sum[OF_CALM];
    const double above =
        (sum[OF_GROUP] + sum[OF_OTHERS]) / n_free - all / (n_free + (double)count[OF_CALM]);
    return count[OF_OTHERS] >= MANY_TIMES * count[OF_GROUP] && above > 0
               ? above * (double)count[OF_GROUP]
               : 0;
}

/* To sort all that may be in a pool: nodes, and the clean ones beyond them. */
typedef struct placed {
    double score;
    int32_t kind, at;
} placed;

static int by_kind_higher_first(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    return x->kind != y->kind ? x->kind - y->kind
                              : (x->score < y->score) - (x->score > y->score);
}

graphss_status graphss_i_alert_sort(graphss_ctx *ctx, graphss_alert_scores *seen)
{
    const size_t n = seen->n_nodes, size = n + (size_t)seen->start[seen->n_kinds];
    placed *all = graphss_i_alloc(ctx, size, sizeof *all);
    int32_t *sorted = graphss_i_alloc(ctx, size, sizeof *sorted);
    int64_t *start = graphss_i_calloc(ctx, seen->n_kinds + 1, sizeof *start);
    const bool good = all && sorted && start;
    for (size_t i = 0; i < n && good; i++)
        all[i] = (placed){seen->score[i], seen->kind[i], (int32_t)i};
    for (size_t k = 0; k < seen->n_kinds && good; k++)
        for (int64_t i = seen->start[k]; i < seen->start[k + 1]; i++)
            all[n + (size_t)i] =
                (placed){seen->calm_score[i], (int32_t)k, (int32_t)(n + (size_t)i)};
    if (good)
        qsort(all, size, sizeof *all, by_kind_higher_first);
    for (size_t i = 0; i < size && good; i++) {
        sorted[i] = all[i].at;
        start[all[i].kind + 1] = (int64_t)i + 1;
    }
    for (size_t k = 0; k < seen->n_kinds && good; k++) /* kinds without a node */
        start[k + 1] = start[k + 1] > start[k] ? start[k + 1] : start[k];
    graphss_release(ctx, all);
    if (!good) {
        graphss_release(ctx, sorted);
        graphss_release(ctx, start);
        return GRAPHSS_ERR_NOMEM;
    }
    seen->sorted = sorted;
    seen->sorted_start = start;
    return GRAPHSS_OK;
}

/* Who a node is to the group. */
enum { IN_GROUP = 1, FREE = 2 };

/* The nodes of one kind, the highest score first, and how many there are of each origin. The
 * order may be a caller's. What it may do to memory is looked at here, where it is gone
 * through anyway: places out of range, and nodes that stand so often that the pool has no
 * room. */
static graphss_status gather(graphss_ctx *ctx, pooled *pool, size_t room, size_t *n_pooled,
                             size_t count[ORIGINS], const graphss_alert_scores *seen, size_t k,
                             bool open, const uint8_t *role)
{
    const int32_t n = (int32_t)seen->n_nodes;
    const int64_t from = seen->sorted_start[k], to = seen->sorted_start[k + 1];
    const size_t all = seen->n_nodes + (size_t)seen->start[seen->n_kinds];
    const bool join = graphss_i_alert_joined(seen, k, open);
    memset(count, 0, ORIGINS * sizeof *count);
    for (int64_t i = from; i < to; i++) {
        const int32_t u = seen->sorted[i];
        if (u < 0 || (size_t)u >= all)
            return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                                  "place %lld of the sorted nodes is %d, want one of %zu",
                                  (long long)i, (int)u, all);
        count[OF_GROUP] += u < n && role[u] & IN_GROUP;
        count[OF_OTHERS] += u < n && join && role[u] == FREE;
        count[OF_CALM] += u >= n;
    }
    if (count[OF_GROUP] + count[OF_OTHERS] + count[OF_CALM] > room)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                              "kind %zu: a node is more than once among the sorted", k);
    const bool replaced = graphss_i_alert_replaced(seen, k, count[OF_OTHERS]);
    size_t size = 0;
    for (int64_t i = from; i < to && count[OF_GROUP]; i++) {
        const int32_t u = seen->sorted[i];
        if (u >= n) {
            if (!replaced && !(role[seen->calm_node[u - n]] & IN_GROUP))
                pool[size++] = (pooled){seen->calm_score[u - n], OF_CALM};
        } else if (role[u] & IN_GROUP) {
            pool[size++] = (pooled){seen->score[u], OF_GROUP};
        } else if (join && role[u] == FREE) {
            pool[size++] = (pooled){seen->score[u], OF_OTHERS};
        }
    }
    count[OF_CALM] = size - (count[OF_GROUP] ? count[OF_GROUP] + count[OF_OTHERS] : 0);
    *n_pooled = size;
    return GRAPHSS_OK;
}

static graphss_status mark(graphss_ctx *ctx, uint8_t *role, const graphss_alert_scores *seen,
                           const int32_t *node, size_t n)
{
    for (size_t i = 0; i < seen->n_free; i++) {
        const int32_t u = seen->free_node[i];
        if (u < 0 || (size_t)u >= seen->n_nodes)
            return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                                  "node %zu without a label is %d, want one of %zu", i, (int)u,
                                  seen->n_nodes);
        role[u] = FREE;
    }
    for (size_t i = 0; i < n; i++) {
        if (node[i] < 0 || (size_t)node[i] >= seen->n_nodes)
            return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                                  "the group has node %d, the snapshot has 0..%zu",
                                  (int)node[i], seen->n_nodes - 1);
        if (role[node[i]] & IN_GROUP)
            return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "node %d is twice in the group",
                                  (int)node[i]);
        role[node[i]] |= IN_GROUP;
    }
    if (n == 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "the group to judge has no nodes");
    return GRAPHSS_OK;
}

/* Each kind begins where the one before it ended, the first at 0. */
static graphss_status check_starts(graphss_ctx *ctx, const int64_t *start, size_t kinds,
                                   const char *what)
{
    if (start[0] != 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "the %s nodes begin at %lld, want 0",
                              what, (long long)start[0]);
    for (size_t k = 0; k < kinds; k++)
        if (start[k + 1] < start[k])
            return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                                  "kind %zu: its %s nodes end at %lld before they begin at "
                                  "%lld",
                                  k, what, (long long)start[k + 1], (long long)start[k]);
    return GRAPHSS_OK;
}

/* Scores that somebody filled: are the arrays there, and what they point to? Kinds of nodes
 * matter to who sorts them; the nodes without a label and the sorted ones are looked at in
 * passing (mark, gather), so that of many groups none costs a pass for it. */
static graphss_status check_scores(graphss_ctx *ctx, const graphss_alert_scores *seen)
{
    if (GRAPHSS_I_LACKS(
            ctx, {"scores of the nodes", seen->score}, {"kinds of the nodes", seen->kind},
            {"starts of the kinds", seen->start},
            {"nodes without a label", GRAPHSS_I_FILLED(seen->free_node, seen->n_free)},
            {"starts of the sorted kinds",
             GRAPHSS_I_FILLED(seen->sorted_start, seen->sorted)}))
        return GRAPHSS_ERR_INVALID;
    graphss_status st = check_starts(ctx, seen->start, seen->n_kinds, "clean");
    if (!st && seen->sorted)
        st = check_starts(ctx, seen->sorted_start, seen->n_kinds, "sorted");
    if (st)
        return st;
    const size_t n_calm = (size_t)seen->start[seen->n_kinds];
    if (GRAPHSS_I_LACKS(ctx, {"clean nodes", GRAPHSS_I_FILLED(seen->calm_node, n_calm)},
                        {"scores of clean nodes", GRAPHSS_I_FILLED(seen->calm_score, n_calm)}))
        return GRAPHSS_ERR_INVALID;
    for (size_t i = 0; i < n_calm; i++)
        if (seen->calm_node[i] < 0 || (size_t)seen->calm_node[i] >= seen->n_nodes)
            return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                                  "clean node %zu is %d, want one of %zu", i,
                                  (int)seen->calm_node[i], seen->n_nodes);
    if (seen->sorted && (size_t)seen->sorted_start[seen->n_kinds] != seen->n_nodes + n_calm)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_INVALID, "%lld nodes are sorted, want %zu and %zu clean ones",
            (long long)seen->sorted_start[seen->n_kinds], seen->n_nodes, n_calm);
    for (size_t i = 0; i < seen->n_nodes && !seen->sorted; i++)
        if (seen->kind[i] < 0 || (size_t)seen->kind[i] >= seen->n_kinds)
            return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                                  "node %zu is of kind %d, want one of %zu", i,
                                  (int)seen->kind[i], seen->n_kinds);
    return GRAPHSS_OK;
}

graphss_status graphss_i_alert_judge(graphss_ctx *ctx, graphss_verdict *out,
                                     const graphss_alert_scores *seen, const int32_t *node,
                                     size_t n, uint64_t seed,
                                     const graphss_alert_options *given)
{
    if (GRAPHSS_I_LACKS(ctx, {"scores", seen}))
        return GRAPHSS_ERR_INVALID;
    graphss_alert_options opt;
    graphss_status st = graphss_i_alert_options_take(ctx, &opt, given);
    if (!st)
        st = check_scores(ctx, seen);
    if (st)
        return st;
    if (!node && n)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "no nodes given: NULL, want %zu", n);
    if (!node) {
        node = seen->free_node;
        n = seen->n_free;
    }
    const size_t draws = (size_t)opt.draws, kinds = seen->n_kinds;
    const bool open = !opt.validation_only;
    const size_t most = n + (size_t)seen->start[kinds] + (open ? seen->n_free : 0);
    graphss_alert_scores in_order = *seen;
    graphss_verdict v = {0};
    exchanges x = {.sum = graphss_i_calloc(ctx, WORTHS * draws, sizeof *x.sum),
                   .drawn = graphss_i_alloc(ctx, draws, sizeof *x.drawn)};
    uint8_t *role = graphss_i_calloc(ctx, seen->n_nodes, sizeof *role);
    pooled *pool = graphss_i_alloc(ctx, most, sizeof *pool);
    double *value = graphss_i_alloc(ctx, WORTHS * most, sizeof *value);
    st = x.sum && x.drawn && role && pool && value ? mark(ctx, role, seen, node, n)
                                                   : GRAPHSS_ERR_NOMEM;
    if (!st && !seen->sorted)
        st = graphss_i_alert_sort(ctx, &in_order);
    const bool draw = (double)draws * (double)(n < most - n ? n : most - n) <= DRAWN_MOST;
    for (size_t k = 0; k < kinds && !st; k++) {
        size_t count[ORIGINS], size = 0;
        double sum[WORTHS][ORIGINS];
        const bool settled = seen->settled && seen->settled[k];
        st = gather(ctx, pool, most, &size, count, &in_order, k, open, role);
        if (st || count[OF_GROUP] == 0 || count[OF_GROUP] == size)
            continue;
        v.n_group += count[OF_GROUP];
        v.n_calibration += size - count[OF_GROUP];
        const double weight[WORTHS] = {settled ? SETTLED : 1,
                                       seen->changed && seen->changed[k]};
        rank_values(value, sum, pool, size, weight);
        for (size_t w = 0; w < WORTHS; w++)
            exchange_kind(&x, w, sum[w][OF_GROUP] - (settled ? 0 : too_calm(sum[w], count)),
                          value + w * size, size, count[OF_GROUP], draws, draw,
                          graphss_rng_make(seed + k, GRAPHSS_STREAM_SAMPLER));
    }
    if (!st && v.n_group) {
        v.score = combine(&x, draws);
        conclude(&v.p_value, &v.threshold, x.sum, draws, v.score, 1e-9, opt.false_alarm_rate);
        v.alert = v.p_value <= opt.false_alarm_rate;
    }
    if (!st)
        *out = v;
    if (!seen->sorted) {
        graphss_release(ctx, in_order.sorted);
        graphss_release(ctx, in_order.sorted_start);
    }
    graphss_release(ctx, value);
    graphss_release(ctx, pool);
    graphss_release(ctx, role);
    graphss_release(ctx, x.drawn);
    graphss_release(ctx, x.sum);
    return st;
}

graphss_status graphss_alert_judge(graphss_ctx *ctx, graphss_verdict *out,
                                   const graphss_alert_scores *seen, const int32_t *node,
                                   size_t n, uint64_t seed, const graphss_alert_options *opt)
{
    graphss_verdict v = {0};
    if (GRAPHSS_I_LACKS(ctx, {"scores", seen}, {"place for the verdict", out}))
        return GRAPHSS_ERR_INVALID;
    graphss_status st = graphss_i_alert_judge(ctx, &v, seen, node, n, seed, opt);
    if (!st && v.n_group == 0)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                            "no clean nodes are left to compare the group with");
    if (!st)
        *out = v;
    return st;
}

void graphss_alert_scores_destroy(graphss_ctx *ctx, graphss_alert_scores *seen)
{
    if (!seen)
        return;
    graphss_release(ctx, seen->score);
    graphss_release(ctx, seen->p_value);
    graphss_release(ctx, seen->kind);
    graphss_release(ctx, seen->start);
    graphss_release(ctx, seen->calm_node);
    graphss_release(ctx, seen->calm_score);
    graphss_release(ctx, seen->free_node);
    graphss_release(ctx, seen->settled);
    graphss_release(ctx, seen->changed);
    graphss_release(ctx, seen->rehearsed);
    graphss_release(ctx, seen->sorted);
    graphss_release(ctx, seen->sorted_start);
    *seen = (graphss_alert_scores){0};
}

void graphss_alert_destroy(graphss_ctx *ctx, graphss_alert *alert)
{
    if (!alert)
        return;
    graphss_release(ctx, alert->group);
    graphss_release(ctx, alert->calibration);
    graphss_release(ctx, alert->node_score);
    graphss_release(ctx, alert->node_p_value);
    graphss_release(ctx, alert->perturbed);
    graphss_release(ctx, alert->flagged);
    *alert = (graphss_alert){0};
}
