/* Contexts, and the version of the library. */
#include "base/base.h"
#include "testing.h"

TEST(headers_and_library_are_of_one_version)
{
    char text[64];
    snprintf(text, sizeof text, "%d.%d.%d", GRAPHSS_VERSION_MAJOR, GRAPHSS_VERSION_MINOR,
        GRAPHSS_VERSION_PATCH);
    assert_string_equal(text, graphss_version()); /* which is CMake's */
    assert_true(GRAPHSS_VERSION_MINOR < 100 && GRAPHSS_VERSION_PATCH < 100);
    assert_int_equal(GRAPHSS_VERSION_NUMBER / 10000, GRAPHSS_VERSION_MAJOR);
    assert_int_equal(GRAPHSS_VERSION_NUMBER / 100 % 100, GRAPHSS_VERSION_MINOR);
}

TEST(a_context_wants_a_whole_allocator_and_a_sane_number_of_threads)
{
    testing_memory memory = {.left = -1};
    graphss_ctx_options opt = {
        .struct_size = sizeof opt, .allocator = {testing_alloc, NULL, &memory}, .threads = 1};
    assert_null(graphss_ctx_new(&opt));
    opt.allocator = (graphss_allocator){NULL, testing_release, &memory};
    assert_null(graphss_ctx_new(&opt));
    opt.allocator = (graphss_allocator){0};
    opt.threads = GRAPHSS_THREADS_MOST + 1;
    assert_null(graphss_ctx_new(&opt));
    opt.threads = SIZE_MAX;
    assert_null(graphss_ctx_new(&opt));
    assert_int_equal(memory.granted, 0);
    assert_non_null(strstr(graphss_ctx_error(NULL), "out of memory"));
    assert_int_equal(graphss_ctx_status(NULL), GRAPHSS_ERR_NOMEM);
    opt.threads = GRAPHSS_THREADS_MOST; /* which start with the first work */
    graphss_ctx *ctx = graphss_ctx_new(&opt);
    assert_non_null(ctx);
    graphss_ctx_free(ctx);
}

