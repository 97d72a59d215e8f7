/* Adversarial training: what it trains on, and what it refuses. */
#include "observation/test/testing_attacked_world.h"

static graphss_recover_options preset(const attacked_world *a)
{
    graphss_recover_options opt;
    graphss_recover_options_init(
        &opt, graphss_lab_method_find("advtrain"), GRAPHSS_MODE_DEFAULT, a->model);
    return opt;
}

/* The test accuracy of a classifier trained on the clean world and on an attacked one. */
static double on_clean_world(graphss_ctx *ctx, const char *model_name, double adversaries)
{
    attacked_world a;
    attacked_world_make(ctx, &a);
    graphss_train_options train;
    graphss_train_options_init(&train, model_name, GRAPHSS_MODE_DEFAULT, NULL);
    train.hidden = 16;
    train.epochs = 60;
    train.dropout = 0.3;
    graphss_model_free(ctx, a.model);
    assert_ok(ctx, graphss_model_train(ctx, &a.model, NULL,
                       &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                           .graph = &a.w.graph,
                           .features = &a.w.features,
                           .n_classes = 2,
                           .split = &a.w.split,
                           .seed = 1},
                       &train));
    a.in.model = a.model;
    a.in.current.graph = &a.w.graph;
    graphss_recover_options opt = preset(&a);
    opt.advtrain.adversaries = adversaries;
    graphss_recover_result r = answer(ctx, &a, &opt);
    const double share = graphss_labels_accuracy(
        r.predictions.label, a.w.label, a.w.split.test, a.w.split.n_test);
    graphss_recover_result_destroy(ctx, &r);
    attacked_world_destroy(ctx, &a);
    return share;
}

TEST(every_classifier_learns_the_clean_world)
{
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    const char *const name[] = {"gcn", "sgc", "sage"};
    for (int i = 0; i < 3; i++)
        for (int share = 0; share < 2; share++) {
            const double right = on_clean_world(ctx, name[i], share);
            if (right < 0.8)
                fail_msg("%s, share %d: %g", name[i], share, right);
        }
    graphss_ctx_free(ctx);
}

/* The current snapshot is ignored while training on the previous one. */
TEST(evasion_is_trained_on_the_previous_snapshot)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    graphss_recover_options opt = preset(&a);
    opt.train = GRAPHSS_RECOVER_EVASION;
    opt.fit.epochs = 20;
    a.in.current.graph = &a.w.graph;
    graphss_recover_result before = answer(ctx, &a, &opt);
    opt.train = GRAPHSS_RECOVER_RETRAIN;
    graphss_recover_result same =
        answer(ctx, &a, &opt); /* previous and current are the same */
    const size_t size = WORLD_NODES * 2 * sizeof(double);
    assert_memory_equal(before.predictions.posterior, same.predictions.posterior, size);
    a.in.current.graph = &a.current;
    graphss_recover_result again = answer(ctx, &a, &opt);
    opt.train = GRAPHSS_RECOVER_EVASION;
    graphss_recover_result evaded = answer(ctx, &a, &opt);
    assert_true(memcmp(again.predictions.posterior, evaded.predictions.posterior, size) != 0);
    a.in.previous = NULL;
    graphss_recover_result none = {0};
    assert_fails(ctx, graphss_recover_run(ctx, &none, &a.in, &opt), GRAPHSS_ERR_INVALID,
        "trained on the previous snapshot");
    graphss_recover_result_destroy(ctx, &before);
    graphss_recover_result_destroy(ctx, &same);
    graphss_recover_result_destroy(ctx, &again);
    graphss_recover_result_destroy(ctx, &evaded);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(the_share_of_adversaries_counts)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    graphss_recover_options opt = preset(&a);
    opt.fit.epochs = 20;
    opt.advtrain.adversaries = 0;
    graphss_recover_result one = answer(ctx, &a, &opt);
    opt.advtrain.adversaries = 1;
    graphss_recover_result all = answer(ctx, &a, &opt);
    assert_true(memcmp(one.predictions.posterior, all.predictions.posterior,
                    WORLD_NODES * 2 * sizeof(double)) != 0);
    graphss_recover_result_destroy(ctx, &one);
    graphss_recover_result_destroy(ctx, &all);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(dense_features_give_what_sparse_ones_give)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    const graphss_features *f = &a.w.features;
    graphss_features dense = {.n_rows = f->n_rows, .n_cols = f->n_cols, .kind = f->kind};
    dense.value = calloc(f->n_rows * f->n_cols, sizeof *dense.value);
    for (size_t i = 0; i < f->n_rows; i++)
        for (int64_t e = f->offset[i]; e < f->offset[i + 1]; e++)
            dense.value[i * f->n_cols + (size_t)f->column[e]] = f->value[e];
    graphss_recover_options opt = preset(&a);
    opt.fit.epochs = 5;
    opt.fit.dropout = 0; /* it falls on stored entries, and a dense row stores zeros too */
    graphss_recover_result x = answer(ctx, &a, &opt);
    a.in.current.features = &dense;
    graphss_recover_result y = answer(ctx, &a, &opt);
    size_t differ = 0;
    for (size_t i = 0; i < WORLD_NODES; i++)
        differ += x.predictions.label[i] != y.predictions.label[i];
    /* The linear model that leads the attack is trained with dropout. */
    assert_true(differ < WORLD_NODES / 10);
    graphss_recover_result_destroy(ctx, &x);
    graphss_recover_result_destroy(ctx, &y);
    free(dense.value);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(the_paper_trains_as_the_model_was_and_attacks_few)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    graphss_recover_options opt;
    graphss_recover_options_init(
        &opt, graphss_lab_method_find("advtrain"), GRAPHSS_MODE_PAPER, a.model);
    assert_true(opt.advtrain.adversaries == 0.02);
    assert_int_equal(opt.fit.epochs, 60);
    assert_true(opt.fit.dropout == 0.3);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

