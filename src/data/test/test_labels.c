/* The plain questions, against counts of one cell after the other. */
#include "testing.h"
#include <graphss/labels.h>

enum { N = 200, K = 4 };

typedef struct answers {
    int32_t label[N], truth[N], node[N / 2];
} answers;

/* Some answers and truths are -1; nodes of the list come in any order, some twice. */
static void make(answers *a)
{
    graphss_rng rng = graphss_rng_make(2, 1);
    for (size_t i = 0; i < N; i++) {
        a->label[i] = (int32_t)graphss_rng_below(&rng, K + 1) - 1;
        a->truth[i] = (int32_t)graphss_rng_below(&rng, K + 1) - 1;
    }
    for (size_t j = 0; j < N / 2; j++)
        a->node[j] = (int32_t)graphss_rng_below(&rng, N);
}

static int64_t count(const answers *a, const int32_t *node, size_t n, int32_t truth,
                     int32_t label)
{
    int64_t found = 0;
    for (size_t j = 0; j < n; j++) {
        const size_t i = node ? (size_t)node[j] : j;
        found += a->truth[i] == truth && a->label[i] == label;
    }
    return found;
}

static void test_confusion_is_a_count_of_each_pair(void **state)
{
    (void)state;
    answers a;
    make(&a);
    for (int listed = 0; listed < 2; listed++) {
        const int32_t *node = listed ? a.node : NULL;
        const size_t n = listed ? N / 2 : N;
        int64_t confusion[K * K];
        memset(confusion, 7, sizeof confusion); /* it is overwritten */
        graphss_labels_confusion(confusion, K, a.label, a.truth, node, n);
        for (int32_t t = 0; t < K; t++)
            for (int32_t p = 0; p < K; p++)
                assert_int_equal(confusion[t * K + p], count(&a, node, n, t, p));
    }
}

static void test_accuracy_is_the_share_of_known_truths_that_were_met(void **state)
{
    (void)state;
    answers a;
    make(&a);
    int64_t right = 0, known = 0;
    for (int32_t t = 0; t < K; t++)
        for (int32_t p = -1; p < K; p++) {
            known += count(&a, a.node, N / 2, t, p);
            right += p == t ? count(&a, a.node, N / 2, t, p) : 0;
        }
    const double found = graphss_labels_accuracy(a.label, a.truth, a.node, N / 2);
    assert_true(found == (double)right / (double)known);
    a.truth[0] = -1;
    assert_true(isnan(graphss_labels_accuracy(a.label, a.truth, NULL, 1)));
    assert_true(isnan(graphss_labels_accuracy(a.label, a.truth, NULL, 0)));
}

static void test_the_first_of_equals_is_the_label(void **state)
{
    (void)state;
    const float prob[] = {0.2f, 0.4f, 0.4f, 0.5f, 0.5f, 0, 0.1f, 0.2f, 0.7f};
    int32_t label[3];
    graphss_labels_argmax(label, prob, 3, 3);
    assert_true(label[0] == 1 && label[1] == 0 && label[2] == 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_confusion_is_a_count_of_each_pair),
        cmocka_unit_test(test_accuracy_is_the_share_of_known_truths_that_were_met),
        cmocka_unit_test(test_the_first_of_equals_is_the_label),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
