#include "models/model_private.h"
#include "models/test/testing_world.h"
#include <pthread.h>
#include <sys/wait.h>

static graphss_train_options quick(const char *model)
{
    graphss_train_options opt;
    graphss_train_options_init(&opt, model, GRAPHSS_MODE_DEFAULT, NULL);
    opt.epochs = 60;
    opt.hidden = 8;
    return opt;
}

static graphss_model *train(
    graphss_ctx *ctx, graphss_training *log, const world *w, const graphss_train_options *opt)
{
    graphss_model *model = NULL;
    assert_ok(ctx, graphss_model_train(ctx, &model, log,
                       &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                           .graph = &w->graph,
                           .features = &w->features,
                           .n_classes = 2,
                           .split = &w->split,
                           .seed = 3},
                       opt));
    return model;
}

static void predict(graphss_ctx *ctx, float *prob, const graphss_model *model, const world *w)
{
    assert_ok(ctx, graphss_model_predict(ctx, prob, model, &w->graph, &w->features));
}

static double test_accuracy(graphss_ctx *ctx, const graphss_model *model, const world *w)
{
    float prob[WORLD_NODES * 2];
    int32_t label[WORLD_NODES];
    predict(ctx, prob, model, w);
    graphss_labels_argmax(label, prob, WORLD_NODES, 2);
    return graphss_labels_accuracy(label, w->label, w->split.test, w->split.n_test);
}

static double dropout_of(
    const char *model, graphss_mode mode, const graphss_features *features)
{
    graphss_train_options opt;
    graphss_train_options_init(&opt, model, mode, features);
    return opt.dropout;
}

TEST(of_dense_features_fewer_are_dropped)
{
    float value = 1;
    const graphss_features dense = {.n_rows = 1, .n_cols = 1, .value = &value};
    for (size_t i = 0; graphss_model_name(i); i++) {
        const char *name = graphss_model_name(i);
        const double usual = dropout_of(name, GRAPHSS_MODE_DEFAULT, NULL);
        const double paper = dropout_of(name, GRAPHSS_MODE_PAPER, NULL);
        assert_true(dropout_of(name, GRAPHSS_MODE_DEFAULT, &dense) < usual);
        assert_true(dropout_of(name, GRAPHSS_MODE_PAPER, &dense) == paper);
    }
}

TEST_CTX(the_unit_of_a_measurement_does_not_matter)
{
    world w;
    world_make(ctx, &w, 1);
    world_measure(ctx, &w, 1);
    for (size_t m = 0; graphss_model_name(m); m++) {
        graphss_train_options opt;
        graphss_train_options_init(
            &opt, graphss_model_name(m), GRAPHSS_MODE_DEFAULT, &w.features);
        assert_true(opt.standardise && !opt.row_normalise);
        opt.epochs = 20;
        float prob[2][WORLD_NODES * 2];
        for (size_t i = 0; i < 2; i++) {
            graphss_model *model = train(ctx, NULL, &w, &opt), *more = NULL;
            assert_ok(ctx, graphss_model_predict(ctx, prob[i], model, &w.graph, &w.features));
            assert_ok(
                ctx, graphss_model_continue(ctx, &more, NULL, model,
                         &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                             .graph = &w.graph,
                             .features = &w.features,
                             .split = &w.split,
                             .seed = 1},
                         5));
            assert_memory_equal(
                more->scaling.mean, model->scaling.mean, 2 * WORLD_WORDS * sizeof(float));
            graphss_model_free(ctx, more);
            graphss_model_free(ctx, model);
            for (size_t r = 0; r < WORLD_NODES; r++) /* 1024: no rounding */
                w.features.value[r * WORLD_WORDS + 3] *= i == 0 ? 1024 : 1 / 1024.0F;
        }
        for (size_t i = 0; i < WORLD_NODES * 2; i++)
            assert_true(fabs(prob[0][i] - prob[1][i]) < 1e-3);
    }
    world_destroy(ctx, &w);
}

static void keep_warning(void *user, graphss_log_level level, const char *line)
{
    if (level == GRAPHSS_LOG_WARN)
        snprintf(user, 256, "%s", line);
}

