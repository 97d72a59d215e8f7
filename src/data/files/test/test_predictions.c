#include "data/formats/npz.h"
#include "testing.h"

static int32_t label[] = {1, -1, 0};
static float prob[] = {0.25f, 0.75f, 0.5f, 0.5f, 1, 0};
static double posterior[] = {0.1, 0.9, 0.5, 0.5, 1, 0}, perturbed[] = {0, 0.5, 1};
static size_t start[] = {0, 2, 4, 6};
static char text[] = "a\0b\0c";
static int32_t trained[] = {2}, validated[] = {0}, tested[] = {1}, seen[] = {1};

static const graphss_predictions whole = {3, 2, label, prob, posterior, perturbed,
    {3, start, text}, {2, start, text}, {1, 1, 1, trained, validated, tested, seen, seen, 0}};

TEST(predictions_read_back_as_they_were)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    char path[256];
    testing_temporary(path, sizeof path, "predictions.npz");
    graphss_predictions p = {0};
    assert_ok(ctx, graphss_predictions_write(ctx, &whole, path));
    assert_ok(ctx, graphss_predictions_read(ctx, &p, path));
    assert_int_equal(p.n_nodes, 3);
    assert_int_equal(p.n_classes, 2);
    assert_memory_equal(p.label, label, sizeof label);
    assert_memory_equal(p.prob, prob, sizeof prob);
    assert_memory_equal(p.posterior, posterior, sizeof posterior);
    assert_memory_equal(p.perturbed, perturbed, sizeof perturbed);
    assert_string_equal(graphss_names_get(&p.node_names, 2), "c");
    assert_int_equal(p.class_names.count, 2);
    assert_string_equal(graphss_names_get(&p.class_names, 1), "b");
    assert_int_equal(p.split.n_train, 1);
    assert_int_equal(p.split.train[0], 2);
    assert_int_equal(p.split.val[0], 0);
    assert_int_equal(p.split.test[0], 1);
    assert_null(p.split.train_label); /* which nodes, not what was said of them */
    graphss_predictions_destroy(ctx, &p);

    /* Labels alone: the largest tells the number of classes. */
    const graphss_predictions bare = {.n_nodes = 3, .n_classes = 9, .label = label};
    assert_ok(ctx, graphss_predictions_write(ctx, &bare, path));
    assert_ok(ctx, graphss_predictions_read(ctx, &p, path));
    assert_int_equal(p.n_classes, 2);
    assert_null(p.prob);
    assert_int_equal(p.split.n_train + p.split.n_val + p.split.n_test, 0);
    graphss_predictions_destroy(ctx, &p);
    unlink(path);
    graphss_ctx_free(ctx);
}

TEST(unsound_predictions_are_refused)
{
    testing_memory memory = {0};
    graphss_ctx *ctx = testing_ctx(&memory, 1);
    const long before = memory.blocks;
    char path[256];
    testing_temporary(path, sizeof path, "unsound.npz");
    int32_t too_high[] = {1, 2, 0}, too_low[] = {1, -2, 0};
    int32_t beyond[] = {3};
    float not_finite[] = {0.25f, 0.75f, (float)NAN, 0.5f, 1, 0};
    const struct {
        graphss_predictions p;
        const char *part;
    } bad[] = {
        {{.n_nodes = 3, .n_classes = 2, .label = too_high, .prob = prob},
            "array 'labels': entry 1 is 2, want a class or -1"},
        {{.n_nodes = 3, .n_classes = 2, .label = too_low}, "array 'labels': entry 1 is -2"},
        {{.n_nodes = 3, .n_classes = 2, .label = label, .prob = not_finite},
            "array 'probabilities': entry 2 is nan"},
        {{.n_nodes = 3, .label = label, .split = {.n_test = 1, .test = beyond}},
            "array 'test': entry 0 is 3, want a node below 3"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        graphss_predictions p = {0};
        assert_ok(ctx, graphss_predictions_write(ctx, &bad[i].p, path));
        assert_fails(
            ctx, graphss_predictions_read(ctx, &p, path), GRAPHSS_ERR_DATA, bad[i].part);
        assert_null(p.label);
        assert_int_equal(memory.blocks, before);
    }
    const int64_t labels[] = {0, 1, 0};
    const graphss_i_array_out array[] = {
        {.name = "labels", .dtype = "<i8", .n_dims = 1, .shape = {3}, .data = labels},
        {.name = "probabilities", .dtype = "<f4", .n_dims = 2, .shape = {2, 3}, .data = prob}};
    graphss_predictions p = {0};
    assert_ok(ctx, graphss_i_npz_write(ctx, path, array, 2));
    assert_fails(ctx, graphss_predictions_read(ctx, &p, path), GRAPHSS_ERR_DATA,
        "array 'probabilities': 2 x 3, want 3 nodes x classes");
    assert_ok(ctx, graphss_i_npz_write(ctx, path, array + 1, 1));
    assert_ok(
        ctx, graphss_predictions_read(ctx, &p, path)); /* the most likely are the labels */
    assert_true(p.n_nodes == 2 && p.n_classes == 3 && p.label && p.prob);
    graphss_predictions_destroy(ctx, &p);
    const graphss_i_array_out other = {
        .name = "other", .dtype = "<f4", .n_dims = 2, .shape = {2, 3}, .data = prob};
    assert_ok(ctx, graphss_i_npz_write(ctx, path, &other, 1));
    assert_fails(ctx, graphss_predictions_read(ctx, &p, path), GRAPHSS_ERR_DATA,
        "array 'labels' is missing");
    const graphss_predictions none = {.n_nodes = 3};
    assert_fails(ctx, graphss_predictions_write(ctx, &none, path), GRAPHSS_ERR_INVALID,
        "without labels");
    unlink(path);
    graphss_ctx_free(ctx);
}

static graphss_status write_and_read(graphss_ctx *ctx, void *path)
{
    graphss_predictions p = {0};
    graphss_status st = graphss_predictions_write(ctx, &whole, path);
    if (st == GRAPHSS_OK)
        st = graphss_predictions_read(ctx, &p, path);
    graphss_predictions_destroy(ctx, &p);
    return st;
}

TEST(each_allocation_may_fail)
{
    char path[256];
    testing_temporary(path, sizeof path, "starved_predictions.npz");
    testing_each_allocation_fails(write_and_read, path);
    unlink(path);
}

int main(void)
{
    return testing_run();
}