typedef struct patience {
    const char *until;
    bool seen;
} patience;

static bool stop(void *user, const char *stage, size_t done, size_t total, const char *note)
{
    (void)done, (void)total, (void)note;
    patience *p = user;
    p->seen |= strcmp(stage, p->until) == 0;
    return !p->seen;
}

TEST(it_can_be_cancelled_while_it_attacks)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    patience p = {.until = "attack"};
    const graphss_ctx_options options = {
        .struct_size = sizeof options, .threads = 1, .progress = stop, .user = &p};
    graphss_ctx *impatient = graphss_ctx_new(&options);
    const graphss_recover_options opt = preset(&a);
    graphss_recover_result r = {0};
    assert_int_equal(graphss_recover_run(impatient, &r, &a.in, &opt), GRAPHSS_ERR_CANCELLED);
    assert_true(p.seen);
    assert_null(r.predictions.label);
    graphss_ctx_free(impatient);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(a_perceptron_and_a_bare_graph_are_refused)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    graphss_recover_result r = {0};
    const graphss_recover_options opt = preset(&a);
    int64_t offset[WORLD_NODES + 1] = {0};
    const graphss_graph bare = {.n_nodes = WORLD_NODES, .offset = offset};
    a.in.current.graph = &bare;
    assert_fails(ctx, graphss_recover_run(ctx, &r, &a.in, &opt), GRAPHSS_ERR_DATA, "no links");
    a.in.current.graph = &a.current;
    graphss_train_options train;
    graphss_train_options_init(&train, "mlp", GRAPHSS_MODE_DEFAULT, NULL);
    train.epochs = 1;
    graphss_model *mlp = NULL;
    assert_ok(ctx, graphss_model_train(ctx, &mlp, NULL,
                       &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                           .graph = &a.w.graph,
                           .features = &a.w.features,
                           .n_classes = 2,
                           .split = &a.w.split,
                           .seed = 1},
                       &train));
    a.in.model = mlp;
    assert_fails(ctx, graphss_recover_run(ctx, &r, &a.in, &opt), GRAPHSS_ERR_INVALID,
        "no meaning for mlp");
    graphss_model_free(ctx, mlp);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

int main(void)
{
    return testing_run();
}