/* The rule of graphss.h, in every call that can fail. */
TEST_CTX(what_is_lacking_is_named)
{
    const graphss_graph *const no_graph = NULL;
    const graphss_features *const no_features = NULL;
    const graphss_dataset *const no_data = NULL;
    const graphss_model *const no_model = NULL;
    const graphss_split *const no_split = NULL;
    const char *const nowhere = NULL;
    const graphss_graph graph = {0};
    const graphss_features features = {0};
    const graphss_split split = {0};
    const graphss_dataset data = {0};
    const graphss_flips flips = {0};
    const graphss_observation empty = {0};
    const graphss_recover_result recovery = {0};
    const graphss_defence_input in = {.struct_size = sizeof in};
    graphss_graph g;
    graphss_features f;
    graphss_dataset d;
    graphss_split s;
    graphss_model *model = NULL;
    graphss_flips list;
    graphss_snapshots shots = {0};
    graphss_alert_scores seen;
    graphss_alert_verdict verdict;
    graphss_alert_result alert;
    graphss_recover_result found;
    graphss_selfsup_result drawn;
    graphss_node_index *index = NULL;
    int32_t *nodes = NULL;
    size_t n = 0;
    float *w = NULL, prob[1];
    double p;
    graphss_victims victims;
#define NAMED(call, part) assert_fails(ctx, call, GRAPHSS_ERR_INVALID, "no " part " given")
    NAMED(graphss_graph_build(ctx, &g, NULL, 2, NULL, NULL, 1), "first ends");
    NAMED(graphss_graph_copy(ctx, &g, no_graph), "graph");
    NAMED(graphss_graph_check(ctx, no_graph), "graph");
    NAMED(graphss_features_copy(ctx, &f, no_features), "features");
    NAMED(graphss_features_check(ctx, no_features), "features");
    NAMED(graphss_features_normalise_rows(ctx, &f, no_features), "features");
    NAMED(graphss_dataset_read(ctx, &d, nowhere, NULL), "dataset");
    NAMED(graphss_dataset_write(ctx, no_data, "x.npz"), "dataset");
    NAMED(graphss_dataset_write(ctx, &data, nowhere), "path");
    NAMED(graphss_dataset_copy(ctx, &d, no_data), "dataset");
    NAMED(graphss_dataset_refresh(ctx, NULL), "dataset");
    NAMED(graphss_node_index_new(ctx, &index, no_data), "dataset");
    NAMED(graphss_node_list_read(ctx, &nodes, &n, nowhere, &data), "path");
    NAMED(graphss_split_read(ctx, &s, nowhere, NULL, 5, 2), "path");
    NAMED(graphss_split_write(ctx, no_split, "x.npz"), "split");
    NAMED(graphss_split_copy(ctx, &s, no_split), "split");
    NAMED(graphss_split_translate(ctx, &s, no_split, NULL, 0), "split");
    NAMED(graphss_model_train(ctx, &model, NULL,
              &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                  .graph = no_graph,
                  .features = &features,
                  .n_classes = 2,
                  .split = &split,
                  .seed = 1},
              NULL),
        "graph");
    NAMED(graphss_model_train(ctx, &model, NULL,
              &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                  .graph = &graph,
                  .features = no_features,
                  .n_classes = 2,
                  .split = &split,
                  .seed = 1},
              NULL),
        "features");
    NAMED(graphss_model_train(ctx, &model, NULL,
              &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                  .graph = &graph,
                  .features = &features,
                  .n_classes = 2,
                  .split = no_split,
                  .seed = 1},
              NULL),
        "split");
    NAMED(graphss_model_continue(ctx, &model, NULL, no_model,
              &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                  .graph = &graph,
                  .features = &features,
                  .split = &split,
                  .seed = 1},
              1),
        "model");
    NAMED(graphss_model_predict(ctx, prob, no_model, &graph, &features), "model");
    NAMED(graphss_model_set_dataset(ctx, NULL, &data), "model");
    NAMED(graphss_model_fits(ctx, no_model, &data), "model");
    NAMED(graphss_dataset_align(ctx, NULL, &d, no_model), "model");
    NAMED(graphss_model_save(ctx, no_model, "x"), "model");
    NAMED(graphss_model_load(ctx, &model, nowhere), "path");
    NAMED(graphss_predictions_write(ctx, NULL, "x.npz"), "predictions");
    NAMED(graphss_flips_add(ctx, NULL, (graphss_flip){0}), "list of changes");
    NAMED(graphss_flips_read(ctx, &list, nowhere, &data), "path");
    NAMED(graphss_flips_write(ctx, &flips, "x", no_data), "dataset");
    NAMED(graphss_flips_apply(ctx, &d, no_data, &flips, NULL), "dataset");
    NAMED(
        graphss_flips_apply_parts(ctx, &g, &f, &graph, no_features, &flips, NULL), "features");
    NAMED(graphss_attack_run(ctx, &list, NULL, NULL, NULL), "input");
    NAMED(graphss_attack_run(ctx, &list, NULL,
              &(graphss_attack_input){.struct_size = sizeof(graphss_attack_input)}, NULL),
        "graph");
    NAMED(graphss_surrogate_train(ctx, &w,
              &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                  .graph = &graph,
                  .features = &features,
                  .n_classes = 2,
                  .split = no_split,
                  .seed = 1}),
        "split");
    NAMED(graphss_surrogate_from_model(ctx, &w, no_model, GRAPHSS_MODE_DEFAULT), "model");
    NAMED(graphss_surrogate_read(ctx, &w, nowhere, 1, 2), "path");
    NAMED(graphss_victims_choose(ctx, &victims,
              &(graphss_victim_input){.struct_size = sizeof(graphss_victim_input)}, NULL),
        "graph");
    NAMED(graphss_benign_churn(ctx, &list, no_data, NULL, 0, 1, NULL), "dataset");
    NAMED(graphss_benign_grow(ctx, &d, no_data, 1, 1), "dataset");
    NAMED(graphss_snapshots_plan(ctx, &shots, &data, no_split, 1, NULL), "split");
    NAMED(graphss_snapshots_change(ctx, &shots, NULL), "list of changes");
    NAMED(graphss_snapshots_write(ctx, &shots, nowhere, false), "folder");
    NAMED(graphss_snapshots_check_folder(ctx, nowhere, false), "folder");
    NAMED(graphss_selfsup_run(ctx, NULL, NULL, NULL), "input");
    NAMED(graphss_selfsup_run(ctx, &drawn,
              &(graphss_selfsup_input){.struct_size = sizeof(graphss_selfsup_input)}, NULL),
        "probabilities");
    NAMED(graphss_alert_test(ctx, &verdict, NULL, 1, &p, 1, 1, NULL), "scores");
    NAMED(graphss_alert_test_group(ctx, &verdict, NULL, NULL, 0, 1, NULL), "scores");
    NAMED(graphss_alert_score(ctx, &seen, NULL, NULL), "input");
    NAMED(graphss_alert_run(ctx, &alert, NULL, NULL, 0, NULL), "input");
    NAMED(graphss_alert_run(ctx, &alert, &in, NULL, 0, NULL), "model");
    NAMED(graphss_recover_run(ctx, &found, NULL, NULL), "input");
    NAMED(graphss_recover_run(ctx, &found, &in, NULL), "model");
    NAMED(graphss_recover_flips(ctx, &list, &in, NULL, 0.5), "recovery");
    NAMED(graphss_recover_flips(ctx, &list, &in, &recovery, 0.5), "model");
    NAMED(graphss_observation_match(ctx, &nodes, &empty, NULL), "snapshot to match");
    NAMED(graphss_observation_match(ctx, &nodes, &empty, &empty), "graph");
    NAMED(graphss_split_match(ctx, &s, no_model, &empty), "model");
    NAMED(graphss_protocol_start(ctx, NULL, no_data, 1, NULL), "dataset");
    NAMED(graphss_protocol_attack(ctx, NULL, NULL, 1), "protocol");
    NAMED(graphss_reproduce_run(ctx, NULL, 1, NULL), "options");
    NAMED(graphss_report_write(ctx, NULL, nowhere, "x.html", NULL), "records");
    NAMED(graphss_plot_write(ctx, NULL, 1, "x.svg"), "plots");
    NAMED(graphss_prior_cells(ctx, &p, NULL, 2), "prior");
    NAMED(graphss_transition_warmup(ctx, &p, NULL, NULL, NULL, 0, 1, 2), "probabilities");
    NAMED(graphss_fetch_run(ctx, NULL, nowhere, NULL), "dataset");
    NAMED(graphss_option_set(ctx, &p, NULL, "1"), "option");
    NAMED(graphss_options_check(ctx, NULL, graphss_train_options_table()), "options");
    NAMED(graphss_synth_options_parse(ctx, NULL, nowhere), "text");
