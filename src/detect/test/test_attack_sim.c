/* Attacks on one's own nodes. */
#include "detect/attack_sim.h"
#include "models/test/testing_world.h"

enum { N = WORLD_NODES, K = 2, HIT = 9 };

typedef struct range {
    world w;
    float surrogate[WORLD_WORDS * K];
    int32_t victim[HIT];
    graphss_i_tampering kind;
    bool apart;
} range;

static void range_make(graphss_ctx *ctx, range *r)
{
    world_make(ctx, &r->w, 6);
    for (size_t j = 0; j < WORLD_WORDS; j++) {
        r->surrogate[j * K] = j % 2 ? -1 : 1;
        r->surrogate[j * K + 1] = -r->surrogate[j * K];
    }
    for (size_t v = 0; v < HIT; v++)
        r->victim[v] = (int32_t)(11 * v + 2);
}

/* Thirds do not know of each other: of a link that two of them flip the first flip stays. */
static void drop_doubles(graphss_flips *flips)
{
    size_t n = 0;
    for (size_t i = 0; i < flips->count; i++) {
        const graphss_flip *f = &flips->item[i];
        bool twice = false;
        for (size_t j = 0; j < n && f->kind == GRAPHSS_FLIP_EDGE; j++) {
            const graphss_flip *g = &flips->item[j];
            twice = twice || (g->kind == GRAPHSS_FLIP_EDGE &&
                              ((g->node == f->node && g->target == f->target) ||
                               (g->node == f->target && g->target == f->node)));
        }
        if (!twice)
            flips->item[n++] = *f;
    }
    flips->count = n;
}

static graphss_status simulate(graphss_ctx *ctx, graphss_graph *g, graphss_features *x,
                               const range *r)
{
    const float *believes[GRAPHSS_I_BELIEFS] = {r->surrogate, r->surrogate};
    const graphss_attack_input in = {.struct_size = sizeof in,
                                     .graph = &r->w.graph,
                                     .features = &r->w.features,
                                     .label = r->w.label,
                                     .n_classes = K,
                                     .victim = r->victim,
                                     .n_victims = HIT,
                                     .seed = 3};
    graphss_flips flips = {0};
    graphss_status st =
        graphss_i_simulate(ctx, &flips, &in, r->kind, believes, 0, r->apart, NULL);
    drop_doubles(&flips);
    if (!st)
        st = graphss_flips_apply_parts(ctx, g, x, &r->w.graph, &r->w.features, &flips, NULL);
    graphss_flips_destroy(ctx, &flips);
    return st;
}

static bool is_victim(const range *r, size_t i)
{
    for (size_t v = 0; v < HIT; v++)
        if ((size_t)r->victim[v] == i)
            return true;
    return false;
}

static float word(const graphss_features *x, size_t i, int32_t column)
{
    if (graphss_features_dense(x))
        return x->value[i * x->n_cols + (size_t)column];
    for (int64_t e = x->offset[i]; e < x->offset[i + 1]; e++)
        if (x->column[e] == column)
            return x->value[e];
    return 0;
}

/* Links change between a victim and somebody, words change at victims; a kind that is for
 * links or features alone leaves the other as it was. */
static void only_victims_change(bool dense)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    static range r;
    range_make(ctx, &r);
    if (dense)
        world_measure(ctx, &r.w, 2);
    for (int kind = 0; kind < GRAPHSS_I_SIMULATED; kind++) {
        graphss_graph g = {0};
        graphss_features x = {0};
        size_t links = 0, words = 0;
        r.kind = (graphss_i_tampering)kind;
        assert_ok(ctx, simulate(ctx, &g, &x, &r));
        for (size_t i = 0; i < N; i++) {
            for (size_t u = 0; u < N; u++)
                if (graphss_graph_has_edge(&g, (int32_t)i, (int32_t)u) !=
                    graphss_graph_has_edge(&r.w.graph, (int32_t)i, (int32_t)u)) {
                    assert_true(is_victim(&r, i) || is_victim(&r, u));
                    links++;
                }
            for (int32_t j = 0; j < WORLD_WORDS; j++)
                if (word(&x, i, j) != word(&r.w.features, i, j)) {
                    assert_true(is_victim(&r, i) && !(dense && word(&x, i, j) == 0));
                    words++;
                }
        }
        const bool no_links = kind == GRAPHSS_I_FEATURES || kind == GRAPHSS_I_BORROWED;
        const bool no_words = kind == GRAPHSS_I_EDGES || kind == GRAPHSS_I_DICE;
        assert_true(no_links ? links == 0 : links > 0);
        assert_true(no_words ? words == 0 : words > 0);
        graphss_graph_destroy(ctx, &g);
        graphss_features_destroy(ctx, &x);
    }
    world_destroy(ctx, &r.w);
    graphss_ctx_free(ctx);
}

