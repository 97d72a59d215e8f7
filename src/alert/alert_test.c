/* alert_test.c - p-values of scores. It knows no model and no graph: scores in, probabilities
 * out.
 *
 * Exchanging nodes between the group and the reference nodes, rather than drawing groups from
 * the reference alone, keeps the rate exact even if the group is as large as its reference. */
#include "alert/alert_private.h"
#include "detect/tuning.h"
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
        "compare with validation nodes and rehearsed change alone", 0},
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

graphss_status graphss_i_alert_options_take(
    graphss_ctx *ctx, graphss_alert_options *opt, const graphss_alert_options *given)
{
    graphss_alert_options_init(opt);
    graphss_status st = GRAPHSS_I_TAKE(ctx, graphss_alert_options, opt, given);
    if (!st)
        st = graphss_options_check(ctx, opt, table);
    if (!st && opt->n_trusted && !opt->trusted)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "no trusted nodes given: NULL, want %zu",
            opt->n_trusted);
    if (st || opt->false_alarm_rate * (double)(opt->draws + 1) >= 1 - 1e-9)
        return st;
    return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
        "--false-alarm-rate %g with --draws %lld can never alert, since no "
        "p-value is below 1/%lld: want --draws %.0f or more",
        opt->false_alarm_rate, (long long)opt->draws, (long long)opt->draws + 1,
        ceil((1 - 1e-9) / opt->false_alarm_rate) - 1);
}

double graphss_alert_rank(double score, const double *reference, size_t n_reference)
{
    size_t higher = 1;
    for (size_t i = 0; i < n_reference; i++)
        higher += reference[i] >= score;
    return (double)higher / (double)(n_reference + 1);
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

graphss_status graphss_alert_test(graphss_ctx *ctx, graphss_alert_verdict *out,
    const double *score, size_t n, const double *reference, size_t n_reference, uint64_t seed,
    const graphss_alert_options *given)
{
    if (GRAPHSS_I_LACKS(ctx, {"scores", score}, {"reference scores", reference},
            {"place for the verdict", out}))
        return GRAPHSS_ERR_INVALID;
    graphss_alert_options opt;
    graphss_status st = graphss_i_alert_options_take(ctx, &opt, given);
    if (st)
        return st;
    if (n == 0 || n_reference == 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "%zu scores to judge by %zu of clean nodes, want some of both", n, n_reference);
    const size_t draws = (size_t)opt.draws, size = n + n_reference;
    double *pool = graphss_i_alloc(ctx, size, sizeof *pool);
    double *sum = graphss_i_calloc(ctx, draws, sizeof *sum);
    st = pool && sum ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    if (st)
        goto done;
    double own = 0, total = 0;
    for (size_t i = 0; i < size; i++) {
        pool[i] = i < n ? score[i] : reference[i - n];
        total += pool[i];
        own += i < n ? pool[i] : 0;
    }
    if (!isfinite(total)) {
        st = graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "a score is no finite number");
        goto done;
    }
    graphss_rng rng = graphss_rng_make(seed, GRAPHSS_STREAM_SAMPLER);
    exchange(sum, draws, pool, size, n, total, &rng);
    double p, threshold;
    conclude(&p, &threshold, sum, draws, own, 1e-9 * fabs(total), opt.false_alarm_rate);
    *out = (graphss_alert_verdict){.alert = p <= opt.false_alarm_rate,
        .p_value = p,
        .score = own / (double)n,
        .threshold = threshold / (double)n,
        .n_group = n,
        .n_calibration = n_reference};
done:
    graphss_release(ctx, sum);
    graphss_release(ctx, pool);
    return st;
}

/* ---- groups of nodes, each among its like ---- */

/* A node of a pool: of the group, or of its reference. */
typedef struct pooled {
    double score;
    bool own;
} pooled;

static int higher_first(const void *a, const void *b)
{
    const pooled *x = a, *y = b;
    return (x->score < y->score) - (x->score > y->score);
}

/* The alternatives: a few high scores among many; most of a group above their reference, for
 * changed nodes, most of which may be hostile; a few nodes without a past beyond the rehearsed
 * ones, since the validation nodes may have been attacked as well; or a wave: most new nodes
 * of one predicted class above the upper part of their reference. */
