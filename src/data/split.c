/* split.c - a random split and its noisy labels.
 *
 * The split draws from one stream and the noise from another, so the same seed gives the
 * same nodes whatever the noise. */
#include "data/build.h"
#include <math.h>

void graphss_split_options_init(graphss_split_options *opt)
{
    *opt = (graphss_split_options){.struct_size = sizeof(graphss_split_options),
        .train = 0.4,
        .val = 0.2,
        .noise = 0.1,
        .noise_kind = GRAPHSS_NOISE_UNIFORM};
}

#define FIELD(f) offsetof(graphss_split_options, f)
static const char *const noises[] = {"uniform", "paper", "pair", NULL};
static const graphss_option table[] = {
    {"train", GRAPHSS_OPTION_REAL, FIELD(train), 0, 1, NULL, "SHARE",
        "share of labelled nodes to train on", 0},
    {"val", GRAPHSS_OPTION_REAL, FIELD(val), 0, 1, NULL, "SHARE",
        "share to validate on; the rest is for testing", 0},
    {"noise", GRAPHSS_OPTION_REAL, FIELD(noise), 0, 1, NULL, "SHARE",
        "share of training and validation labels made wrong (default: 0.1 of public and "
        "generated "
        "graphs, 0 of your own data)",
        0},
    {"noise-kind", GRAPHSS_OPTION_CHOICE, FIELD(noise_kind), 0, 0, noises, "KIND",
        "how wrong labels are drawn; pair: always the class before", 0},
    {NULL, 0, 0, 0, 0, NULL, NULL, NULL, 0},
};

const graphss_option *graphss_split_options_table(void)
{
    return table;
}

static graphss_status check_options(graphss_ctx *ctx, const graphss_split_options *opt)
{
    const struct {
        const char *name;
        double share;
    } shares[] = {{"train", opt->train}, {"val", opt->val}, {"noise", opt->noise}};
    for (size_t i = 0; i < 3; i++)
        if (!(shares[i].share >= 0 && shares[i].share <= 1))
            return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "%s is %g, want 0..1",
                shares[i].name, shares[i].share);
    /* In binary, fractions such as 0.7 and 0.3 may add up to slightly more than 1. */
    if (opt->train == 0 || opt->train + opt->val > 1 + 1e-12)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "train is %g and val is %g, want train above 0 and a sum of "
            "at most 1",
            opt->train, opt->val);
    if (opt->noise_kind < GRAPHSS_NOISE_UNIFORM || opt->noise_kind > GRAPHSS_NOISE_PAIR)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_INVALID, "noise kind %d is not known", opt->noise_kind);
    return GRAPHSS_OK;
}

graphss_status graphss_i_split_lists(graphss_ctx *ctx, const graphss_split *split)
{
    if ((split->n_train && !split->train) || (split->n_val && !split->val) ||
        (split->n_test && !split->test))
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "the split has %zu, %zu and %zu nodes, but not the lists", split->n_train,
            split->n_val, split->n_test);
    return GRAPHSS_OK;
}

graphss_status graphss_i_split_check(graphss_ctx *ctx, const graphss_split *split, size_t n)
{
    const struct {
        const char *name;
        const int32_t *node;
        size_t count;
    } part[] = {{"training", split->train, split->n_train},
        {"validation", split->val, split->n_val}, {"test", split->test, split->n_test}};
    graphss_status st = graphss_i_split_lists(ctx, split);
    if (st)
        return st;
    uint8_t *noisy = graphss_i_calloc(ctx, n, sizeof *noisy); /* the last part it was in */
    if (!noisy)
        return GRAPHSS_ERR_NOMEM;
    for (uint8_t p = 0; p < 3; p++)
        for (size_t i = 0; i < part[p].count && !st; i++) {
            const int32_t node = part[p].node[i];
            if (node < 0 || (size_t)node >= n)
                st = graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE,
                    "the split's %s node %zu is %d, want 0..%zu", part[p].name, i, (int)node,
                    n - 1);
            else if (noisy[node] == p + 1)
                st = graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                    "the split's %s node %d stands twice, want each once", part[p].name,
                    (int)node);
            else
                noisy[node] = (uint8_t)(p + 1);
        }
    graphss_release(ctx, noisy);
    return st;
}

/* Changes the labels of round(share * n) entries, chosen at random; returns how many differ
 * from before. place [n] is scratch. */
static size_t add_noise(int32_t *label, int32_t *place, size_t n, size_t n_classes,
    double share, int kind, graphss_rng *rng)
{
    const size_t chosen = (size_t)llround(share * (double)n);
    size_t changed = 0;
    for (size_t i = 0; i < n; i++)
        place[i] = (int32_t)i;
    graphss_rng_shuffle(rng, place, n);
    for (size_t i = 0; i < chosen; i++) {
        int32_t *noisy = &label[place[i]];
        int32_t drawn = (int32_t)graphss_rng_below(rng, n_classes - 1);
        if (kind == GRAPHSS_NOISE_UNIFORM)
            drawn += drawn >= *noisy;
        else if (kind == GRAPHSS_NOISE_PAIR)
            drawn = (*noisy ? *noisy : (int32_t)n_classes) - 1;
        changed += drawn != *noisy;
        *noisy = drawn;
    }
    return changed;
}

/* The nodes whose part is `which`, ascending, and their labels. */
static void take_part(int32_t *node, int32_t *node_label, const uint8_t *part, uint8_t which,
    const int32_t *label, size_t n)
{
    size_t at = 0;
    for (size_t i = 0; i < n; i++)
        if (part[i] == which) {
            if (node_label)
                node_label[at] = label[i];
            node[at++] = (int32_t)i;
        }
}

