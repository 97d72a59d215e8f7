/* Properties of every defence, and known answers of the simple ones. */
#include "models/model_private.h"
#include "observation/test/testing_attacked_world.h"
#include "recover/defence.h"
#include <graphss/labels.h>
#include <graphss/synth.h>
#include <math.h>

static graphss_recover_options preset(const char *method, const attacked_world *a)
{
    graphss_recover_options opt;
    graphss_recover_options_init(
        &opt, graphss_lab_method_find(method), GRAPHSS_MODE_DEFAULT, a->model);
    return opt;
}

static void check_result(const graphss_recover_result *r)
{
    const graphss_predictions *p = &r->predictions;
    for (size_t i = 0; i < p->n_nodes; i++) {
        double sum = 0;
        for (size_t c = 0; c < p->n_classes; c++) {
            assert_true(p->posterior[i * p->n_classes + c] >= 0);
            sum += p->posterior[i * p->n_classes + c];
        }
        assert_true(fabs(sum - 1) < 1e-5);
        assert_true(p->perturbed[i] >= 0 && p->perturbed[i] <= 1);
        assert_true(p->label[i] >= 0 && (size_t)p->label[i] < p->n_classes);
    }
    assert_true(r->seconds >= 0 && r->peak_memory > 0);
    assert_non_null(r->how);
}