typedef enum statistic { OF_TOP, OF_MOST, OF_REHEARSED, OF_WAVE, STATISTICS } statistic;

/* A test in progress: sums over pools of the excess over the mean of a pool, and a tenth of
 * the deficit. A stratum with lower scores than its reference must not hide another; alone it
 * still distinguishes clean groups. */
typedef struct exchanges {
    double own[STATISTICS];
    double *sum;     /* [STATISTICS x draws] */
    double *drawn;   /* [draws] room */
    pooled *pool;    /* room */
    double *value;   /* room */
    double *rank;    /* room */
    uint8_t *own_of; /* room: is it one of the group? */
    size_t draws;
    bool whole; /* the group is all that can be judged */
    graphss_alert_verdict verdict;
} exchanges;

static const double DRAWN_MOST = 2e6; /* numbers drawn for a pool */
static const double BELOW = 0.1;

static double cube(double x)
{
    return x * x * x;
}

static double above(double x)
{
    return x > 0 ? x : BELOW * x;
}

/* value [size] = -log^3 r or 1 - r, r = rank / (size + 1), the highest score having rank 1,
 * equal scores their mean rank. */
static void rank_values(double *value, const pooled *pool, size_t size, statistic what)
{
    for (size_t i = 0, end; i < size; i = end) {
        for (end = i + 1; end < size && pool[end].score >= pool[i].score;)
            end++;
        const double r = 0.5 * (double)(i + 1 + end) / (double)(size + 1), x = -log(r);
        for (size_t j = i; j < end; j++)
            value[j] = what == OF_TOP ? cube(x) : 1 - r;
    }
}

/* Adds a sum as normal but for its skewness: m + s (z + g (z^2 - 1) / 6). */
static void approximate(
    double *drawn, size_t draws, double mean, double spread, double skew, graphss_rng *rng)
{
    for (size_t d = 0; d < draws; d++) {
        const double z = graphss_rng_normal(rng);
        drawn[d] += mean + spread * (z + skew * (z * z - 1) / 6);
    }
}

/* own and drawn are sums of a stratum with the given mean; drawn becomes empty. */
static void add_drawn(exchanges *x, statistic what, double own, double mean)
{
    for (size_t d = 0; d < x->draws; d++) {
        x->sum[what * x->draws + d] += above(x->drawn[d] - mean);
        x->drawn[d] = 0;
    }
    x->own[what] += above(own - mean);
}

static void count(exchanges *x, size_t n, size_t n_reference)
{
    x->verdict.n_group += n;
    x->verdict.n_calibration += n_reference;
}

/* The greater of the statistics, each in units of its root mean square over the draws; the
 * same for the first [draws] of sum. */
static double combine(exchanges *x)
{
    double own = 0;
    for (statistic s = 0; s < STATISTICS; s++) {
        double *sum = x->sum + s * x->draws, square = x->own[s] * x->own[s];
        for (size_t d = 0; d < x->draws; d++)
            square += sum[d] * sum[d];
        const double unit = square > 0 ? sqrt(square / (double)(x->draws + 1)) : 1;
        if (s && square <= 0) /* not asked for */
            continue;
        for (size_t d = 0; d < x->draws; d++)
            x->sum[d] = s == 0 ? sum[d] / unit : fmax(x->sum[d], sum[d] / unit);
        own = s == 0 ? x->own[s] / unit : fmax(own, x->own[s] / unit);
    }
    return own;
}

/* Numbers of a pool, their sums over the group and over all. */
typedef struct pool_sums {
    size_t size, n; /* n of the group */
    double own, total, each, variance, third;
} pool_sums;

static pool_sums sum_pool(const double *value, const uint8_t *mine, size_t size)
{
    pool_sums p = {.size = size};
    for (size_t i = 0; i < size; i++) {
        p.total += value[i];
        p.own += mine[i] ? value[i] : 0;
        p.n += mine[i];
    }
    p.each = size ? p.total / (double)size : 0;
    for (size_t i = 0; i < size; i++) {
        const double off = value[i] - p.each;
        p.variance += off * off / (double)size;
        p.third += off * off * off / (double)size;
    }
    return p;
}

/* For each draw the sum of as many values as the group has, exchanged with the others of the
 * pool, is added to x->drawn; if that is much work, its moments are used instead. The order of
 * the pool is lost. */