static void test_only_victims_change(void **state)
{
    (void)state;
    only_victims_change(false);
}

/* Measurements become others, and none becomes 0. */
static void test_only_victims_change_where_features_are_dense(void **state)
{
    (void)state;
    only_victims_change(true);
}

static graphss_status simulate_and_drop(graphss_ctx *ctx, void *arg)
{
    graphss_graph g = {0};
    graphss_features x = {0};
    const graphss_status st = simulate(ctx, &g, &x, arg);
    graphss_graph_destroy(ctx, &g);
    graphss_features_destroy(ctx, &x);
    return st;
}

static void test_failing_allocations_leave_nothing(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    static range r;
    range_make(ctx, &r);
    r.kind = GRAPHSS_I_COPIED;
    testing_allocations_fail(simulate_and_drop, &r, 60);
    r.kind = GRAPHSS_I_CHURN;
    testing_allocations_fail(simulate_and_drop, &r, 30);
    world_measure(ctx, &r.w, 2);
    r.kind = GRAPHSS_I_FEW;
    testing_allocations_fail(simulate_and_drop, &r, 30);
    world_destroy(ctx, &r.w);
    graphss_ctx_free(ctx);
}

/* Half of those that are praised are praised for the class they have not. Words that are even
 * speak for class 0. */
static void test_who_is_slandered_gets_words_of_the_other_class(void **state)
{
    (void)state;
    enum { MANY = 24 };
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    static range r;
    range_make(ctx, &r);
    int32_t victim[MANY];
    size_t own[2] = {0}, other[2] = {0};
    for (size_t v = 0; v < MANY; v++)
        victim[v] = (int32_t)(v * N / MANY);
    const float *believes[GRAPHSS_I_BELIEFS] = {r.surrogate, r.surrogate};
    const graphss_attack_input in = {.struct_size = sizeof in,
                                     .graph = &r.w.graph,
                                     .features = &r.w.features,
                                     .label = r.w.label,
                                     .n_classes = K,
                                     .victim = victim,
                                     .n_victims = MANY,
                                     .seed = 3};
    graphss_flips flips = {0};
    assert_ok(ctx, graphss_i_simulate(ctx, &flips, &in, GRAPHSS_I_PRAISED, believes, 0, false,
                                      NULL));
    for (size_t i = 0; i < flips.count; i++) {
        const graphss_flip *f = &flips.item[i];
        size_t v = 0;
        while (victim[v] != f->victim)
            v++;
        const size_t place = v / GRAPHSS_I_BUDGETS;
        if (f->kind != GRAPHSS_FLIP_FEATURE || place % 2 == 0 || /* these are drawn, */
            v % GRAPHSS_I_BUDGETS != 0)                          /* these get all there are */
            continue;
        const bool speaks = (f->target % 2 == 1) == (r.w.label[f->node] == 1);
        (speaks ? own : other)[graphss_i_slandered(place)]++;
    }
    assert_true(own[0] > other[0] && other[1] > own[1]); /* those of one class are too few */
    graphss_flips_destroy(ctx, &flips);
    world_destroy(ctx, &r.w);
    graphss_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_is_slandered_gets_words_of_the_other_class),
        cmocka_unit_test(test_only_victims_change),
        cmocka_unit_test(test_only_victims_change_where_features_are_dense),
        cmocka_unit_test(test_failing_allocations_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
