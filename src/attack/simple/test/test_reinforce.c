/* Change that speaks for the class a node has. */
#include "attack/simple/reinforce.h"
#include "models/test/testing_world.h"
#include <graphss/flips.h>

enum { K = 2, HIT = 8, WORDS = 3, EDGES = 2 };

typedef struct stage {
    world w;
    float surrogate[WORLD_WORDS * K];
    int32_t victim[HIT];
} stage;

/* Even words speak for class 0, odd ones for class 1, the louder the higher their number. */
static void stage_make(graphss_ctx *ctx, stage *s)
{
    world_make(ctx, &s->w, 6);
    for (size_t j = 0; j < WORLD_WORDS; j++) {
        s->surrogate[j * K] = (j % 2 ? -1.0F : 1.0F) * (float)(j + 1);
        s->surrogate[j * K + 1] = -s->surrogate[j * K];
    }
    for (size_t v = 0; v < HIT; v++)
        s->victim[v] = (int32_t)(11 * v + 2);
}

static graphss_status reinforce(graphss_ctx *ctx, graphss_flips *flips, const stage *s)
{
    const graphss_attack_input in = {.struct_size = sizeof in,
                                     .graph = &s->w.graph,
                                     .features = &s->w.features,
                                     .label = s->w.label,
                                     .n_classes = K,
                                     .surrogate = s->surrogate,
                                     .victim = s->victim,
                                     .n_victims = HIT,
                                     .seed = 3};
    return graphss_i_praise(ctx, flips, &in, EDGES, WORDS);
}

static bool holds(const graphss_features *x, int32_t node, int32_t word)
{
    for (int64_t e = x->offset[node]; e < x->offset[node + 1]; e++)
        if (x->column[e] == word && x->value[e] != 0)
            return true;
    return false;
}

/* By hand: of the words that a node lacks none that is left out is louder than one added. */
static void test_every_other_node_gets_the_loudest_words_of_its_class(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    static stage s;
    graphss_flips flips = {0};
    stage_make(ctx, &s);
    assert_ok(ctx, reinforce(ctx, &flips, &s));
    for (size_t v = 0; v < HIT; v++) {
        const int32_t node = s.victim[v], side = s.w.label[node];
        size_t words = 0, edges = 0;
        bool added[WORLD_WORDS] = {0};
        float least = INFINITY;
        for (size_t i = 0; i < flips.count; i++) {
            const graphss_flip *f = &flips.item[i];
            if (f->victim != node)
                continue;
            assert_int_equal(f->node, node);
            assert_true(f->new_value != 0); /* nothing goes */
            edges += f->kind == GRAPHSS_FLIP_EDGE;
            if (f->kind != GRAPHSS_FLIP_FEATURE)
                continue;
            words++;
            assert_false(holds(&s.w.features, node, f->target));
            added[f->target] = true;
            least = fminf(least, s.surrogate[f->target * K + side]);
        }
        assert_true(words > 0 && words <= WORDS);
        assert_int_equal(edges, v / 2 % 2 ? EDGES : 0);
        if (v % 2 == 0)
            continue;
        assert_int_equal(words, WORDS);
        for (int32_t j = 0; j < WORLD_WORDS; j++)
            if (!added[j] && !holds(&s.w.features, node, j))
                assert_true(s.surrogate[j * K + side] <= least);
    }
    graphss_flips_destroy(ctx, &flips);
    world_destroy(ctx, &s.w);
    graphss_ctx_free(ctx);
}

static graphss_status praise_and_drop(graphss_ctx *ctx, void *arg)
{
    graphss_flips flips = {0};
    const graphss_status st = reinforce(ctx, &flips, arg);
    graphss_flips_destroy(ctx, &flips);
    return st;
}

static void test_failing_allocations_leave_nothing(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    static stage s;
    stage_make(ctx, &s);
    testing_each_allocation_fails(praise_and_drop, &s);
    world_measure(ctx, &s.w, 2);
    testing_each_allocation_fails(praise_and_drop, &s);
    world_destroy(ctx, &s.w);
    graphss_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_other_node_gets_the_loudest_words_of_its_class),
        cmocka_unit_test(test_failing_allocations_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