static void draw_exchanged(exchanges *x, double *value, const pool_sums *p, uint64_t seed)
{
    const double n = (double)p->n, all = (double)p->size, left = all - n;
    graphss_rng rng = graphss_rng_make(seed, GRAPHSS_STREAM_SAMPLER);
    if ((double)x->draws * fmin(n, left) <= DRAWN_MOST) {
        exchange(x->drawn, x->draws, value, p->size, p->n, p->total, &rng);
        return;
    }
    const double spread = sqrt(p->variance * n * left / (all - 1));
    const double skew = p->variance > 0
                            ? p->third / (p->variance * sqrt(p->variance)) * (left - n) /
                                  (all - 2) * sqrt((all - 1) / (n * left))
                            : 0;
    approximate(x->drawn, x->draws, n * p->each, spread, skew, &rng);
}

/* The same with replacement, as if the group were drawn from all nodes like it. If the group
 * holds most of these, an exchange would compare it with the few others, which are unusual. */
static void draw_back(exchanges *x, const double *value, const pool_sums *p, uint64_t seed)
{
    graphss_rng rng = graphss_rng_make(seed, GRAPHSS_STREAM_SAMPLER);
    const double n = (double)p->n;
    for (size_t d = 0; d < x->draws && (double)x->draws * n <= DRAWN_MOST; d++)
        for (size_t i = 0; i < p->n; i++)
            x->drawn[d] += value[graphss_rng_below(&rng, p->size)];
    if ((double)x->draws * n > DRAWN_MOST)
        approximate(x->drawn, x->draws, n * p->each, sqrt(p->variance * n),
            p->variance > 0 ? p->third / (p->variance * sqrt(p->variance * n)) : 0, &rng);
}

/* Nodes outside the group that may be compared with. Without a past labelled nodes are not as
 * the others: the classifier knows them. */
static bool outside(const graphss_alert_scores *s, const uint8_t *member, int32_t v)
{
    return !member[v] && (s->past || !s->labelled[v]);
}

/* Nodes order[from ... to) of a stratum, ranked among all of it that may be compared with;
 * groups are drawn from those of the same predicted class: so a class is compared with its
 * like, and the top of an unsuspicious class counts for no more than its rank among all. */
static void test_outside(exchanges *x, const graphss_alert_scores *s, const uint8_t *member,
    size_t from, size_t to, uint64_t seed)
{
    size_t all = 0;
    for (size_t i = from; i < to; i++) {
        const int32_t v = s->order[i];
        if (member[v] || outside(s, member, v))
            x->pool[all++] = (pooled){s->score[v], member[v]};
    }
    qsort(x->pool, all, sizeof *x->pool, higher_first);
    rank_values(x->rank, x->pool, all, OF_TOP);
    double own = 0, mean = 0;
    size_t n = 0;
    for (size_t i = from, end; i < to; i = end) { /* scores of a class descend, too */
        size_t size = 0, at = 0;
        const int32_t class_id = s->predicted[s->order[i]];
        for (end = i; end < to && s->predicted[s->order[end]] == class_id; end++) {
            const int32_t v = s->order[end];
            if (!member[v] && !outside(s, member, v))
                continue;
            while (x->pool[at].score > s->score[v])
                at++;
            x->own_of[size] = member[v];
            x->value[size++] = x->rank[at];
        }
        const pool_sums p = sum_pool(x->value, x->own_of, size);
        if (p.n == 0)
            continue;
        draw_back(x, x->value, &p, seed + i);
        own += p.own;
        mean += (double)p.n * p.each;
        n += p.n;
    }
    add_drawn(x, OF_TOP, own, mean);
    count(x, n, all - n);
}

/* The same among the m highest of a reference. */
static size_t test_reference(exchanges *x, const graphss_alert_scores *s,
    const uint8_t *member, size_t from, size_t to, size_t stratum, size_t m, statistic what,
    uint64_t seed)
{
    size_t size = 0;
    for (size_t i = 0; i < m; i++)
        x->pool[size++] = (pooled){s->reference[s->start[stratum] + i], false};
    for (size_t i = from; i < to; i++)
        if (member[s->order[i]])
            x->pool[size++] = (pooled){s->score[s->order[i]], true};
    if (size == m || m == 0)
        return size - m;
    qsort(x->pool, size, sizeof *x->pool, higher_first);
    rank_values(x->value, x->pool, size, what);
    for (size_t i = 0; i < size; i++)
        x->own_of[i] = x->pool[i].own;
    const pool_sums p = sum_pool(x->value, x->own_of, size);
    draw_exchanged(x, x->value, &p, seed + stratum);
    add_drawn(x, what, p.own, (double)p.n * p.each);
    return size - m;
}