TEST(every_method_gives_posteriors_in_both_ways_or_says_why_not)
{
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    attacked_world a;
    attacked_world_make(ctx, &a);
    for (size_t i = 0; testing_method(i); i++) {
        size_t meant = 0;
        for (int train = GRAPHSS_RECOVER_AUTO; train <= GRAPHSS_RECOVER_RETRAIN; train++) {
            graphss_recover_options opt = preset(testing_method(i), &a);
            opt.fit.epochs = 20;
            opt.train = train;
            graphss_recover_result r = {0};
            const graphss_status st = graphss_recover_run(ctx, &r, &a.in, &opt);
            if (st) {
                if (train == GRAPHSS_RECOVER_AUTO)
                    fail_msg("%s: %s", testing_method(i), graphss_ctx_error(ctx));
                assert_int_equal(st, GRAPHSS_ERR_INVALID);
                assert_non_null(strstr(graphss_ctx_error(ctx), "has no meaning for"));
                continue;
            }
            check_result(&r);
            meant += train != GRAPHSS_RECOVER_AUTO;
            assert_int_equal(strcmp(r.train, "none") == 0 && train, 0);
            graphss_recover_result_destroy(ctx, &r);
        }
        graphss_recover_result r = {0};
        graphss_recover_options opt = preset(testing_method(i), &a);
        opt.fit.epochs = 2;
        assert_ok(ctx, graphss_recover_run(ctx, &r, &a.in, &opt));
        assert_true(meant > 0 || strcmp(r.train, "none") == 0);
        graphss_recover_result_destroy(ctx, &r);
    }
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(the_threads_do_not_change_the_answer)
{
    graphss_ctx *one = testing_ctx(NULL, 1), *two = testing_ctx(NULL, 2);
    attacked_world a;
    attacked_world_make(one, &a);
    for (size_t i = 0; testing_method(i); i++) {
        graphss_recover_options opt = preset(testing_method(i), &a);
        opt.fit.epochs = 10;
        graphss_recover_result x = {0}, y = {0};
        assert_ok(one, graphss_recover_run(one, &x, &a.in, &opt));
        assert_ok(two, graphss_recover_run(two, &y, &a.in, &opt));
        assert_memory_equal(x.predictions.posterior, y.predictions.posterior,
            WORLD_NODES * 2 * sizeof(double));
        graphss_recover_result_destroy(one, &x);
        graphss_recover_result_destroy(two, &y);
    }
    attacked_world_destroy(one, &a);
    graphss_ctx_free(one);
    graphss_ctx_free(two);
}

TEST(none_is_the_model_and_changes_nothing)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    const graphss_recover_options opt = preset("none", &a);
    graphss_recover_result r = {0};
    assert_ok(ctx, graphss_recover_run(ctx, &r, &a.in, &opt));
    float prob[WORLD_NODES * 2];
    assert_ok(ctx, graphss_model_predict(ctx, prob, a.model, &a.current, &a.w.features));
    for (size_t j = 0; j < WORLD_NODES * 2; j++)
        assert_true(r.predictions.posterior[j] == prob[j]);
    for (size_t i = 0; i < WORLD_NODES; i++)
        assert_true(r.predictions.perturbed[i] == 0);
    assert_int_equal(r.changed, 0);
    assert_string_equal(r.train, "evasion");
    graphss_recover_result_destroy(ctx, &r);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(keep_last_answers_as_before_and_counts_what_it_changed)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    const graphss_recover_options opt = preset("keep-last", &a);
    graphss_recover_result r = {0};
    assert_ok(ctx, graphss_recover_run(ctx, &r, &a.in, &opt));
    float before[WORLD_NODES * 2], now[WORLD_NODES * 2];
    int32_t was[WORLD_NODES], is[WORLD_NODES];
    assert_ok(ctx, graphss_model_predict(ctx, before, a.model, &a.w.graph, &a.w.features));
    assert_ok(ctx, graphss_model_predict(ctx, now, a.model, &a.current, &a.w.features));
    graphss_labels_argmax(was, before, WORLD_NODES, 2);
    graphss_labels_argmax(is, now, WORLD_NODES, 2);
    size_t changed = 0;
    for (size_t i = 0; i < WORLD_NODES; i++)
        changed += was[i] != is[i];
    assert_true(changed > 0);
    assert_memory_equal(r.predictions.label, was, sizeof was);
    assert_int_equal(r.changed, changed);
    assert_int_equal(r.new_nodes, 0);
    graphss_recover_result_destroy(ctx, &r);
    a.in.previous = NULL;
    assert_fails(ctx, graphss_recover_run(ctx, &r, &a.in, &opt), GRAPHSS_ERR_INVALID,
        "needs the previous snapshot");
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(labels_spread_along_a_chain)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    /* 0 - 2 - 4 and 1 - 3, the others apart; 0 is of class 0 and 1 of class 1. */
    const int32_t from[] = {0, 2, 1}, to[] = {2, 4, 3};
    int32_t train[] = {0, 1, 5}, label[] = {0, 1, 1};
    const graphss_split split = {.n_train = 3, .train = train, .train_label = label};
    graphss_graph chain = {0};
    assert_ok(ctx, graphss_graph_build(ctx, &chain, NULL, WORLD_NODES, from, to, 3));
    a.in.current.graph = &chain;
    a.in.split = &split;
    const graphss_recover_options opt = preset("label-propagation", &a);
    graphss_recover_result r = {0};
    assert_ok(ctx, graphss_recover_run(ctx, &r, &a.in, &opt));
    const double *p = r.predictions.posterior;
    assert_true(p[0] == 1 && p[2 * 2] == 1 && p[4 * 2] == 1 && p[3 * 2 + 1] == 1);
    assert_true(fabs(p[9 * 2] - 1. / 3) < 1e-9); /* out of reach: the shares of the labels */
    assert_string_equal(r.train, "none");
    graphss_recover_result_destroy(ctx, &r);
    graphss_graph_destroy(ctx, &chain);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(defences_win_something_back)
{
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    attacked_world a;
    attacked_world_make(ctx, &a);
    const double none = accuracy_of(ctx, &a, "none", GRAPHSS_RECOVER_AUTO);
    const double last = accuracy_of(ctx, &a, "keep-last", GRAPHSS_RECOVER_AUTO);
    const double words = accuracy_of(ctx, &a, "mlp", GRAPHSS_RECOVER_AUTO);
    assert_true(last > none + 0.1);
    assert_true(words > 0.7);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(abstaining_withholds_labels_and_keeps_posteriors)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    graphss_recover_options opt = preset("none", &a);
    opt.abstain = 0.7;
    graphss_recover_result r = {0};
    assert_ok(ctx, graphss_recover_run(ctx, &r, &a.in, &opt));
    size_t withheld = 0;
    for (size_t i = 0; i < WORLD_NODES; i++) {
        const double top =
            fmax(r.predictions.posterior[2 * i], r.predictions.posterior[2 * i + 1]);
        assert_int_equal(r.predictions.label[i] < 0, top < 0.7);
        withheld += r.predictions.label[i] < 0;
    }
    assert_true(withheld > 0 && withheld < WORLD_NODES);
    assert_int_equal(r.abstained, withheld);
    graphss_recover_result_destroy(ctx, &r);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(wrong_calls_are_refused)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    graphss_recover_result r = {0};
    graphss_recover_options opt = preset("magic", &a);
    assert_fails(ctx, graphss_recover_run(ctx, &r, &a.in, &opt), GRAPHSS_ERR_INVALID,
        "the options name no method");
    opt = preset("retrain", &a);
    opt.fit.dropout = 2;
    assert_fails(
        ctx, graphss_recover_run(ctx, &r, &a.in, &opt), GRAPHSS_ERR_INVALID, "dropout");
    opt = preset("retrain", &a);
    opt.train = GRAPHSS_RECOVER_EVASION;
    assert_fails(ctx, graphss_recover_run(ctx, &r, &a.in, &opt), GRAPHSS_ERR_INVALID,
        "has no meaning for retrain");
    opt = preset("mlp", &a);
    opt.train = GRAPHSS_RECOVER_EVASION;
    a.in.previous = NULL;
    assert_fails(ctx, graphss_recover_run(ctx, &r, &a.in, &opt), GRAPHSS_ERR_INVALID,
        "trained on the previous snapshot");

    int32_t train[] = {0, 2}, label[] = {1, 1};
    graphss_split split = {.n_train = 2, .train = train, .train_label = label};
    a.in.split = &split;
    opt = preset("retrain", &a);
    assert_fails(ctx, graphss_recover_run(ctx, &r, &a.in, &opt), GRAPHSS_ERR_DATA,
        "training labels are class 1");
    train[1] = WORLD_NODES;
    label[0] = 0;
    assert_fails(ctx, graphss_recover_run(ctx, &r, &a.in, &opt), GRAPHSS_ERR_SHAPE,
        "training node 1 is 120");
    int32_t test[] = {3, WORLD_NODES};
    train[1] = 2;
    split.n_test = 2;
    split.test = test;
    assert_fails(ctx, graphss_recover_run(ctx, &r, &a.in, &opt), GRAPHSS_ERR_SHAPE,
        "test node 1 is 120");
    graphss_alert_result alert = {0};
    assert_fails(ctx, graphss_alert_run(ctx, &alert, &a.in, NULL, 0, NULL), GRAPHSS_ERR_SHAPE,
        "test node 1 is 120");
    split.n_train = split.n_test = 0;
    assert_fails(
        ctx, graphss_recover_run(ctx, &r, &a.in, &opt), GRAPHSS_ERR_DATA, "no training node");
    a.in.split = NULL;
    int64_t offset[WORLD_NODES + 1] = {0};
    const graphss_graph bare = {.n_nodes = WORLD_NODES, .offset = offset};
    a.in.current.graph = &bare;
    opt = preset("label-propagation", &a);
    assert_fails(ctx, graphss_recover_run(ctx, &r, &a.in, &opt), GRAPHSS_ERR_DATA, "no links");
    const graphss_features empty = {.n_rows = WORLD_NODES};
    a.in.current.features = &empty;
    assert_fails(
        ctx, graphss_recover_run(ctx, &r, &a.in, &opt), GRAPHSS_ERR_DATA, "no features");
    assert_null(r.predictions.label);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(unsound_snapshots_are_refused_by_name)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    graphss_recover_result r = {0}, sound = {0};
    graphss_flips flips = {0};
    const graphss_recover_options opt = preset("none", &a);
    assert_ok(ctx, graphss_recover_run(ctx, &sound, &a.in, &opt));
#define REFUSED(status, part) \
    do { \
        assert_fails(ctx, graphss_recover_run(ctx, &r, &a.in, &opt), status, part); \
        assert_fails( \
            ctx, graphss_recover_flips(ctx, &flips, &a.in, &sound, 0.5), status, part); \
    } while (0)
    const int32_t target = a.current.target[0];
    a.current.target[0] = WORLD_NODES;
    REFUSED(GRAPHSS_ERR_INVALID, "the current snapshot: node 0: neighbour 120");
    a.current.target[0] = target;
    a.w.graph.target[0] = -1;
    REFUSED(GRAPHSS_ERR_INVALID, "the previous snapshot: node 0: neighbour -1");
    a.in.previous = NULL;
    a.w.features.column[1] = WORLD_WORDS;
    REFUSED(GRAPHSS_ERR_INVALID, "the current snapshot: row 0: feature 20");
    a.w.features.n_rows--;
    REFUSED(GRAPHSS_ERR_SHAPE, "the current snapshot has features of 119 nodes");
#undef REFUSED
    assert_null(r.predictions.label);
    assert_int_equal(flips.count, 0);
    graphss_recover_result_destroy(ctx, &sound);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

/* A past with more words, as an export that was not brought into the model's terms has. */
TEST(snapshots_of_other_features_do_not_fit)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    graphss_features wider = a.w.features;
    wider.n_cols++;
    a.previous.features = &wider;
    graphss_recover_result r = {0}, sound = {0};
    graphss_alert_result alert = {0};
    graphss_alert_scores seen = {0};
    graphss_flips flips = {0};
    const char *const wanted = "the previous snapshot has 21 features, the current one 20";
    graphss_recover_options opt = preset("keep-last", &a);
    for (size_t i = 0; testing_method(i); i++) {
        opt = preset(testing_method(i), &a);
        assert_fails(
            ctx, graphss_recover_run(ctx, &r, &a.in, &opt), GRAPHSS_ERR_SHAPE, wanted);
    }
    assert_fails(
        ctx, graphss_alert_run(ctx, &alert, &a.in, NULL, 0, NULL), GRAPHSS_ERR_SHAPE, wanted);
    assert_fails(ctx, graphss_alert_score(ctx, &seen, &a.in, NULL), GRAPHSS_ERR_SHAPE, wanted);
    graphss_defence_input alone = a.in;
    alone.previous = NULL;
    opt = preset("none", &a);
    assert_ok(ctx, graphss_recover_run(ctx, &sound, &alone, &opt));
    assert_fails(ctx, graphss_recover_flips(ctx, &flips, &a.in, &sound, 0.5),
        GRAPHSS_ERR_SHAPE, wanted);
    graphss_recover_result_destroy(ctx, &sound);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

/* A standardised model has a mean and a gain for each of its own columns. */
TEST(snapshots_do_not_fit_a_model_of_other_features)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    graphss_train_options fit;
    graphss_train_options_init(&fit, "gcn", GRAPHSS_MODE_DEFAULT, NULL);
    attacked_world_make(ctx, &a);
    fit.epochs = 5;
    fit.standardise = true;
    fit.row_normalise = false;
    graphss_model_free(ctx, a.model);
    a.model = NULL;
    world_measure(ctx, &a.w, 3);
    assert_ok(ctx, graphss_model_train(ctx, &a.model, NULL,
                       &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                           .graph = &a.w.graph,
                           .features = &a.w.features,
                           .n_classes = 2,
                           .split = &a.w.split,
                           .seed = 1},
                       &fit));
    const graphss_features wider = {.n_rows = WORLD_NODES / 2,
        .n_cols = 2 * WORLD_WORDS,
        .value = a.w.features.value,
        .kind = a.w.features.kind};
    int64_t offset[WORLD_NODES / 2 + 1] = {0};
    const graphss_graph bare = {.n_nodes = WORLD_NODES / 2, .offset = offset};
    const graphss_defence_input in = {.struct_size = sizeof in,
        .current = {&bare, &wider, NULL},
        .model = a.model,
        .seed = 1};
    graphss_recover_result r = {0};
    graphss_alert_result alert = {0};
    graphss_alert_scores seen = {0};
    graphss_recover_options opt;
    graphss_recover_options_init(
        &opt, graphss_lab_method_find("none"), GRAPHSS_MODE_DEFAULT, a.model);
    const char *const wanted =
        "the current snapshot has 40 features, the model was trained on 20";
    assert_fails(ctx, graphss_recover_run(ctx, &r, &in, &opt), GRAPHSS_ERR_SHAPE, wanted);
    assert_fails(
        ctx, graphss_alert_run(ctx, &alert, &in, NULL, 0, NULL), GRAPHSS_ERR_SHAPE, wanted);
    assert_fails(ctx, graphss_alert_score(ctx, &seen, &in, NULL), GRAPHSS_ERR_SHAPE, wanted);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

/* Names of all nodes: a letter and a number. */
typedef struct letters {
    char text[WORLD_NODES * 5];
    size_t start[WORLD_NODES + 1];
    graphss_names names;
} letters;

static void name_nodes(letters *l, const attacked_world *a, char validation)
{
    for (size_t i = 0; i <= WORLD_NODES; i++)
        l->start[i] = 5 * i;
    for (size_t i = 0; i < WORLD_NODES; i++)
        snprintf(l->text + 5 * i, 5, "n%03u", (unsigned)i % 1000);
    for (size_t i = 0; i < a->w.split.n_val; i++)
        l->text[5 * a->w.split.val[i]] = validation;
    l->names = (graphss_names){WORLD_NODES, l->start, l->text};
}

/* All validation nodes are new, and no others. */
TEST(new_validation_nodes_end_neither_alert_nor_recovery)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    letters now, past;
    attacked_world_make(ctx, &a);
    name_nodes(&now, &a, 'n');
    name_nodes(&past, &a, 'x');
    a.in.current.names = &now.names;
    a.previous.names = &past.names;
    a.in.split = &a.w.split;
    graphss_recover_result r = {0};
    graphss_alert_result alert = {0};
    assert_ok(ctx, graphss_alert_run(ctx, &alert, &a.in, NULL, 0, NULL));
    graphss_alert_result_destroy(ctx, &alert);
    assert_ok(ctx, graphss_recover_run(ctx, &r, &a.in, NULL));
    assert_int_equal(r.new_nodes, a.w.split.n_val);
    graphss_recover_result_destroy(ctx, &r);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(answers_that_are_no_numbers_are_refused)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    const graphss_recover_options opt = preset("none", &a);
    graphss_recover_result r = {0};
    for (size_t i = 0; i < a.model->params.count; i++)
        a.model->params.value[i] = NAN;
    assert_fails(ctx, graphss_recover_run(ctx, &r, &a.in, &opt), GRAPHSS_ERR_DATA,
        "none: the posterior of node 0 is no number");
    assert_null(r.predictions.label);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(options_belong_to_methods)
{
    assert_true(graphss_recover_method_uses(
        graphss_lab_method_find("none"), GRAPHSS_MODE_DEFAULT, "abstain"));
    assert_true(graphss_recover_method_uses(
        graphss_lab_method_find("label-propagation"), GRAPHSS_MODE_DEFAULT, "alpha"));
    assert_false(graphss_recover_method_uses(
        graphss_lab_method_find("none"), GRAPHSS_MODE_DEFAULT, "alpha"));
    assert_false(graphss_recover_method_uses(
        graphss_lab_method_find("none"), GRAPHSS_MODE_DEFAULT, "hidden"));
    assert_true(graphss_recover_method_uses(
        graphss_lab_method_find("retrain"), GRAPHSS_MODE_DEFAULT, "hidden"));
    assert_false(graphss_recover_method_uses(
        graphss_lab_method_find("magic"), GRAPHSS_MODE_DEFAULT, "mode"));
    assert_false(graphss_recover_method_uses(
        graphss_lab_method_find("none"), GRAPHSS_MODE_DEFAULT, "magic"));
    assert_true(graphss_recover_method_finds(
        graphss_lab_method_find("graphss"), GRAPHSS_MODE_DEFAULT));
    assert_false(
        graphss_recover_method_finds(graphss_lab_method_find("graphss"), GRAPHSS_MODE_PAPER));
    assert_false(
        graphss_recover_method_finds(graphss_lab_method_find("none"), GRAPHSS_MODE_DEFAULT));
    assert_false(
        graphss_recover_method_finds(graphss_lab_method_find("magic"), GRAPHSS_MODE_DEFAULT));
    for (size_t i = 0; testing_method(i); i++)
        for (int mode = 0; mode < 2; mode++) {
            graphss_ctx *ctx = testing_ctx(NULL, 1);
            graphss_recover_options opt;
            graphss_recover_options_init(
                &opt, graphss_lab_method_at(i), (graphss_mode)mode, NULL);
            assert_ok(ctx, graphss_options_check(ctx, &opt,
                               graphss_recover_method_options(opt.method, opt.mode)));
            graphss_ctx_free(ctx);
        }
}

typedef struct order {
    const attacked_world *a;
    const char *method;
    int train;
} order;

static graphss_status recover_once(graphss_ctx *ctx, void *arg)
{
    const order *o = arg;
    graphss_recover_options opt = preset(o->method, o->a);
    opt.train = o->train;
    opt.fit.epochs = 1;
    opt.fit.hidden = 16;
    if (graphss_recover_method_uses(opt.method, opt.mode, "alpha"))
        opt.propagation.steps = 2;
    if (!strcmp(o->method, "grand"))
        opt.grand.steps = 2;
    if (!strcmp(o->method, "advtrain"))
        opt.advtrain.adversaries = 0;
    graphss_recover_result r = {0};
    const graphss_status st = graphss_recover_run(ctx, &r, &o->a->in, &opt);
    graphss_recover_result_destroy(ctx, &r);
    return st;
}

/* A few hundred nodes, no past: attacks are learned from a few dozen nodes. */
TEST(a_small_clean_graph_is_left_alone)
{
    enum { GRAPHS = 10 };
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    double share = 0, gain = 0;
    for (int64_t seed = 1; seed <= GRAPHS; seed++) {
        graphss_dataset data = {0};
        graphss_split split = {0};
        graphss_model *model = NULL;
        graphss_recover_result r = {0};
        graphss_synth_options shape;
        graphss_synth_options_init(&shape);
        shape.nodes = 600;
        shape.classes = 2;
        shape.features = 200;
        shape.degree = 8;
        shape.seed = seed;
        assert_ok(ctx, graphss_synth_make(ctx, &data, &shape));
        assert_ok(ctx, graphss_split_make(ctx, &split, data.label, data.graph.n_nodes, 2,
                           (uint64_t)seed, NULL));
        assert_ok(ctx, graphss_model_train(ctx, &model, NULL,
                           &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                               .graph = &data.graph,
                               .features = &data.features,
                               .n_classes = 2,
                               .split = &split,
                               .seed = (uint64_t)seed},
                           NULL));
        const graphss_defence_input in = {.struct_size = sizeof in,
            .current = {&data.graph, &data.features, NULL},
            .model = model,
            .seed = (uint64_t)seed};
        assert_ok(ctx, graphss_recover_run(ctx, &r, &in, NULL));
        share += r.share / GRAPHS;
        int32_t *own = malloc(data.graph.n_nodes * sizeof *own);
        assert_ok(ctx, graphss_model_label(ctx, own, model, &data.graph, &data.features));
        gain += (graphss_labels_accuracy(
                     r.predictions.label, data.label, split.test, split.n_test) -
                    graphss_labels_accuracy(own, data.label, split.test, split.n_test)) /
                GRAPHS;
        free(own);
        graphss_recover_result_destroy(ctx, &r);
        graphss_model_free(ctx, model);
        graphss_split_destroy(ctx, &split);
        graphss_dataset_destroy(ctx, &data);
    }
    if (share > 0.1 || gain < -0.005)
        fail_msg("%g of the nodes thought hit, accuracy changed by %g", share, gain);
    graphss_ctx_free(ctx);
}