TEST(measurements_that_are_not_standardised_are_warned_of)
{
    char warning[256] = "";
    graphss_ctx *ctx = graphss_ctx_new(&(graphss_ctx_options){
        .struct_size = sizeof(graphss_ctx_options), .log = keep_warning, .user = warning});
    assert_non_null(ctx);
    world w;
    world_make(ctx, &w, 1);
    const graphss_train_options words = quick("gcn");
    graphss_model_free(ctx, train(ctx, NULL, &w, &words));
    world_measure(ctx, &w, 1);
    graphss_train_options opt;
    graphss_train_options_init(
        &opt, "gcn", GRAPHSS_MODE_PAPER, NULL); /* as it was published */
    opt.epochs = 2;
    graphss_model_free(ctx, train(ctx, NULL, &w, &opt));
    graphss_train_options_init(&opt, "gcn", GRAPHSS_MODE_DEFAULT, &w.features);
    opt.epochs = 2;
    graphss_model_free(ctx, train(ctx, NULL, &w, &opt));
    graphss_model_free(ctx, train(ctx, NULL, &w, NULL));
    assert_string_equal(warning, "");
    graphss_model_free(ctx, train(ctx, NULL, &w, &words));
    assert_non_null(strstr(warning, "not standardised"));
    assert_non_null(strstr(warning, "graphss_train_options_init"));
    world_destroy(ctx, &w);
    graphss_ctx_free(ctx);
}

TEST(each_model_learns)
{
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    world w;
    world_make(ctx, &w, 1);
    const size_t n_val = w.split.n_val;
    for (size_t i = 0; graphss_model_name(i); i++) {
        assert_non_null(graphss_model_summary(i));
        for (graphss_mode mode = GRAPHSS_MODE_DEFAULT; mode <= GRAPHSS_MODE_PAPER; mode++) {
            graphss_train_options opt;
            graphss_train_options_init(&opt, graphss_model_name(i), mode, NULL);
            opt.epochs = 100;
            opt.learning_rate = 0.02;
            opt.dropout = 0; /* twenty words leave nothing to drop */
            /* In paper mode the first of equally good epochs is kept, which is early here. */
            w.split.n_val = mode == GRAPHSS_MODE_PAPER ? 0 : n_val;
            graphss_training log = {0};
            graphss_model *model = train(ctx, &log, &w, &opt);
            /* Words hint weakly here: without the edges the labels can only be learned. */
            const bool blind = model->type->norm == GRAPHSS_I_NORM_NONE;
            const double accuracy = blind ? log.train_accuracy : test_accuracy(ctx, model, &w);
            if (accuracy < (blind ? 0.7 : 0.8))
                fail_msg("%s, mode %d: %.3f", opt.model, (int)mode, accuracy);
            graphss_training_destroy(ctx, &log);
            graphss_model_free(ctx, model);
        }
    }
    world_destroy(ctx, &w);
    graphss_ctx_free(ctx);
}

TEST_CTX(probabilities_sum_to_one)
{
    world w;
    world_make(ctx, &w, 1);
    for (size_t m = 0; graphss_model_name(m); m++) {
        const graphss_train_options opt = quick(graphss_model_name(m));
        graphss_model *model = train(ctx, NULL, &w, &opt);
        float prob[WORLD_NODES * 2];
        predict(ctx, prob, model, &w);
        for (int i = 0; i < WORLD_NODES; i++)
            assert_true(fabsf(prob[2 * i] + prob[2 * i + 1] - 1) < 1e-6f && prob[2 * i] >= 0);
        assert_int_equal(graphss_model_features(model), w.features.n_cols);
        graphss_model_free(ctx, model);
    }
    world_destroy(ctx, &w);
}