graphss_status graphss_split_make(graphss_ctx *ctx, graphss_split *out, const int32_t *label,
    size_t n, size_t n_classes, uint64_t seed, const graphss_split_options *opt)
{
    if (GRAPHSS_I_LACKS(ctx, {"place for the split", out}))
        return GRAPHSS_ERR_INVALID;
    enum { NONE, TRAIN, VAL, TEST };
    graphss_split_options o;
    graphss_split_options_init(&o);
    graphss_status st = GRAPHSS_I_TAKE(ctx, graphss_split_options, &o, opt);
    if (!st)
        st = check_options(ctx, &o);
    if (st)
        return st;
    if (n > INT32_MAX)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_INVALID, "%zu nodes, want at most %d", n, INT32_MAX);
    if (!label)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "no labels to split, want some");
    size_t known = 0;
    for (size_t i = 0; i < n; i++) {
        if (label[i] >= 0 && (size_t)label[i] >= n_classes)
            return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                "node %zu: label %d, want below %zu classes", i, (int)label[i], n_classes);
        known += label[i] >= 0;
    }

    graphss_split made = {0};
    made.n_train = (size_t)llround(o.train * (double)known);
    made.n_val = (size_t)llround(o.val * (double)known);
    if (made.n_train + made.n_val > known) /* both rounded up */
        made.n_val = known - made.n_train;
    made.n_test = known - made.n_train - made.n_val;
    const bool rest = o.train + o.val < 1 - 1e-12;
    if (made.n_train == 0 || (o.val > 0 && made.n_val == 0) || (rest && made.n_test == 0))
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "%zu labelled nodes are too few to split %g / %g", known, o.train, o.val);
    if (o.noise > 0 && n_classes < 2)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_DATA, "%zu class, noise wants at least two", n_classes);

    uint8_t *part = graphss_i_calloc(ctx, n, sizeof *part);
    int32_t *order = graphss_i_alloc(ctx, known, sizeof *order);
    made.train = graphss_i_alloc(ctx, made.n_train, sizeof *made.train);
    made.val = graphss_i_alloc(ctx, made.n_val, sizeof *made.val);
    made.test = graphss_i_alloc(ctx, made.n_test, sizeof *made.test);
    made.train_label = graphss_i_alloc(ctx, made.n_train, sizeof *made.train_label);
    made.val_label = graphss_i_alloc(ctx, made.n_val, sizeof *made.val_label);
    if (!part || !order || !made.train || !made.val || !made.test || !made.train_label ||
        !made.val_label) {
        st = GRAPHSS_ERR_NOMEM;
        goto done;
    }

    for (size_t i = 0, at = 0; i < n; i++)
        if (label[i] >= 0)
            order[at++] = (int32_t)i;
    graphss_rng rng = graphss_rng_make(seed, GRAPHSS_STREAM_SPLIT);
    graphss_rng_shuffle(&rng, order, known);
    for (size_t i = 0; i < known; i++)
        part[order[i]] = i < made.n_train ? TRAIN : i < made.n_train + made.n_val ? VAL : TEST;
    take_part(made.train, made.train_label, part, TRAIN, label, n);
    take_part(made.val, made.val_label, part, VAL, label, n);
    take_part(made.test, NULL, part, TEST, label, n);

    if (o.noise > 0) {
        rng = graphss_rng_make(seed, GRAPHSS_STREAM_NOISE);
        made.n_flipped = add_noise(
            made.train_label, order, made.n_train, n_classes, o.noise, o.noise_kind, &rng);
        made.n_flipped += add_noise(
            made.val_label, order, made.n_val, n_classes, o.noise, o.noise_kind, &rng);
    }
    *out = made;
    made = (graphss_split){0};
done:
    graphss_split_destroy(ctx, &made);
    graphss_release(ctx, order);
    graphss_release(ctx, part);
    return st;
}

static bool copy_list(graphss_ctx *ctx, int32_t **out, const int32_t *list, size_t n)
{
    if (!list)
        return true;
    *out = graphss_i_copy(ctx, list, n, sizeof *list);
    return *out != NULL;
}

graphss_status graphss_split_copy(
    graphss_ctx *ctx, graphss_split *out, const graphss_split *split)
{
    if (GRAPHSS_I_LACKS(ctx, {"split", split}, {"place for the split", out}))
        return GRAPHSS_ERR_INVALID;
    graphss_split made = {.n_train = split->n_train,
        .n_val = split->n_val,
        .n_test = split->n_test,
        .n_flipped = split->n_flipped};
    if (!copy_list(ctx, &made.train, split->train, split->n_train) ||
        !copy_list(ctx, &made.val, split->val, split->n_val) ||
        !copy_list(ctx, &made.test, split->test, split->n_test) ||
        !copy_list(ctx, &made.train_label, split->train_label, split->n_train) ||
        !copy_list(ctx, &made.val_label, split->val_label, split->n_val)) {
        graphss_split_destroy(ctx, &made);
        return GRAPHSS_ERR_NOMEM;
    }
    *out = made;
    return GRAPHSS_OK;
}

void graphss_split_destroy(graphss_ctx *ctx, graphss_split *split)
{
    if (!split)
        return;
    graphss_release(ctx, split->train);
    graphss_release(ctx, split->val);
    graphss_release(ctx, split->test);
    graphss_release(ctx, split->train_label);
    graphss_release(ctx, split->val_label);
    *split = (graphss_split){0};
}