/* P(S >= score) of a reference, the highest first: the share of it, and beyond its upper tenth
 * an exponential tail with the mean excess of that. */
static double tail(const double *reference, size_t m, double score)
{
    const size_t upper = (size_t)ceil(TUNE_TAIL * (double)m);
    const double from = reference[upper - 1];
    double excess = 0;
    if (score < from) {
        size_t higher = 0;
        while (higher < m && reference[higher] >= score)
            higher++;
        return (double)(higher + 1) / (double)(m + 1);
    }
    for (size_t i = 0; i < upper; i++)
        excess += (reference[i] - from) / (double)upper;
    return TUNE_TAIL * exp(-(score - from) / fmax(excess, TUNE_TAIL_LEAST));
}

/* A reference that was made by simulation: honest nodes may have its tail several times, so
 * that p = tolerance * tail is at worst uniform. sum of -log^3 p; of a uniform number its
 * moments are 6, 684 and 350352. Returns the number of nodes. */
static size_t test_tail(exchanges *x, const graphss_alert_scores *s, const uint8_t *member,
    size_t from, size_t to, size_t stratum, double tolerance, statistic what, uint64_t seed)
{
    const double *reference = s->reference + s->start[stratum];
    const size_t m = s->start[stratum + 1] - s->start[stratum];
    size_t n = 0;
    double own = 0;
    for (size_t i = from; i < to && m; i++)
        if (member[s->order[i]] || (what == OF_REHEARSED && x->whole &&
                                       s->labelled[s->order[i]] == GRAPHSS_I_VALIDATES)) {
            const double p = fmin(1, tolerance * tail(reference, m, s->score[s->order[i]]));
            own += cube(-log(p));
            n++;
        }
    if (n == 0)
        return 0;
    const double mean = 6 * (double)n, spread = sqrt(684 * (double)n);
    graphss_rng rng = graphss_rng_make(seed + stratum, GRAPHSS_STREAM_SAMPLER);
    if ((double)x->draws * (double)n <= DRAWN_MOST)
        for (size_t d = 0; d < x->draws; d++)
            for (size_t i = 0; i < n; i++)
                x->drawn[d] += cube(-log(1 - graphss_rng_double(&rng)));
    else
        approximate(x->drawn, x->draws, mean, spread,
            350352 / (684 * sqrt(684.0) * sqrt((double)n)), &rng);
    add_drawn(x, what, own, mean);
    return n;
}

/* Change is compared with rehearsed change: a few far beyond it, or most of the group above
 * its upper part. */
static void test_change(exchanges *x, const graphss_alert_scores *s, const uint8_t *member,
    size_t from, size_t to, size_t stratum, uint64_t seed)
{
    const size_t m = s->start[stratum + 1] - s->start[stratum];
    const size_t n = test_tail(x, s, member, from, to, stratum, TUNE_TOLERANCE, OF_TOP, seed);
    test_reference(x, s, member, from, to, stratum, (size_t)ceil((double)m / TUNE_TOLERANCE),
        OF_MOST, seed);
    count(x, n, m);
}

/* New nodes by predicted class: the greatest of the sums over a class, each in its deviations.
 * Honest newcomers, too, may all be of one class, and somewhat odd: so they are compared with
 * the upper 1 / TUNE_TOLERANCE of the reference, as change is. */