TEST_CTX(labels_are_the_likeliest_classes)
{
    world w;
    world_make(ctx, &w, 1);
    graphss_train_options opt;
    graphss_train_options_init(&opt, "gcn", GRAPHSS_MODE_DEFAULT, NULL);
    opt.epochs = 5;
    graphss_model *model = train(ctx, NULL, &w, &opt);
    float prob[WORLD_NODES * 2];
    int32_t label[WORLD_NODES], wanted[WORLD_NODES];
    assert_ok(ctx, graphss_model_predict(ctx, prob, model, &w.graph, &w.features));
    graphss_labels_argmax(wanted, prob, WORLD_NODES, 2);
    assert_ok(ctx, graphss_model_label(ctx, label, model, &w.graph, &w.features));
    assert_memory_equal(label, wanted, sizeof wanted);
    graphss_features wider = w.features;
    wider.n_cols++;
    assert_fails(ctx, graphss_model_label(ctx, label, model, &w.graph, &wider),
        GRAPHSS_ERR_SHAPE, "the model was trained on");
    assert_fails(ctx, graphss_model_label(ctx, NULL, model, &w.graph, &w.features),
        GRAPHSS_ERR_INVALID, "no place for the labels");
    graphss_model_free(ctx, model);
    world_destroy(ctx, &w);
}

TEST_CTX(kept_weights_are_those_that_were_measured)
{
    world w;
    world_make(ctx, &w, 2);
    for (int dropout = 0; dropout < 2; dropout++) {
        graphss_train_options opt = quick("gcn");
        opt.dropout = dropout ? 0.5 : 0;
        graphss_training log = {0};
        graphss_model *model = train(ctx, &log, &w, &opt);
        float prob[WORLD_NODES * 2];
        int32_t label[WORLD_NODES];
        predict(ctx, prob, model, &w);
        graphss_labels_argmax(label, prob, WORLD_NODES, 2);
        size_t right = 0;
        for (size_t j = 0; j < w.split.n_val; j++)
            right += label[w.split.val[j]] == w.split.val_label[j];
        const double accuracy = (double)right / (double)w.split.n_val;
        assert_true(fabs(accuracy - log.val_accuracy) < 1e-9);
        assert_true(fabs(accuracy - log.val_acc[log.best_epoch]) < 1e-6);
        for (size_t e = 0; e < log.epochs; e++)
            assert_true(log.val_acc[e] <= log.val_acc[log.best_epoch]);
        assert_int_equal(log.epochs, 60);
        graphss_training_destroy(ctx, &log);
        graphss_model_free(ctx, model);
    }
    world_destroy(ctx, &w);
}

/* The paper's code measures before a step and keeps the weights after it; of equally good
 * epochs the first. Its weights are those of a training that stops after that step. */
TEST_CTX(paper_mode_keeps_one_step_late)
{
    world w;
    world_make(ctx, &w, 2);
    const size_t n_val = w.split.n_val;
    for (int dropout = 0; dropout < 2; dropout++) {
        graphss_train_options opt = quick("gcn");
        opt.mode = GRAPHSS_MODE_PAPER;
        opt.dropout = dropout ? 0.5 : 0;
        graphss_training log = {0};
        graphss_model *model = train(ctx, &log, &w, &opt);
        assert_int_equal(log.epochs, 60);
        for (size_t e = 0; e < log.epochs; e++)
            assert_true(e < log.best_epoch ? log.val_acc[e] < log.val_acc[log.best_epoch]
                                           : log.val_acc[e] <= log.val_acc[log.best_epoch]);

        w.split.n_val = 0; /* the last weights are kept */
        opt.epochs = (int64_t)log.best_epoch + 1;
        graphss_model *stopped = train(ctx, NULL, &w, &opt);
        opt.epochs--;
        graphss_model *judged = train(ctx, NULL, &w, &opt);
        w.split.n_val = n_val;
        float prob[WORLD_NODES * 2], same[WORLD_NODES * 2];
        int32_t label[WORLD_NODES];
        predict(ctx, prob, model, &w);
        predict(ctx, same, stopped, &w);
        assert_memory_equal(prob, same, sizeof prob);
        predict(ctx, prob, judged, &w);
        graphss_labels_argmax(label, prob, WORLD_NODES, 2);
        size_t right = 0;
        for (size_t j = 0; j < n_val; j++)
            right += label[w.split.val[j]] == w.split.val_label[j];
        assert_true(fabs((double)right / (double)n_val - log.val_acc[log.best_epoch]) < 1e-6);
        graphss_training_destroy(ctx, &log);
        graphss_model_free(ctx, model);
        graphss_model_free(ctx, stopped);
        graphss_model_free(ctx, judged);
    }
    world_destroy(ctx, &w);
}

