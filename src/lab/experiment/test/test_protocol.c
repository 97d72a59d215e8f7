#include "testing.h"

static const char *const SYNTH =
    "synth:nodes=300,classes=3,features=80,degree=6,homophily=0.8,seed=5";

static void read_data(graphss_ctx *ctx, graphss_dataset *data)
{
    assert_ok(ctx, graphss_dataset_read(ctx, data, SYNTH, NULL));
}

static graphss_protocol_options quick(graphss_mode mode, graphss_setting setting)
{
    graphss_protocol_options opt;
    graphss_protocol_options_init(&opt, "gcn", mode);
    opt.plan.setting = (int)setting;
    opt.train.hidden = 16;
    opt.train.epochs = 60;
    opt.train.learning_rate = 0.02;
    opt.train.dropout = 0;
    opt.attack.features = 3;
    return opt;
}

static double row_sum(const graphss_features *x, size_t row)
{
    double sum = 0;
    for (int64_t j = x->offset[row]; j < x->offset[row + 1]; j++)
        sum += (double)x->value[j];
    return sum;
}

TEST_CTX(the_papers_rows_are_divided_before_the_attack_and_not_after)
{
    graphss_dataset data = {0};
    read_data(ctx, &data);
    const graphss_protocol_options opt = quick(GRAPHSS_MODE_PAPER, GRAPHSS_SETTING_SEEN);
    graphss_protocol p = {0};
    graphss_protocol_trial s = {0};
    assert_ok(ctx, graphss_protocol_start(ctx, &p, &data, 1, &opt));
    assert_ok(ctx, graphss_protocol_attack(ctx, &s, &p, 2));
    assert_false(graphss_model_options(s.model)->row_normalise);
    assert_int_equal(graphss_model_options(s.model)->layers, 3);
    assert_false(graphss_model_options(s.model)->self_loops);
    const graphss_features *past = &s.snapshots.previous.features;
    const graphss_features *now = &s.snapshots.current.features;
    size_t heavy = 0;
    for (size_t i = 0; i < past->n_rows; i++)
        assert_true(fabs(row_sum(past, i) - 1) < 1e-4 || row_sum(past, i) == 0);
    for (size_t i = 0; i < s.snapshots.n_victims; i++)
        heavy += row_sum(now, (size_t)s.snapshots.victim[i]) > 1.5;
    assert_true(heavy > s.snapshots.n_victims / 2);
    for (size_t i = 0; i < s.n_others; i++)
        assert_true(row_sum(now, (size_t)s.other[i]) < 1.001);
    graphss_protocol_trial_destroy(ctx, &s);
    graphss_protocol_destroy(ctx, &p);
    graphss_dataset_destroy(ctx, &data);
}

/* For a GCN the attacker has the weights of the last epoch, for the others those before the
 * first. */
TEST_CTX(the_papers_attacker_has_the_right_weights)
{
    static const char *const name[] = {"gcn", "sgc", "sage"};
    graphss_dataset data = {0};
    read_data(ctx, &data);
    for (size_t m = 0; m < 3; m++) {
        graphss_protocol_options opt = quick(GRAPHSS_MODE_PAPER, GRAPHSS_SETTING_SEEN);
        graphss_train_options_init(&opt.train, name[m], GRAPHSS_MODE_PAPER, NULL);
        opt.train.row_normalise = false;
        opt.train.hidden = 8;
        opt.train.epochs = 30;
        graphss_protocol p = {0};
        assert_ok(ctx, graphss_protocol_start(ctx, &p, &data, 4, &opt));
        graphss_model *model = NULL;
        graphss_split all = p.split;
        float *w = NULL;
        all.n_val = 0;
        opt.train.epochs = m == 0 ? 30 : 0;
        assert_ok(ctx, graphss_model_train(ctx, &model, NULL,
                           &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                               .graph = &p.data.graph,
                               .features = &p.data.features,
                               .n_classes = 3,
                               .split = &all,
                               .seed = 4},
                           &opt.train));
        assert_ok(ctx, graphss_surrogate_from_model(ctx, &w, model, GRAPHSS_MODE_PAPER));
        assert_memory_equal(w, p.surrogate, data.features.n_cols * 3 * sizeof *w);
        graphss_release(ctx, w);
        graphss_model_free(ctx, model);
        graphss_protocol_destroy(ctx, &p);
    }
    graphss_dataset_destroy(ctx, &data);
}