static void test_wave(exchanges *x, const graphss_alert_scores *s, const uint8_t *member,
    size_t from, size_t to, size_t stratum, uint64_t seed)
{
    const size_t all = s->start[stratum + 1] - s->start[stratum];
    const size_t m = (size_t)ceil((double)all / TUNE_TOLERANCE);
    for (size_t i = from, end; i < to; i = end) {
        const int32_t class_id = s->predicted[s->order[i]];
        size_t size = 0;
        for (; size < m; size++)
            x->pool[size] = (pooled){s->reference[s->start[stratum] + size], false};
        for (end = i; end < to && s->predicted[s->order[end]] == class_id; end++)
            if (member[s->order[end]])
                x->pool[size++] = (pooled){s->score[s->order[end]], true};
        if (size < m + TUNE_NEEDED)
            continue;
        qsort(x->pool, size, sizeof *x->pool, higher_first);
        rank_values(x->value, x->pool, size, OF_WAVE);
        for (size_t j = 0; j < size; j++)
            x->own_of[j] = x->pool[j].own;
        const pool_sums p = sum_pool(x->value, x->own_of, size);
        const double n = (double)p.n, mean = n * p.each;
        const double unit = sqrt(p.variance * n * (double)m / (double)(size - 1));
        draw_exchanged(x, x->value, &p, seed + (uint64_t)class_id);
        double *sum = x->sum + OF_WAVE * x->draws;
        for (size_t d = 0; d < x->draws; d++) {
            sum[d] = unit > 0 ? fmax(sum[d], (x->drawn[d] - mean) / unit) : sum[d];
            x->drawn[d] = 0;
        }
        x->own[OF_WAVE] =
            unit > 0 ? fmax(x->own[OF_WAVE], (p.own - mean) / unit) : x->own[OF_WAVE];
    }
}

/* Nodes without a past are compared with validation nodes, and with rehearsed ones (in the
 * place of UNCHANGED), since validation nodes may have been attacked as well. */
static void test_looks(exchanges *x, const graphss_alert_scores *s, const uint8_t *member,
    size_t from, size_t to, size_t stratum, uint64_t seed)
{
    const size_t m = s->start[stratum + 1] - s->start[stratum];
    count(x, test_reference(x, s, member, from, to, stratum, m, OF_TOP, seed), m);
    if (stratum == GRAPHSS_ALERT_NO_PAST)
        test_tail(x, s, member, from, to, GRAPHSS_ALERT_UNCHANGED, TUNE_STATIC_TOLERANCE,
            OF_REHEARSED, seed);
    if (stratum == GRAPHSS_ALERT_NO_PAST && s->past)
        test_wave(x, s, member, from, to, stratum, seed);
}

static void test_strata(exchanges *x, const graphss_alert_scores *s, const uint8_t *member,
    bool open, uint64_t seed)
{
    for (size_t from = 0, to; from < s->n_nodes; from = to) {
        const uint8_t stratum = s->stratum[s->order[from]];
        size_t n = 0, others = 0;
        for (to = from; to < s->n_nodes && s->stratum[s->order[to]] == stratum; to++) {
            n += member[s->order[to]];
            others += outside(s, member, s->order[to]);
        }
        if (n == 0 || stratum == GRAPHSS_ALERT_UNCHANGED)
            continue;
        if (open && s->quiet && others >= TUNE_OUTSIDE * n && others >= TUNE_NEEDED)
            test_outside(x, s, member, from, to, seed);
        else if (s->synthetic[stratum])
            test_change(x, s, member, from, to, stratum, seed);
        else
            test_looks(x, s, member, from, to, stratum, seed);
    }
}

static graphss_status mark(graphss_ctx *ctx, uint8_t *member, const graphss_alert_scores *s,
    const int32_t *node, size_t n)
{
    for (size_t i = 0; i < s->n_nodes && !node; i++)
        member[i] = s->past ? s->stratum[i] != GRAPHSS_ALERT_UNCHANGED : !s->labelled[i];
    for (size_t i = 0; i < n; i++) {
        if (node[i] < 0 || (size_t)node[i] >= s->n_nodes)
            return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                "the group has node %d, the snapshot has 0..%zu", (int)node[i],
                s->n_nodes - 1);
        if (member[node[i]])
            return graphss_i_fail(
                ctx, GRAPHSS_ERR_INVALID, "node %d is twice in the group", (int)node[i]);
        member[node[i]] = 1;
    }
    for (size_t i = 0; i < s->n_nodes && !s->past; i++) /* its label is part of its evidence */
        member[i] = member[i] && s->labelled[i] != GRAPHSS_I_TRAINS;
    return node && n == 0
               ? graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "the group to judge has no nodes")
               : GRAPHSS_OK;
}