TEST(failing_allocations_leave_nothing)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    for (size_t i = 0; testing_method(i); i++) {
        order o = {&a, testing_method(i), GRAPHSS_RECOVER_AUTO};
        testing_allocations_fail(recover_once, &o, 40); /* each run trains a model or six */
        graphss_recover_result r = {0};
        graphss_recover_options opt = preset(o.method, &a);
        opt.train = GRAPHSS_RECOVER_EVASION;
        opt.fit.epochs = 1;
        if (graphss_recover_run(ctx, &r, &a.in, &opt) == GRAPHSS_OK) {
            graphss_recover_result_destroy(ctx, &r);
            o.train = GRAPHSS_RECOVER_EVASION;
            testing_allocations_fail(
                recover_once, &o, 40); /* each run trains a model or six */
        }
    }
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(validation_counts_the_labels_that_lead)
{
    enum { NODES = 30, CLASSES = 3 };
    graphss_rng rng = graphss_rng_make(3, 1);
    double posterior[NODES * CLASSES];
    int32_t val[NODES / 2], label[NODES / 2];
    for (size_t j = 0; j < NODES * CLASSES; j++)
        posterior[j] = graphss_rng_double(&rng);
    size_t right = 0;
    for (size_t j = 0; j < NODES / 2; j++) {
        val[j] = (int32_t)(2 * j);
        label[j] = (int32_t)graphss_rng_below(&rng, CLASSES);
        const double *p = posterior + 2 * j * CLASSES;
        right += p[label[j]] == fmax(p[0], fmax(p[1], p[2]));
    }
    graphss_split split = {.n_val = NODES / 2, .val = val, .val_label = label};
    const graphss_i_defence_input input = {.split = &split, .n = NODES, .k = CLASSES};
    assert_true(graphss_i_validation(posterior, &input) == (double)right / (NODES / 2));
    split.n_val = 0;
    assert_true(isnan(graphss_i_validation(posterior, &input)));
}

TEST(every_method_has_a_line_about_it)
{
    size_t n = 0;
    for (; testing_method(n); n++)
        assert_true(strlen(graphss_recover_method_summary(graphss_lab_method_at(n))) > 10);
    assert_true(n > 10);
    assert_null(graphss_recover_method_summary(NULL));
}

int main(void)
{
    return testing_run();
}