TEST(every_setting_is_a_trial_a_defence_can_use)
{
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    graphss_dataset data = {0};
    read_data(ctx, &data);
    for (int setting = GRAPHSS_SETTING_SEEN; setting <= GRAPHSS_SETTING_GROWING; setting++) {
        const graphss_protocol_options opt =
            quick(GRAPHSS_MODE_DEFAULT, (graphss_setting)setting);
        graphss_protocol p = {0};
        graphss_protocol_trial s = {0};
        assert_ok(ctx, graphss_protocol_start(ctx, &p, &data, 3, &opt));
        assert_ok(ctx, graphss_protocol_attack(ctx, &s, &p, 3));
        const graphss_split *split = &s.snapshots.split;
        assert_int_equal(p.opt.attack.edges, 2);
        assert_int_equal(s.n_others + s.snapshots.n_victims, split->n_test);
        assert_int_equal(s.snapshots.n_victims, (size_t)round(0.2 * (double)split->n_test));
        assert_true(s.attacked.victims < s.clean.victims - 0.1);
        const double n = (double)split->n_test, v = (double)s.snapshots.n_victims;
        assert_true(
            fabs(s.clean.test - (v * s.clean.victims + (n - v) * s.clean.others) / n) < 1e-9);
        const graphss_defence_input in = graphss_protocol_input(&s);
        assert_true((in.previous == NULL) == (setting == GRAPHSS_SETTING_NEW));
        graphss_recover_options none;
        graphss_recover_options_init(
            &none, graphss_lab_method_find("none"), GRAPHSS_MODE_DEFAULT, s.model);
        graphss_recover_result r = {0};
        assert_ok(ctx, graphss_recover_run(ctx, &r, &in, &none));
        const graphss_protocol_score score = graphss_protocol_measure(&s, r.predictions.label);
        assert_true(score.victims == s.attacked.victims && score.test == s.attacked.test);
        graphss_recover_result_destroy(ctx, &r);
        graphss_protocol_trial_destroy(ctx, &s);
        graphss_protocol_destroy(ctx, &p);
    }
    graphss_dataset_destroy(ctx, &data);
    graphss_ctx_free(ctx);
}

/* Predicts class 1 for nodes with many edges; counts its calls. */
static graphss_status by_degree(void *user, float *prob, const graphss_graph *graph,
    const graphss_features *features, char *why, size_t size)
{
    (void)features;
    (void)why;
    (void)size;
    ++*(size_t *)user;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const bool many = graphss_graph_degree(graph, i) > 6;
        prob[3 * i] = many ? 0.2F : 0.7F;
        prob[3 * i + 1] = many ? 0.7F : 0.2F;
        prob[3 * i + 2] = 0.1F;
    }
    return GRAPHSS_OK;
}

TEST_CTX(a_predictor_stands_in_for_the_classifier)
{
    graphss_dataset data = {0};
    read_data(ctx, &data);
    size_t asked = 0;
    const graphss_predictor mine = {
        .struct_size = sizeof mine, .probabilities = by_degree, .user = &asked};
    const graphss_setting setting[] = {GRAPHSS_SETTING_SEEN, GRAPHSS_SETTING_NEW};
    for (size_t k = 0; k < 2; k++) {
        graphss_protocol_options opt = quick(GRAPHSS_MODE_DEFAULT, setting[k]);
        opt.predictor = &mine;
        graphss_protocol p = {0};
        graphss_protocol_trial s = {0};
        assert_ok(ctx, graphss_protocol_start(ctx, &p, &data, 1, &opt));
        assert_ok(ctx, graphss_protocol_attack(ctx, &s, &p, 2));
        graphss_predictor_use use;
        assert_true(graphss_model_predictor_use(&use, s.model));
        assert_int_equal(use.calls, asked);
        for (size_t i = 0; i < s.snapshots.current.graph.n_nodes; i++)
            assert_int_equal(
                s.after[i], graphss_graph_degree(&s.snapshots.current.graph, i) > 6);
        graphss_protocol_trial_destroy(ctx, &s);
        graphss_protocol_destroy(ctx, &p);
        asked = 0;
    }
    graphss_protocol p = {0};
    graphss_protocol_options opt = quick(GRAPHSS_MODE_PAPER, GRAPHSS_SETTING_SEEN);
    opt.predictor = &mine;
    assert_int_equal(graphss_protocol_start(ctx, &p, &data, 1, &opt), GRAPHSS_ERR_INVALID);
    graphss_dataset_destroy(ctx, &data);
}