TEST(threads_do_not_change_a_bit)
{
    float prob[2][WORLD_NODES * 2];
    for (size_t m = 0; graphss_model_name(m); m++) {
        for (size_t threads = 1; threads <= 2; threads++) {
            graphss_ctx *ctx = testing_ctx(NULL, threads);
            world w;
            world_make(ctx, &w, 4);
            const graphss_train_options opt = quick(graphss_model_name(m));
            graphss_model *model = train(ctx, NULL, &w, &opt);
            predict(ctx, prob[threads - 1], model, &w);
            graphss_model_free(ctx, model);
            world_destroy(ctx, &w);
            graphss_ctx_free(ctx);
        }
        assert_memory_equal(prob[0], prob[1], sizeof prob[0]);
    }
}

typedef struct asker {
    const graphss_model *model;
    const world *w;
    float prob[WORLD_NODES * 2];
    graphss_status status;
} asker;

static void *ask(void *arg)
{
    asker *a = arg;
    graphss_ctx *ctx = graphss_ctx_new(
        &(graphss_ctx_options){.struct_size = sizeof(graphss_ctx_options), .threads = 2});
    a->status = ctx ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    for (int i = 0; i < 20 && !a->status; i++)
        a->status =
            graphss_model_predict(ctx, a->prob, a->model, &a->w->graph, &a->w->features);
    graphss_ctx_free(ctx);
    return NULL;
}

TEST_CTX(contexts_may_ask_one_model_at_once)
{
    enum { ASKERS = 3 };
    static asker a[ASKERS];
    pthread_t thread[ASKERS];
    float prob[WORLD_NODES * 2];
    world w;
    world_make(ctx, &w, 4);
    const graphss_train_options opt = quick("gcn");
    graphss_model *model = train(ctx, NULL, &w, &opt);
    predict(ctx, prob, model, &w);
    for (size_t i = 0; i < ASKERS; i++) {
        a[i] = (asker){.model = model, .w = &w};
        assert_int_equal(pthread_create(&thread[i], NULL, ask, &a[i]), 0);
    }
    for (size_t i = 0; i < ASKERS; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
        assert_int_equal(a[i].status, GRAPHSS_OK);
        assert_memory_equal(a[i].prob, prob, sizeof prob);
    }
    graphss_model_free(ctx, model);
    world_destroy(ctx, &w);
}

/* Includes dense products. */
TEST(a_child_of_fork_answers_the_same)
{
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    float prob[WORLD_NODES * 2], again[WORLD_NODES * 2];
    world w;
    world_make(ctx, &w, 4);
    const graphss_train_options opt = quick("gcn");
    graphss_model *model = train(ctx, NULL, &w, &opt), *other = NULL;
    predict(ctx, prob, model, &w);
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        const bool good =
            !graphss_model_train(ctx, &other, NULL,
                &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                    .graph = &w.graph,
                    .features = &w.features,
                    .n_classes = 2,
                    .split = &w.split,
                    .seed = 3},
                &opt) &&
            !graphss_model_predict(ctx, again, other, &w.graph, &w.features) &&
            !memcmp(prob, again, sizeof prob);
        _exit(good ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    graphss_model_free(ctx, model);
    world_destroy(ctx, &w);
    graphss_ctx_free(ctx);
}

TEST_CTX(patience_stops_early)
{
    world w;
    world_make(ctx, &w, 5);
    graphss_train_options opt = quick("gcn");
    opt.epochs = 5000;
    opt.patience = 10;
    graphss_training log = {0};
    graphss_model *model = train(ctx, &log, &w, &opt);
    assert_true(log.epochs < 5000);
    assert_int_equal(log.epochs, log.best_epoch + 1 + 10 + 1);
    graphss_training_destroy(ctx, &log);
    graphss_model_free(ctx, model);
    world_destroy(ctx, &w);
}

