/* Who is hit in which drill, and what is learned from whom. */
#include "detect/sim_plan.h"
#include "models/test/testing_world.h"

enum { K = 2, MANY = 20000 };

/* A split with n validation nodes 0 .. n - 1; the label of node i is i % K. */
static graphss_split validation(int32_t *node, int32_t *label, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        node[i] = (int32_t)i;
        label[i] = (int32_t)(i % K);
    }
    return (graphss_split){.val = node, .val_label = label, .n_val = n};
}

static void test_many_labelled_nodes_make_few_views(void **state)
{
    (void)state;
    static int32_t node[MANY], label[MANY];
    static const struct {
        size_t n, blocks, views;
    } want[] = {{20, 1, 21},  {700, 1, 21},  {701, 2, 11},
                {1530, 4, 6}, {3943, 10, 3}, {MANY, 20, 2}};
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    for (size_t t = 0; t < sizeof want / sizeof *want; t++) {
        const graphss_split split = validation(node, label, want[t].n);
        graphss_i_drills d = {0};
        assert_ok(ctx, graphss_i_drills_plan(ctx, &d, &split, 3));
        assert_int_equal(d.blocks, want[t].blocks);
        assert_int_equal(d.views, want[t].views);
        uint8_t *seen = calloc(want[t].n, 1);
        for (size_t i = 0; i < d.blocks * d.block; i++) {
            assert_int_equal(d.label[i], d.node[i] % K);
            assert_false(seen[d.node[i]]++);
        }
        free(seen);
        graphss_i_drills_destroy(ctx, &d);
    }
    const graphss_split few = validation(node, label, 19);
    graphss_i_drills d = {0};
    assert_fails(ctx, graphss_i_drills_plan(ctx, &d, &few, 3), GRAPHSS_ERR_DATA,
                 "19 validation and 0 training nodes");
    graphss_ctx_free(ctx);
}

/* Views whose evidence says which view and node it is of. */
static void mark_views(graphss_i_view *view, size_t n_views, size_t n)
{
    for (size_t v = 0; v < n_views; v++) {
        view[v].says = calloc(n * K * GRAPHSS_I_SAYS, sizeof(float));
        view[v].odd = calloc(n * GRAPHSS_I_ODD, sizeof(float));
        for (size_t i = 0; i < n; i++) {
            view[v].odd[i * GRAPHSS_I_ODD] = (float)v;
            view[v].odd[i * GRAPHSS_I_ODD + 1] = (float)i;
        }
    }
}

/* The nodes wanted of a view are those whose rows are taken from it. */
static void check_wanted(const graphss_i_lessons *l, const graphss_i_drills *d, size_t n)
{
    for (size_t v = 1; v < d->views; v++) {
        uint8_t *wanted = calloc(n, 1), *taken = calloc(n, 1);
        graphss_i_drills_wanted(wanted, d, v);
        for (size_t a = 0; a <= GRAPHSS_I_ATTACKS; a++) {
            const graphss_i_sample *s = a ? &l->attacked[a - 1] : &l->untouched;
            for (size_t i = 0; i < s->n; i++)
                if ((size_t)s->odd[i * GRAPHSS_I_ODD] == v)
                    taken[s->node[i]] = 1;
        }
        for (size_t i = 0; i < n; i++)
            assert_true(wanted[i] >= taken[i]);
        if (v == 1)
            assert_memory_equal(wanted, taken, n);
        free(taken);
        free(wanted);
    }
}

/* Every kind hits as many nodes as a block has, each once; nobody is both hit and beside in
 * one view; rows are those of the view and the node they claim to be of. */