TEST_CTX(victims_change_with_their_seed_and_the_model_does_not)
{
    graphss_dataset data = {0};
    read_data(ctx, &data);
    const graphss_protocol_options opt = quick(GRAPHSS_MODE_PAPER, GRAPHSS_SETTING_SEEN);
    graphss_protocol p = {0};
    graphss_protocol_trial s[3] = {0};
    assert_ok(ctx, graphss_protocol_start(ctx, &p, &data, 1, &opt));
    for (size_t i = 0; i < 3; i++)
        assert_ok(ctx, graphss_protocol_attack(ctx, &s[i], &p, i == 2 ? 1 : i + 1));
    const size_t bytes = s[0].snapshots.n_victims * sizeof(int32_t);
    assert_true(s[0].model == s[1].model);
    assert_memory_not_equal(s[0].snapshots.victim, s[1].snapshots.victim, bytes);
    assert_memory_equal(s[0].snapshots.victim, s[2].snapshots.victim, bytes);
    assert_memory_equal(s[0].after, s[2].after, data.graph.n_nodes * sizeof *s[0].after);
    for (size_t i = 0; i < 3; i++)
        graphss_protocol_trial_destroy(ctx, &s[i]);
    graphss_protocol_destroy(ctx, &p);
    graphss_dataset_destroy(ctx, &data);
}

TEST(budgets_are_the_papers)
{
    int64_t edges, features;
    graphss_dataset data = {.name = "cora"};
    graphss_protocol_budget(&edges, &features, &data);
    assert_true(edges == 2 && features == 20);
    snprintf(data.name, sizeof data.name, "coauthor_cs");
    graphss_protocol_budget(&edges, &features, &data);
    assert_true(edges == 5 && features == 50);
}

TEST_CTX(the_paper_has_one_setting)
{
    graphss_dataset data = {0};
    read_data(ctx, &data);
    const graphss_protocol_options opt = quick(GRAPHSS_MODE_PAPER, GRAPHSS_SETTING_NEW);
    graphss_protocol p = {0};
    assert_fails(ctx, graphss_protocol_start(ctx, &p, &data, 1, &opt), GRAPHSS_ERR_INVALID,
        "setting new in paper mode");
    assert_null(p.model);
    graphss_dataset_destroy(ctx, &data);
}

TEST_CTX(what_is_believed_is_noisy_within_bounds)
{
    static const double bad[] = {-0.1, 1.5, NAN};
    graphss_dataset data = {0};
    graphss_split split = {0};
    read_data(ctx, &data);
    const size_t n = data.graph.n_nodes;
    assert_ok(ctx, graphss_split_make(ctx, &split, data.label, n, data.n_classes, 1, NULL));
    int32_t *label = malloc(n * sizeof *label);
    memcpy(label, data.label, n * sizeof *label);
    label[split.train[0]] = -1; /* to be left alone */
    for (size_t i = 0; i < 3; i++)
        assert_fails(ctx, graphss_protocol_believed(ctx, label, &data, &split, bad[i], 1),
            GRAPHSS_ERR_INVALID, "want 0 to 1");
    assert_int_equal(label[split.train[0]], -1);
    graphss_split far = split;
    int32_t test[] = {(int32_t)n};
    far.test = test;
    far.n_test = 1;
    assert_fails(ctx, graphss_protocol_believed(ctx, label, &data, &far, 0.5, 1),
        GRAPHSS_ERR_SHAPE, "test node 0 is 300");
    assert_int_equal(label[split.train[0]], -1);
    assert_ok(ctx, graphss_protocol_believed(ctx, label, &data, &split, 1, 1));
    assert_int_equal(label[split.train[0]], split.train_label[0]);
    for (size_t i = 0; i < split.n_test; i++)
        assert_in_range(label[split.test[i]], 0, data.n_classes - 2);
    free(label);
    graphss_split_destroy(ctx, &split);
    graphss_dataset_destroy(ctx, &data);
}

typedef struct order {
    const graphss_dataset *data;
    graphss_protocol_options opt;
} order;

static graphss_status start_and_attack(graphss_ctx *ctx, void *arg)
{
    const order *o = arg;
    graphss_protocol p = {0};
    graphss_protocol_trial s = {0};
    graphss_status st = graphss_protocol_start(ctx, &p, o->data, 1, &o->opt);
    if (!st)
        st = graphss_protocol_attack(ctx, &s, &p, 1);
    graphss_protocol_trial_destroy(ctx, &s);
    graphss_protocol_destroy(ctx, &p);
    return st;
}

TEST_CTX(failing_allocations_leave_nothing)
{
    graphss_dataset data = {0};
    assert_ok(
        ctx, graphss_dataset_read(ctx, &data, "synth:nodes=60,classes=3,features=20", NULL));
    order o = {.data = &data, .opt = quick(GRAPHSS_MODE_PAPER, GRAPHSS_SETTING_SEEN)};
    o.opt.train.epochs = 1;
    testing_each_allocation_fails(start_and_attack, &o);
    o.opt = quick(GRAPHSS_MODE_DEFAULT, GRAPHSS_SETTING_NEW);
    o.opt.train.epochs = 1;
    testing_allocations_fail(start_and_attack, &o, 80); /* each run trains a surrogate */
    graphss_dataset_destroy(ctx, &data);
}

int main(void)
{
    return testing_run();
}