#undef NAMED
    const graphss_attack_options nameless = {
        .struct_size = sizeof nameless, .delta_cutoff = 1};
    assert_fails(ctx,
        graphss_attack_run(ctx, &list, NULL,
            &(graphss_attack_input){.struct_size = sizeof(graphss_attack_input),
                .graph = &graph,
                .features = &features},
            &nameless),
        GRAPHSS_ERR_INVALID, "--method");
    assert_null(model);
}

TEST_CTX(a_place_that_is_lacking_is_named)
{
    const graphss_graph graph = {0};
    const graphss_features features = {0};
    const graphss_split split = {0};
    const graphss_dataset data = {0};
    const graphss_flips flips = {0};
    const graphss_observation snapshot = {.graph = &graph, .features = &features};
    const graphss_recover_result recovery = {0};
    const graphss_defence_input in = {.struct_size = sizeof in};
    const graphss_alert_scores seen = {0};
    const graphss_protocol protocol = {0};
    const graphss_reproduce_options order = {.struct_size = sizeof order};
    const graphss_train_options train = {.struct_size = sizeof train};
    const graphss_prior prior = {0};
    const int64_t offset[] = {0};
    const double score[] = {1};
    const float prob[] = {1};
    const int32_t label[] = {0};
    graphss_graph g;
    int32_t *nodes = NULL;
    size_t n = 0;
#define NAMED(call, what) \
    assert_fails(ctx, call, GRAPHSS_ERR_INVALID, "no place for " what " given")
    NAMED(graphss_graph_build(ctx, NULL, NULL, 2, NULL, NULL, 0), "the graph");
    NAMED(graphss_graph_copy(ctx, NULL, &graph), "the graph");
    NAMED(graphss_features_copy(ctx, NULL, &features), "the features");
    NAMED(graphss_features_from_rows(ctx, NULL, 0, 0, offset, NULL, NULL), "the features");
    NAMED(graphss_features_from_dense(ctx, NULL, 1, 1, prob), "the features");
    NAMED(graphss_features_normalise_rows(ctx, NULL, &features), "the features");
    NAMED(graphss_dataset_read(ctx, NULL, "cora", NULL), "the dataset");
    NAMED(graphss_dataset_copy(ctx, NULL, &data), "the dataset");
    NAMED(graphss_node_index_new(ctx, NULL, &data), "the index");
    NAMED(graphss_node_list_read(ctx, NULL, &n, "x", &data), "the nodes");
    NAMED(graphss_node_list_read(ctx, &nodes, NULL, "x", &data), "their number");
    NAMED(graphss_node_groups_read(ctx, NULL, "x", &data), "the groups");
    NAMED(graphss_split_make(ctx, NULL, label, 1, 1, 1, NULL), "the split");
    NAMED(graphss_split_read(ctx, NULL, "x.npz", NULL, 5, 2), "the split");
    NAMED(graphss_split_copy(ctx, NULL, &split), "the split");
    NAMED(graphss_split_translate(ctx, NULL, &split, NULL, 0), "the split");
    NAMED(graphss_synth_options_parse(ctx, NULL, ""), "the options");
    NAMED(graphss_synth_make(ctx, NULL, NULL), "the dataset");
    NAMED(graphss_fetch_run(ctx, NULL, "cora", NULL), "the result");
    NAMED(graphss_predictions_read(ctx, NULL, "x.npz"), "the predictions");
    NAMED(graphss_model_train(ctx, NULL, NULL,
              &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                  .graph = &graph,
                  .features = &features,
                  .n_classes = 2,
                  .split = &split,
                  .seed = 1},
              NULL),
        "the model");
    NAMED(graphss_model_load(ctx, NULL, "x"), "the model");
    NAMED(graphss_flips_read(ctx, NULL, "x", &data), "the changes");
    NAMED(graphss_flips_apply(ctx, NULL, &data, &flips, NULL), "the dataset");
    NAMED(graphss_flips_apply_parts(ctx, &g, NULL, &graph, &features, &flips, NULL),
        "the features");
    NAMED(graphss_attack_run(ctx, NULL, NULL,
              &(graphss_attack_input){.struct_size = sizeof(graphss_attack_input)}, NULL),
        "the changes");
    NAMED(graphss_surrogate_train(ctx, NULL,
              &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                  .graph = &graph,
                  .features = &features,
                  .n_classes = 2,
                  .split = &split,
                  .seed = 1}),
        "the weights");
    NAMED(graphss_surrogate_read(ctx, NULL, "x", 1, 2), "the weights");
    NAMED(graphss_victims_choose(ctx, NULL,
              &(graphss_victim_input){.struct_size = sizeof(graphss_victim_input)}, NULL),
        "the victims");
    NAMED(graphss_benign_churn(ctx, NULL, &data, NULL, 0, 1, NULL), "the changes");
    NAMED(graphss_benign_grow(ctx, NULL, &data, 1, 1), "the dataset");
    NAMED(graphss_snapshots_plan(ctx, NULL, &data, &split, 1, NULL), "the snapshots");
    NAMED(graphss_selfsup_run(ctx, NULL,
              &(graphss_selfsup_input){.struct_size = sizeof(graphss_selfsup_input)}, NULL),
        "the result");
    NAMED(graphss_alert_test(ctx, NULL, score, 1, score, 1, 1, NULL), "the verdict");
    NAMED(graphss_alert_test_group(ctx, NULL, &seen, NULL, 0, 1, NULL), "the verdict");
    NAMED(graphss_alert_score(ctx, NULL, &in, NULL), "the scores");
    NAMED(graphss_alert_run(ctx, NULL, &in, NULL, 0, NULL), "the alert");
    NAMED(graphss_recover_run(ctx, NULL, &in, NULL), "the recovery");
    NAMED(graphss_recover_flips(ctx, NULL, &in, &recovery, 0.5), "the changes");
    NAMED(graphss_observation_match(ctx, NULL, &snapshot, &snapshot), "the match");
    NAMED(graphss_protocol_start(ctx, NULL, &data, 1, NULL), "the protocol");
    NAMED(graphss_protocol_attack(ctx, NULL, &protocol, 1), "the scene");
    NAMED(graphss_protocol_surrogate(ctx, NULL, &data, &split, 1, &train), "the surrogate");
    NAMED(graphss_reproduce_run(ctx, NULL, 1, &order), "the counts");
    NAMED(graphss_prior_cells(ctx, NULL, &prior, 2), "the cells");
    NAMED(graphss_transition_warmup(ctx, NULL, prob, NULL, NULL, 0, 1, 1), "the matrix");
    NAMED(graphss_flips_victims(ctx, NULL, &n, &flips), "the victims");
    NAMED(graphss_flips_victims(ctx, &nodes, NULL, &flips), "their number");
    NAMED(graphss_dataset_dirs(ctx, NULL), "the folders");