TEST_CTX(what_cannot_be_trained_is_refused)
{
    world w;
    world_make(ctx, &w, 1);
    graphss_model *model = NULL;
    graphss_train_options opt = quick("gcn");
#define TRAIN() \
    graphss_model_train(ctx, &model, NULL, \
        &(graphss_train_input){.struct_size = sizeof(graphss_train_input), \
            .graph = &w.graph, \
            .features = &w.features, \
            .n_classes = 2, \
            .split = &w.split, \
            .seed = 1}, \
        &opt)
    opt.model = "gnc";
    assert_fails(ctx, TRAIN(), GRAPHSS_ERR_INVALID, "found 'gnc', want one of gcn, sgc");
    opt = quick("gcn");
    opt.dropout = 1;
    assert_fails(ctx, TRAIN(), GRAPHSS_ERR_INVALID, "--dropout");
    opt = quick("sgc");
    opt.layers = 0;
    assert_fails(ctx, TRAIN(), GRAPHSS_ERR_INVALID, "--layers");
    opt = quick("gcn");
    opt.learning_rate = 1000;
    opt.unit_scale = false;
    opt.row_normalise = false;
    w.features.value[0] = 1e19F;
    assert_fails(ctx, TRAIN(), GRAPHSS_ERR_INVALID, "a smaller --learning-rate");
    w.features.value[0] = NAN;
    opt = quick("gcn");
    assert_fails(ctx, TRAIN(), GRAPHSS_ERR_DATA, "node 0");
    w.features.value[0] = 1;
    w.split.train_label[0] = 2;
    assert_fails(ctx, TRAIN(), GRAPHSS_ERR_DATA, "label 2");
    w.split.train_label[0] = 1;
    w.split.val[0] = WORLD_NODES;
    assert_fails(ctx, TRAIN(), GRAPHSS_ERR_SHAPE, "want 0..119");
    w.split.val[0] = 0;
    w.split.test[1] = -1; /* a model of it could be saved and not loaded */
    assert_fails(ctx, TRAIN(), GRAPHSS_ERR_SHAPE, "test node 1 is -1, want 0..119");
    w.split.test[1] = WORLD_NODES;
    assert_fails(ctx, TRAIN(), GRAPHSS_ERR_SHAPE, "test node 1 is 120");
    int32_t *const test = w.split.test;
    w.split.test = NULL;
    assert_fails(ctx, TRAIN(), GRAPHSS_ERR_INVALID, "but not the lists");
    w.split.test = test;
    w.split.test[1] = 1;
    const size_t held = w.split.n_train;
    w.split.n_train = 0;
    assert_fails(ctx, TRAIN(), GRAPHSS_ERR_DATA, "no training nodes");
    w.split.n_train = held;
    w.features.n_cols = 0;
    assert_fails(ctx, TRAIN(), GRAPHSS_ERR_DATA, "a column feat with NODE:1");
    w.features.n_cols = WORLD_WORDS;
    assert_null(model);
#undef TRAIN
    world_destroy(ctx, &w);
}

TEST_CTX(unsound_graphs_and_features_are_refused)
{
    world w;
    world_make(ctx, &w, 1);
    const graphss_train_options opt = quick("gcn");
    graphss_model *model = train(ctx, NULL, &w, &opt), *other = NULL;
    float prob[WORLD_NODES * 2];
#define REFUSED(part) \
    do { \
        assert_fails(ctx, \
            graphss_model_train(ctx, &other, NULL, \
                &(graphss_train_input){.struct_size = sizeof(graphss_train_input), \
                    .graph = &w.graph, \
                    .features = &w.features, \
                    .n_classes = 2, \
                    .split = &w.split, \
                    .seed = 1}, \
                &opt), \
            GRAPHSS_ERR_INVALID, part); \
        assert_fails(ctx, \
            graphss_model_continue(ctx, &other, NULL, model, \
                &(graphss_train_input){.struct_size = sizeof(graphss_train_input), \
                    .graph = &w.graph, \
                    .features = &w.features, \
                    .split = &w.split, \
                    .seed = 1}, \
                5), \
            GRAPHSS_ERR_INVALID, part); \
        assert_fails(ctx, graphss_model_predict(ctx, prob, model, &w.graph, &w.features), \
            GRAPHSS_ERR_INVALID, part); \
    } while (0)
    const int32_t target = w.graph.target[0], column = w.features.column[0];
    w.graph.target[0] = 1 << 30;
    REFUSED("neighbour 1073741824");
    w.graph.target[0] = target;
    w.graph.offset[3] = -1;
    REFUSED("node 2: its row ends at -1");
    w.graph.offset[3] = w.graph.offset[2];
    REFUSED("node 3");
    world_destroy(ctx, &w);
    world_make(ctx, &w, 1);
    w.features.column[0] = WORLD_WORDS;
    REFUSED("row 0: feature 20");
    w.features.column[0] = column;
    w.features.offset[1] = 1 << 30;
    REFUSED("row 1: it ends");
    const graphss_features held = w.features;
    w.features = (graphss_features){.n_rows = WORLD_NODES, .n_cols = WORLD_WORDS};
    REFUSED("no values");
    w.features = held;
#undef REFUSED
    assert_null(other);
    graphss_model_free(ctx, model);
    world_destroy(ctx, &w);
}