graphss_status graphss_alert_test_group(graphss_ctx *ctx, graphss_alert_verdict *out,
    const graphss_alert_scores *scores, const int32_t *node, size_t n, uint64_t seed,
    const graphss_alert_options *given)
{
    if (GRAPHSS_I_LACKS(ctx, {"scores", scores}, {"place for the verdict", out}))
        return GRAPHSS_ERR_INVALID;
    graphss_alert_options opt;
    graphss_status st = graphss_i_alert_options_take(ctx, &opt, given);
    if (!st && !node && n)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "no nodes given: NULL, want %zu", n);
    if (st)
        return st;
    const size_t draws = (size_t)opt.draws;
    const size_t room = scores->n_nodes + scores->start[GRAPHSS_I_STRATA];
    exchanges x = {.sum = graphss_i_calloc(ctx, STATISTICS * draws, sizeof *x.sum),
        .drawn = graphss_i_calloc(ctx, draws, sizeof *x.drawn),
        .pool = graphss_i_alloc(ctx, room, sizeof *x.pool),
        .value = graphss_i_alloc(ctx, room, sizeof *x.value),
        .rank = graphss_i_alloc(ctx, room, sizeof *x.rank),
        .own_of = graphss_i_alloc(ctx, room, sizeof *x.own_of),
        .draws = draws,
        .whole = !node,
        .verdict = {.p_value = 1}};
    uint8_t *member = graphss_i_calloc(ctx, scores->n_nodes, sizeof *member);
    st = x.sum && x.drawn && x.pool && x.value && x.rank && x.own_of && member
             ? mark(ctx, member, scores, node, n)
             : GRAPHSS_ERR_NOMEM;
    if (!st)
        test_strata(&x, scores, member, !opt.validation_only, seed);
    if (!st && x.verdict.n_group) {
        x.verdict.score = combine(&x);
        conclude(&x.verdict.p_value, &x.verdict.threshold, x.sum, draws, x.verdict.score, 1e-9,
            opt.false_alarm_rate);
        x.verdict.alert = x.verdict.p_value <= opt.false_alarm_rate;
    }
    if (!st)
        *out = x.verdict;
    graphss_release(ctx, member);
    graphss_release(ctx, x.own_of);
    graphss_release(ctx, x.rank);
    graphss_release(ctx, x.value);
    graphss_release(ctx, x.pool);
    graphss_release(ctx, x.drawn);
    graphss_release(ctx, x.sum);
    return st;
}

/* ---- many groups ---- */

typedef struct ranked {
    double p;
    size_t at;
} ranked;

static int lower_first(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    return x->p != y->p ? (x->p > y->p) - (x->p < y->p) : (x->at > y->at) - (x->at < y->at);
}

graphss_status graphss_alert_correct(
    graphss_ctx *ctx, double *p_value, size_t n, graphss_alert_correction rule)
{
    if (GRAPHSS_I_LACKS(ctx, {"p-values", GRAPHSS_I_FILLED(p_value, n)}))
        return GRAPHSS_ERR_INVALID;
    if (rule == GRAPHSS_ALERT_EACH || n == 0)
        return GRAPHSS_OK;
    ranked *list = graphss_i_alloc(ctx, n, sizeof *list);
    if (!list)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        list[i] = (ranked){p_value[i], i};
    qsort(list, n, sizeof *list, lower_first);
    double last = rule == GRAPHSS_ALERT_FDR ? 1 : 0;
    for (size_t j = 0; j < n; j++) {
        /* Holm: max over ranks up to i of (n - i + 1) p; BH: min from rank i on of n p / i */
        const size_t i = rule == GRAPHSS_ALERT_FDR ? n - 1 - j : j;
        const double p = list[i].p * (double)n;
        last = rule == GRAPHSS_ALERT_FDR ? fmin(last, p / (double)(i + 1))
                                         : fmax(last, list[i].p * (double)(n - i));
        p_value[list[i].at] = fmin(last, 1);
    }
    graphss_release(ctx, list);
    return GRAPHSS_OK;
}

void graphss_alert_scores_destroy(graphss_ctx *ctx, graphss_alert_scores *scores)
{
    if (!scores)
        return;
    void *const block[] = {scores->score, scores->p_value, scores->stratum, scores->predicted,
        scores->labelled, scores->order, scores->reference};
    for (size_t i = 0; i < sizeof block / sizeof *block; i++)
        graphss_release(ctx, block[i]);
    *scores = (graphss_alert_scores){0};
}