#undef NAMED
    assert_true(isnan(graphss_labels_accuracy(NULL, label, NULL, 1)));
    assert_true(isnan(graphss_labels_accuracy(label, NULL, NULL, 1)));
}

TEST_CTX(nothing_is_destroyed_without_complaint)
{
    graphss_alert_result_destroy(ctx, NULL);
    graphss_alert_scores_destroy(ctx, NULL);
    graphss_attack_log_destroy(ctx, NULL);
    graphss_dataset_destroy(ctx, NULL);
    graphss_features_destroy(ctx, NULL);
    graphss_flips_destroy(ctx, NULL);
    graphss_graph_destroy(ctx, NULL);
    graphss_model_free(ctx, NULL);
    graphss_names_destroy(ctx, NULL);
    graphss_node_groups_destroy(ctx, NULL);
    graphss_node_index_free(ctx, NULL);
    graphss_predictions_destroy(ctx, NULL);
    graphss_protocol_destroy(ctx, NULL);
    graphss_protocol_trial_destroy(ctx, NULL);
    graphss_recover_result_destroy(ctx, NULL);
    graphss_selfsup_result_destroy(ctx, NULL);
    graphss_snapshots_destroy(ctx, NULL);
    graphss_split_destroy(ctx, NULL);
    graphss_training_destroy(ctx, NULL);
}