/* P (P X U) V = P^2 X (U V) */
TEST_CTX(layers_of_sgc_multiply)
{
    world w;
    world_make(ctx, &w, 1);
    graphss_train_options opt = quick("sgc");
    opt.layers = 2;
    opt.hops = 1;
    opt.bias = false;
    graphss_model *two = train(ctx, NULL, &w, &opt), *one = NULL;
    opt.layers = 1;
    opt.hops = 2;
    assert_ok(ctx, graphss_i_model_new(ctx, &one, &opt, WORLD_WORDS, 2, 1));
    one->scaling.scale = two->scaling.scale;
    const float *u = two->params.value + two->params.param[0].offset;
    const float *v = two->params.value + two->params.param[1].offset;
    for (size_t i = 0; i < WORLD_WORDS; i++)
        for (size_t c = 0; c < 2; c++)
            for (size_t j = 0; j < 8; j++)
                one->params.value[i * 2 + c] += u[i * 8 + j] * v[j * 2 + c];
    float a[WORLD_NODES * 2], b[WORLD_NODES * 2];
    predict(ctx, a, one, &w);
    predict(ctx, b, two, &w);
    for (size_t i = 0; i < WORLD_NODES * 2; i++)
        assert_true(fabsf(a[i] - b[i]) < 1e-5f);
    assert_true(test_accuracy(ctx, two, &w) > 0.8);
    graphss_model_free(ctx, one);
    graphss_model_free(ctx, two);
    world_destroy(ctx, &w);
}

TEST_CTX(graphsage_starts_larger_in_paper_mode)
{
    world w;
    world_make(ctx, &w, 1);
    graphss_train_options opt = quick("sage");
    opt.epochs = 0;
    graphss_model *honest = train(ctx, NULL, &w, &opt);
    opt.mode = GRAPHSS_MODE_PAPER;
    graphss_model *paper = train(ctx, NULL, &w, &opt);
    for (size_t i = 0; i < WORLD_WORDS * 8; i++)
        assert_true(
            honest->params.value[i] != 0 &&
            fabsf(paper->params.value[i] - sqrtf(2) * honest->params.value[i]) < 1e-6f);
    graphss_model_free(ctx, paper);
    graphss_model_free(ctx, honest);
    world_destroy(ctx, &w);
}

/* In paper mode Adam continues, so two halves of a training equal the whole; else not. */
TEST(adam_goes_on_in_paper_mode)
{
    for (int mode = GRAPHSS_MODE_DEFAULT; mode <= GRAPHSS_MODE_PAPER; mode++) {
        graphss_ctx *ctx = testing_ctx(NULL, 1);
        world w;
        world_make(ctx, &w, 1);
        w.split.n_val = 0; /* the last weights are kept */
        graphss_train_options opt = quick("gcn");
        opt.dropout = 0;
        opt.mode = mode;
        graphss_model *whole = train(ctx, NULL, &w, &opt), *rest = NULL;
        opt.epochs = 23;
        graphss_model *part = train(ctx, NULL, &w, &opt);
        assert_ok(ctx, graphss_model_continue(ctx, &rest, NULL, part,
                           &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                               .graph = &w.graph,
                               .features = &w.features,
                               .split = &w.split,
                               .seed = 3},
                           37));
        const size_t bytes = whole->params.count * sizeof *whole->params.value;
        const int differ = memcmp(whole->params.value, rest->params.value, bytes);
        assert_true((differ == 0) == (mode == GRAPHSS_MODE_PAPER));
        graphss_model_free(ctx, rest);
        graphss_model_free(ctx, part);
        graphss_model_free(ctx, whole);
        world_destroy(ctx, &w);
        graphss_ctx_free(ctx);
    }
}