static void test_lessons_are_taken_from_the_right_views(void **state)
{
    (void)state;
    enum { N = 4000 };
    static int32_t node[N], label[N], before[N];
    static const size_t sizes[] = {41, 541, 1300, N};
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    for (size_t t = 0; t < 4; t++) {
        const graphss_split split = validation(node, label, sizes[t]);
        graphss_i_drills d = {0};
        graphss_i_lessons l = {0};
        graphss_i_view view[GRAPHSS_I_VIEWS] = {0};
        assert_ok(ctx, graphss_i_drills_plan(ctx, &d, &split, 5));
        mark_views(view, d.views, sizes[t]);
        assert_ok(ctx, graphss_i_lessons_gather(ctx, &l, &d, view, K, NULL));
        uint8_t *hit = calloc(sizes[t] * GRAPHSS_I_VIEWS, 1);
        for (size_t a = 0; a < GRAPHSS_I_ATTACKS; a++) {
            const graphss_i_sample *s = &l.attacked[a];
            if (a == GRAPHSS_I_MANY) { /* a third of the first kind, counted already */
                assert_true(3 * s->n <= d.block + 1 && 3 * s->n + 5 >= d.block);
                continue;
            }
            const size_t half = a == GRAPHSS_I_PRAISED     ? GRAPHSS_I_SLANDERED
                                : a == GRAPHSS_I_COPIED    ? GRAPHSS_I_DRESSED
                                : a == GRAPHSS_I_SLANDERED ? GRAPHSS_I_PRAISED
                                : a == GRAPHSS_I_DRESSED   ? GRAPHSS_I_COPIED
                                                           : a;
            if (half != a) { /* one kind between them */
                const size_t both = s->n + l.attacked[half].n;
                assert_true(both + 1 >= d.block && both <= d.block + 1);
                assert_true(2 * s->n + 26 >= d.block && 2 * s->n <= d.block + 26);
            } else {
                assert_true(s->n + 1 >= d.block && s->n <= d.block + 1);
            }
            for (size_t i = 0; i < s->n; i++) {
                const size_t v = (size_t)s->odd[i * GRAPHSS_I_ODD];
                assert_true(v >= 1 && v < d.views);
                assert_int_equal(s->odd[i * GRAPHSS_I_ODD + 1], s->node[i]);
                assert_int_equal(s->label[i], s->node[i] % K);
                assert_false(hit[(size_t)s->node[i] * GRAPHSS_I_VIEWS + v]++);
            }
        }
        for (size_t i = 0; i < l.untouched.n; i++) {
            const size_t v = (size_t)l.untouched.odd[i * GRAPHSS_I_ODD];
            assert_true(i < l.n_now ? v == 0 : v >= 1);
            assert_false(hit[(size_t)l.untouched.node[i] * GRAPHSS_I_VIEWS + v]);
        }
        assert_true(l.n_now >= d.block && l.untouched.n > l.n_now);
        check_wanted(&l, &d, sizes[t]);
        free(hit);
        graphss_i_lessons_destroy(ctx, &l);
        for (size_t i = 0; i < sizes[t]; i++)
            before[i] = i % 3 ? (int32_t)i : -1;
        assert_ok(ctx, graphss_i_lessons_gather(ctx, &l, &d, view, K, before));
        for (size_t i = 0; i < l.untouched.n; i++)
            assert_true(l.untouched.node[i] % 3 != 0);
        assert_true(graphss_i_samples_suffice(&l.untouched, l.attacked));
        graphss_i_lessons_destroy(ctx, &l);
        for (size_t i = 0; i < d.blocks * d.block; i++) /* a past in the first block alone */
            before[d.node[i]] = i < d.block ? 1 : -1;
        assert_ok(ctx, graphss_i_lessons_gather(ctx, &l, &d, view, K, before));
        assert_true(l.n_now >= GRAPHSS_I_KNOWN_LEAST);
        assert_int_equal(graphss_i_samples_suffice(&l.untouched, l.attacked),
                         d.blocks < GRAPHSS_I_DRILLS / GRAPHSS_I_SIMULATED + 1);
        graphss_i_lessons_destroy(ctx, &l);
        for (size_t v = 0; v < d.views; v++) {
            free(view[v].says);
            free(view[v].odd);
        }
        graphss_i_drills_destroy(ctx, &d);
    }
    graphss_ctx_free(ctx);
}

typedef struct ground {
    world w;
    float surrogate[WORLD_WORDS * K];
} ground;

static graphss_status drill_and_drop(graphss_ctx *ctx, void *arg)
{
    const ground *o = arg;
    const float *believes[GRAPHSS_I_BELIEFS] = {o->surrogate, o->surrogate};
    const graphss_attack_input in = {.struct_size = sizeof in,
                                     .graph = &o->w.graph,
                                     .features = &o->w.features,
                                     .label = o->w.label,
                                     .n_classes = K,
                                     .seed = 3};
    int32_t node[WORLD_NODES], label[WORLD_NODES];
    const graphss_split split = validation(node, label, WORLD_NODES);
    graphss_i_drills d = {0};
    graphss_graph g = {0};
    graphss_features x = {0};
    graphss_status st = graphss_i_drills_plan(ctx, &d, &split, 1);
    graphss_flips flips[GRAPHSS_I_DRILLS] = {0};
    if (!st)
        st = graphss_i_drills_attack(ctx, &flips[0], &d, 0, &in, believes, NULL);
    if (!st)
        st = graphss_i_drills_merge(ctx, &g, &x, &d, 1, &in, flips);
    graphss_flips_destroy(ctx, &flips[0]);
    graphss_graph_destroy(ctx, &g);
    graphss_features_destroy(ctx, &x);
    graphss_i_drills_destroy(ctx, &d);
    return st;
}

static void test_failing_allocations_leave_nothing(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    static ground o;
    world_make(ctx, &o.w, 6);
    for (size_t j = 0; j < WORLD_WORDS * K; j++)
        o.surrogate[j] = j % 3 ? -1 : 1;
    testing_allocations_fail(drill_and_drop, &o, 60);
    world_destroy(ctx, &o.w);
    graphss_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_labelled_nodes_make_few_views),
        cmocka_unit_test(test_lessons_are_taken_from_the_right_views),
        cmocka_unit_test(test_failing_allocations_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