TEST(every_status_has_a_text_and_an_exit_code)
{
    static const int code[] = {[GRAPHSS_OK] = 0,
        [GRAPHSS_ERR_INVALID] = 2,
        [GRAPHSS_ERR_DATA] = 3,
        [GRAPHSS_ERR_SHAPE] = 3,
        [GRAPHSS_ERR_NOT_FOUND] = 3,
        [GRAPHSS_ERR_NOMEM] = 4,
        [GRAPHSS_ERR_IO] = 4,
        [GRAPHSS_ERR_LIMIT] = 4,
        [GRAPHSS_ERR_NETWORK] = 5,
        [GRAPHSS_ERR_CHECKSUM] = 5,
        [GRAPHSS_ERR_CANCELLED] = 130,
        [GRAPHSS_ERR_INTERNAL] = 70};
    for (size_t i = 0; i < sizeof code / sizeof *code; i++) {
        assert_int_equal(graphss_status_exit_code((graphss_status)i), code[i]);
        assert_true(strlen(graphss_status_text((graphss_status)i)) > 0);
    }
}

TEST_CTX(the_instruction_set_is_a_known_one)
{
    const char *name = graphss_ctx_instruction_set(ctx);
    assert_true(!strcmp(name, "avx512") || !strcmp(name, "avx2") || !strcmp(name, "generic"));
}

TEST(the_instruction_set_can_be_asked_for)
{
    const char *before = getenv("GRAPHSS_KERNELS");
    char *kept = before ? strdup(before) : NULL;
    unsetenv("GRAPHSS_KERNELS");
    graphss_ctx *fastest = graphss_ctx_new(NULL);
    setenv("GRAPHSS_KERNELS", "generic", 1);
    graphss_ctx *generic = graphss_ctx_new(NULL);
    setenv("GRAPHSS_KERNELS", "another", 1);
    graphss_ctx *another = graphss_ctx_new(NULL);
    assert_string_equal(graphss_ctx_instruction_set(generic), "generic");
    assert_string_equal(
        graphss_ctx_instruction_set(another), graphss_ctx_instruction_set(fastest));
    graphss_ctx_free(fastest);
    graphss_ctx_free(generic);
    graphss_ctx_free(another);
    if (kept)
        setenv("GRAPHSS_KERNELS", kept, 1);
    else
        unsetenv("GRAPHSS_KERNELS");
    free(kept);
}

TEST(blocks_are_aligned_and_counted)
{
    testing_memory memory = {0};
    graphss_ctx *ctx = testing_ctx(&memory, 1);
    const long before = memory.blocks;
    float *block = graphss_i_calloc(ctx, 1000, sizeof *block);
    assert_non_null(block);
    assert_int_equal((uintptr_t)block % 64, 0);
    for (size_t i = 0; i < 1000; i++)
        assert_true(block[i] == 0);
    graphss_release(ctx, block);
    assert_int_equal(memory.blocks, before);
    graphss_ctx_free(ctx);
    assert_int_equal(memory.blocks, 0);
}