TEST_CTX(training_goes_on_from_the_weights_given)
{
    world w;
    world_make(ctx, &w, 1);
    graphss_train_options opt = quick("gcn");
    opt.dropout = 0;
    opt.learning_rate = 1e-9; /* stands still */
    graphss_model *first = train(ctx, NULL, &w, &opt), *second = NULL;
    graphss_training log = {0};
    float before[WORLD_NODES * 2], after[WORLD_NODES * 2];
    predict(ctx, before, first, &w);
    assert_ok(ctx, graphss_model_continue(ctx, &second, &log, first,
                       &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                           .graph = &w.graph,
                           .features = &w.features,
                           .split = &w.split,
                           .seed = 7},
                       5));
    predict(ctx, after, second, &w);
    for (size_t i = 0; i < WORLD_NODES * 2; i++)
        assert_true(fabsf(before[i] - after[i]) < 1e-5f);
    assert_int_equal(log.epochs, 5);
    assert_int_equal(graphss_model_options(second)->epochs, 60);
    graphss_training_destroy(ctx, &log);
    graphss_model_free(ctx, second);
    graphss_model_free(ctx, first);

    /* Labels reversed: what was learned is unlearned. The given model does not change. */
    opt.learning_rate = 0.05;
    first = train(ctx, NULL, &w, &opt);
    predict(ctx, before, first, &w);
    for (size_t i = 0; i < w.split.n_train; i++)
        w.split.train_label[i] = 1 - w.split.train_label[i];
    for (size_t i = 0; i < w.split.n_val; i++)
        w.split.val_label[i] = 1 - w.split.val_label[i];
    assert_ok(ctx, graphss_model_continue(ctx, &second, NULL, first,
                       &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                           .graph = &w.graph,
                           .features = &w.features,
                           .split = &w.split,
                           .seed = 7},
                       60));
    assert_true(test_accuracy(ctx, first, &w) > 0.8);
    assert_true(test_accuracy(ctx, second, &w) < 0.2);
    predict(ctx, after, first, &w);
    assert_memory_equal(before, after, sizeof before);
    assert_int_equal(graphss_model_split(second)->train_label[0], w.split.train_label[0]);
    graphss_model *none = NULL;
    assert_fails(ctx,
        graphss_model_continue(ctx, &none, NULL, first,
            &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                .graph = &w.graph,
                .features = &w.features,
                .split = &w.split,
                .seed = 7},
            0),
        GRAPHSS_ERR_INVALID, "want at least 1");
    w.features.n_cols--;
    assert_fails(ctx,
        graphss_model_continue(ctx, &none, NULL, first,
            &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                .graph = &w.graph,
                .features = &w.features,
                .split = &w.split,
                .seed = 7},
            1),
        GRAPHSS_ERR_SHAPE, "trained on 20");
    w.features.n_cols++;
    assert_null(none);
    graphss_model_free(ctx, second);
    graphss_model_free(ctx, first);
    world_destroy(ctx, &w);
}

static bool stop_at_ten(
    void *user, const char *stage, size_t done, size_t total, const char *note)
{
    (void)user, (void)stage, (void)total, (void)note;
    return done < 10;
}

TEST(training_can_be_cancelled)
{
    const graphss_ctx_options options = {
        .struct_size = sizeof options, .progress = stop_at_ten, .threads = 1};
    graphss_ctx *ctx = graphss_ctx_new(&options);
    world w;
    world_make(ctx, &w, 1);
    const graphss_train_options opt = quick("gcn");
    graphss_model *model = NULL;
    assert_fails(ctx,
        graphss_model_train(ctx, &model, NULL,
            &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                .graph = &w.graph,
                .features = &w.features,
                .n_classes = 2,
                .split = &w.split,
                .seed = 1},
            &opt),
        GRAPHSS_ERR_CANCELLED, "train cancelled at 10 of 60");
    assert_null(model);
    world_destroy(ctx, &w);
    graphss_ctx_free(ctx);
}

