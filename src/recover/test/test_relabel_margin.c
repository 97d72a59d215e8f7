/* How far a label must lead to replace the classifier's. */
#include "recover/relabel_margin.h"
#include "testing.h"

enum { ROWS = 60, K = 3, ALL = ROWS * (1 + GRAPHSS_I_ATTACKS) };

typedef struct lesson {
    graphss_i_view view;
    float says[ALL * K * GRAPHSS_I_SAYS], odd[ALL * GRAPHSS_I_ODD];
    int32_t label[ALL];
    double share[GRAPHSS_I_STATES];
} lesson;

/* The classifier, the first source, is right for untouched nodes and lies for those hit;
 * `shows`: those hit look odd. All shares are those of untouched nodes but `hit`. `torn`:
 * what holds for even nodes is wrong for odd ones. */
static void lesson_make(lesson *l, float shows, double hit, bool torn)
{
    graphss_rng rng = graphss_rng_make(3, GRAPHSS_STREAM_SYNTH);
    l->view = (graphss_i_view){.says = l->says, .odd = l->odd};
    for (size_t i = 0; i < ALL; i++) {
        const size_t state = i / ROWS;
        for (size_t j = 0; j < GRAPHSS_I_ODD; j++)
            l->odd[i * GRAPHSS_I_ODD + j] =
                (float)graphss_rng_normal(&rng) + (state && j == state ? shows : 0);
        l->label[i] = (int32_t)graphss_rng_below(&rng, K);
        for (size_t c = 0; c < K; c++) {
            float *says = l->says + (i * K + c) * GRAPHSS_I_SAYS;
            memset(says, 0, GRAPHSS_I_SAYS * sizeof *says);
            says[0] =
                (float)graphss_rng_normal(&rng) +
                ((int32_t)c == l->label[i] ? ((state != 0) != (torn && i % 2) ? -3 : 3) : 0);
        }
    }
    for (size_t r = 0; r < GRAPHSS_I_STATES; r++)
        l->share[r] = r ? hit / (GRAPHSS_I_STATES - 1) : 1 - hit;
}

static graphss_status choose(graphss_ctx *ctx, double *lead, const lesson *l)
{
    graphss_i_sample sample[1 + GRAPHSS_I_ATTACKS] = {0};
    graphss_status st = GRAPHSS_OK;
    for (size_t r = 0; r <= GRAPHSS_I_ATTACKS && !st; r++) {
        st = graphss_i_sample_init(ctx, &sample[r], ROWS, K);
        for (size_t i = 0; i < ROWS && !st; i++)
            graphss_i_sample_add(&sample[r], &l->view, K, (int32_t)(r * ROWS + i),
                                 l->label[r * ROWS + i], 1);
    }
    if (!st)
        st = graphss_i_caution(ctx, lead, &l->view, ALL, K, &sample[0], sample + 1, l->share,
                               false);
    for (size_t r = 0; r <= GRAPHSS_I_ATTACKS; r++)
        graphss_i_sample_destroy(ctx, &sample[r]);
    return st;
}

static void test_the_lead_is_as_large_as_mistakes_are_likely(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    lesson *l = malloc(sizeof *l);
    double seen = -1, hidden = -1, useless = -1;
    lesson_make(l, 8, 0.2, false);
    assert_ok(ctx, choose(ctx, &seen, l));
    lesson_make(l, 0, 0.95, false); /* most are taken for hit, wrongly */
    assert_ok(ctx, choose(ctx, &hidden, l));
    lesson_make(l, 8, 0.2, true);
    assert_ok(ctx, choose(ctx, &useless, l));
    assert_true(seen >= 0 && seen < 0.1);
    assert_float_equal(hidden, 0.2, 1e-9);
    assert_float_equal(useless, 1, 0);
    free(l);
    graphss_ctx_free(ctx);
}

static void test_a_narrow_lead_gives_way(void **state)
{
    (void)state;
    double p[] = {0.2, 0.45, 0.35};
    graphss_i_caution_apply(p, 2, 0.05, 3);
    assert_true(p[0] == 0.2 && p[1] == 0.45 && p[2] == 0.35);
    graphss_i_caution_apply(p, 2, 0.2, 3);
    assert_true(p[0] == 0.2 && p[1] == 0.35 && p[2] == 0.45);
    graphss_i_caution_apply(p, 2, 1, 3); /* it is the first already */
    assert_true(p[0] == 0.2 && p[1] == 0.35 && p[2] == 0.45);
    graphss_i_caution_apply(p, 0, 0, 3);
    assert_true(p[0] == 0.2 && p[1] == 0.35 && p[2] == 0.45);
}

static graphss_status choose_once(graphss_ctx *ctx, void *arg)
{
    double lead;
    return choose(ctx, &lead, arg);
}

static void test_failing_allocations_leave_nothing(void **state)
{
    (void)state;
    lesson *l = malloc(sizeof *l);
    lesson_make(l, 8, 0.2, false);
    testing_allocations_fail(choose_once, l, 50);
    free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_lead_is_as_large_as_mistakes_are_likely),
        cmocka_unit_test(test_a_narrow_lead_gives_way),
        cmocka_unit_test(test_failing_allocations_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