TEST_CTX(a_product_that_overflows_is_out_of_memory)
{
    assert_null(graphss_i_alloc(ctx, SIZE_MAX / 4, 8));
    assert_int_equal(graphss_ctx_status(ctx), GRAPHSS_ERR_NOMEM);
}

TEST_CTX(growing_keeps_the_contents)
{
    int *block = graphss_i_alloc(ctx, 3, sizeof *block);
    for (int i = 0; i < 3; i++)
        block[i] = i + 7;
    block = graphss_i_grow(ctx, block, 3, 100, sizeof *block);
    for (int i = 0; i < 3; i++)
        assert_int_equal(block[i], i + 7);
    graphss_release(ctx, block);
}

TEST_CTX(a_large_block_can_be_used_to_its_end)
{
    const size_t n = ((size_t)33 << 20) + 5;
    char *block = graphss_i_alloc(ctx, n, 1);
    assert_non_null(block);
    block[0] = block[n - 1] = 'x';
    graphss_release(ctx, block);
}

TEST(a_context_needs_memory)
{
    for (long granted = 0; granted < 3; granted++) {
        testing_memory memory = {.left = granted};
        const graphss_ctx_options opt = {.struct_size = sizeof opt,
            .allocator = {testing_alloc, testing_release, &memory},
            .threads = 4};
        assert_null(graphss_ctx_new(&opt));
        assert_int_equal(memory.blocks, 0);
    }
}

TEST_CTX(errors_carry_their_place)
{
    assert_string_equal(graphss_ctx_error(ctx), "");
    graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "row %d", 7);
    assert_int_equal(graphss_i_fail_in(ctx, GRAPHSS_ERR_DATA, "file.csv"), GRAPHSS_ERR_DATA);
    assert_string_equal(graphss_ctx_error(ctx), "file.csv: row 7");
    for (int s = GRAPHSS_OK; s <= GRAPHSS_ERR_INTERNAL; s++)
        assert_string_not_equal(graphss_status_text((graphss_status)s), "unknown status");
}

static bool stop_at_three(
    void *user, const char *stage, size_t done, size_t total, const char *note)
{
    (void)user, (void)stage, (void)total, (void)note;
    return done < 3;
}

TEST(progress_cancels)
{
    const graphss_ctx_options opt = {
        .struct_size = sizeof opt, .progress = stop_at_three, .threads = 1};
    graphss_ctx *ctx = graphss_ctx_new(&opt);
    assert_int_equal(graphss_i_progress(ctx, "walk", 2, 9, NULL), GRAPHSS_OK);
    assert_fails(ctx, graphss_i_progress(ctx, "walk", 3, 9, NULL), GRAPHSS_ERR_CANCELLED,
        "walk cancelled at 3 of 9");
    graphss_ctx_free(ctx);
}

TEST(the_first_of_the_largest_is_the_top)
{
    const double x[] = {-3, 2, 5, 5, -INFINITY};
    const float y[] = {-3, 2, 5, 5, -INFINITY};
    assert_int_equal(graphss_i_top_double(x, 5), 2);
    assert_int_equal(graphss_i_top_double(x, 1), 0);
    assert_int_equal(graphss_i_top(y, 5), 2);
    assert_int_equal(graphss_i_top(y, 2), 1);
}

/* Against a linear count: lists of zero to 40 numbers of few values, so that many are equal,
 * queried at each value, between values, and beyond them. */
TEST(numbers_below_another_are_counted)
{
    enum { MOST = 40, VALUES = 6 };
    graphss_rng rng = graphss_rng_make(1, 1);
    for (size_t n = 0; n <= MOST; n++) {
        double x[MOST + 1] = {0};
        for (size_t i = 0; i < n; i++)
            x[i] = (double)graphss_rng_below(&rng, VALUES);
        if (n > 8) {
            x[0] = -INFINITY;
            x[1] = INFINITY;
        }
        qsort(x, n, sizeof *x, graphss_i_compare_doubles);
        for (int twice = -3; twice <= 2 * VALUES + 1; twice++) {
            const double asked = twice == -3               ? -INFINITY
                                 : twice == 2 * VALUES + 1 ? INFINITY
                                                           : twice / 2.0;
            size_t less = 0;
            for (size_t i = 0; i < n; i++)
                less += x[i] < asked;
            assert_int_equal(graphss_i_count_less(x, n, asked), less);
        }
    }
}

int main(void)
{
    return testing_run();
}