typedef struct order {
    const world *w;
    const char *model;
} order;

static graphss_status train_and_predict(graphss_ctx *ctx, void *arg)
{
    const order *o = arg;
    const world *w = o->w;
    float prob[WORLD_NODES * 2];
    graphss_train_options opt = quick(o->model);
    opt.epochs = 2;
    opt.mode = GRAPHSS_MODE_PAPER; /* keeps more */
    graphss_model *model = NULL, *further = NULL;
    graphss_training log = {0};
    graphss_status st = graphss_model_train(ctx, &model, &log,
        &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
            .graph = &w->graph,
            .features = &w->features,
            .n_classes = 2,
            .split = &w->split,
            .seed = 1},
        &opt);
    if (!st)
        st = graphss_model_predict(ctx, prob, model, &w->graph, &w->features);
    if (!st)
        st = graphss_model_continue(ctx, &further, NULL, model,
            &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                .graph = &w->graph,
                .features = &w->features,
                .split = &w->split,
                .seed = 1},
            2);
    graphss_training_destroy(ctx, &log);
    graphss_model_free(ctx, further);
    graphss_model_free(ctx, model);
    return st;
}

TEST_CTX(failing_allocations_leave_nothing)
{
    world w;
    world_make(ctx, &w, 1);
    for (size_t m = 0; graphss_model_name(m); m++) {
        order o = {&w, graphss_model_name(m)};
        testing_each_allocation_fails(train_and_predict, &o);
    }
    world_destroy(ctx, &w);
}

TEST(each_model_tells_which_options_it_uses)
{
    for (size_t i = 0; graphss_model_name(i); i++) {
        const char *name = graphss_model_name(i);
        assert_true(graphss_model_uses(name, "dropout"));
        assert_false(graphss_model_uses(name, "magic"));
        assert_int_equal(graphss_model_uses(name, "hops"), !strcmp(name, "sgc"));
    }
    assert_true(graphss_model_uses("gcn", "self-loops"));
    assert_false(graphss_model_uses("sage", "self-loops"));
    assert_false(graphss_model_uses("mlp", "self-loops"));
    assert_false(graphss_model_uses("sage-mean", "self-loops"));
    assert_true(graphss_model_uses("gat", "heads") && graphss_model_uses("gat", "activation"));
    assert_false(
        graphss_model_uses("gcn", "heads") || graphss_model_uses("gcn", "activation"));
    assert_false(graphss_model_uses("magic", "dropout"));
    assert_false(graphss_model_uses(NULL, "dropout"));
}

TEST_CTX(more_weights_than_memory_are_refused_before_they_are_made)
{
    world w;
    world_make(ctx, &w, 1);
    graphss_model *model = NULL;
    w.features.n_cols = INT32_MAX; /* of which twenty are used */
    graphss_train_options opt;
    graphss_train_options_init(&opt, "gcn", GRAPHSS_MODE_DEFAULT, &w.features);
    opt.hidden = 4096;
    assert_fails(ctx,
        graphss_model_train(ctx, &model, NULL,
            &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                .graph = &w.graph,
                .features = &w.features,
                .n_classes = 2,
                .split = &w.split,
                .seed = 1},
            &opt),
        GRAPHSS_ERR_LIMIT, "2147483647 features make 8796");
    assert_null(model);
    w.features.n_cols = WORLD_WORDS;
    w.features.value[5] = 1e38F;
    assert_fails(ctx,
        graphss_model_train(ctx, &model, NULL,
            &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                .graph = &w.graph,
                .features = &w.features,
                .n_classes = 2,
                .split = &w.split,
                .seed = 1},
            NULL),
        GRAPHSS_ERR_DATA, "is 1e+38, too large to compute with");
    assert_null(model);
    world_destroy(ctx, &w);
}

int main(void)
{
    return testing_run();
}
