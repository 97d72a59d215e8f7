#include "models/model_private.h"
#include "testing.h"
#include <graphss/model.h>
#include <graphss/synth.h>

enum { EPOCHS = 30 };

typedef struct world {
    graphss_dataset data;
    graphss_split split;
    graphss_train_options opt;
    char path[256];
    size_t stop; /* the epoch at which the training is interrupted; 0: none */
    size_t told; /* epochs reported */
} world;

static bool go_on(void *user, const char *stage, size_t done, size_t total, const char *note)
{
    world *w = user;
    w->told++;
    (void)stage;
    (void)total;
    (void)note;
    return !w->stop || done < w->stop;
}

static graphss_ctx *context(world *w)
{
    graphss_ctx *ctx =
        graphss_ctx_new(&(graphss_ctx_options){.struct_size = sizeof(graphss_ctx_options),
            .threads = 1,
            .progress = go_on,
            .user = w});
    assert_non_null(ctx);
    return ctx;
}

static void set_up(world *w, graphss_ctx *ctx, graphss_mode mode)
{
    graphss_synth_options synth;
    graphss_synth_options_init(&synth);
    synth.nodes = 200;
    synth.features = 40;
    synth.classes = 3;
    assert_ok(ctx, graphss_synth_make(ctx, &w->data, &synth));
    assert_ok(ctx, graphss_split_make(ctx, &w->split, w->data.label, 200, 3, 1, NULL));
    graphss_train_options_init(&w->opt, "gcn", mode, &w->data.features);
    w->opt.epochs = EPOCHS;
    testing_temporary(w->path, sizeof w->path, "checkpoint");
}

static void tear_down(world *w, graphss_ctx *ctx)
{
    (void)unlink(w->path);
    graphss_split_destroy(ctx, &w->split);
    graphss_dataset_destroy(ctx, &w->data);
    graphss_ctx_free(ctx);
}

static graphss_status train(graphss_ctx *ctx, const world *w, graphss_model **model,
    graphss_training *log, uint64_t seed)
{
    const graphss_train_input in = {.struct_size = sizeof in,
        .graph = &w->data.graph,
        .features = &w->data.features,
        .n_classes = 3,
        .split = &w->split,
        .seed = seed};
    return graphss_model_train(ctx, model, log, &in, &w->opt);
}

static void interrupt_and_go_on(graphss_mode mode)
{
    world w = {0};
    graphss_ctx *ctx = context(&w);
    graphss_model *model = NULL, *whole = NULL;
    graphss_training log = {0}, whole_log = {0};
    set_up(&w, ctx, mode);
    assert_ok(ctx, train(ctx, &w, &whole, &whole_log, 4));
    for (w.stop = 1; w.stop < EPOCHS; w.stop += 9) { /* each continues from the one before */
        assert_ok(ctx, graphss_ctx_checkpoint(ctx, w.path, "synth", 0));
        assert_int_equal(train(ctx, &w, &model, &log, 4), GRAPHSS_ERR_CANCELLED);
        assert_int_equal(access(w.path, R_OK), 0);
    }
    w.stop = 0;
    for (int again = 0; again < 2; again++) { /* and once more, when there is nothing to do */
        graphss_training_destroy(ctx, &log);
        graphss_model_free(ctx, model);
        model = NULL;
        assert_ok(ctx, graphss_ctx_checkpoint(ctx, w.path, "synth", again ? 0 : 1e9));
        w.told = 0;
        assert_ok(ctx, train(ctx, &w, &model, &log, 4));
    }
    assert_true(w.told <= 2);
    assert_int_equal(model->params.count, whole->params.count);
    assert_memory_equal(model->params.value, whole->params.value,
        whole->params.count * sizeof *whole->params.value);
    assert_int_equal(log.best_epoch, whole_log.best_epoch);
    assert_memory_equal(log.loss, whole_log.loss, log.epochs * sizeof *log.loss);
    assert_memory_equal(log.val_acc, whole_log.val_acc, log.epochs * sizeof *log.val_acc);
    graphss_training_destroy(ctx, &log);
    graphss_training_destroy(ctx, &whole_log);
    graphss_model_free(ctx, whole);
    graphss_model_free(ctx, model);
    tear_down(&w, ctx);
}

TEST(what_goes_on_gives_what_was_not_interrupted)
{
    interrupt_and_go_on(GRAPHSS_MODE_DEFAULT);
    interrupt_and_go_on(GRAPHSS_MODE_PAPER);
}

TEST(a_file_that_is_not_of_this_training_is_refused)
{
    world w = {0};
    graphss_ctx *ctx = context(&w);
    graphss_model *model = NULL;
    set_up(&w, ctx, GRAPHSS_MODE_DEFAULT);
    assert_ok(ctx, graphss_ctx_checkpoint(ctx, w.path, "synth", 0));
    assert_ok(ctx, train(ctx, &w, &model, NULL, 4));
    graphss_model_free(ctx, model);
    model = NULL;
    assert_ok(ctx, graphss_ctx_checkpoint(ctx, w.path, "synth", 0));
    assert_fails(ctx, train(ctx, &w, &model, NULL, 5), GRAPHSS_ERR_DATA,
        "a checkpoint of another training");
    assert_ok(ctx, graphss_ctx_checkpoint(ctx, w.path, "another", 0));
    assert_fails(ctx, train(ctx, &w, &model, NULL, 4), GRAPHSS_ERR_DATA,
        "a checkpoint of another training");
    assert_int_equal(truncate(w.path, 900), 0);
    assert_ok(ctx, graphss_ctx_checkpoint(ctx, w.path, "synth", 0));
    assert_fails(ctx, train(ctx, &w, &model, NULL, 4), GRAPHSS_ERR_DATA, "it is damaged");
    assert_int_equal(truncate(w.path, 12), 0);
    assert_ok(ctx, graphss_ctx_checkpoint(ctx, w.path, "synth", 0));
    assert_fails(ctx, train(ctx, &w, &model, NULL, 4), GRAPHSS_ERR_DATA, "is no checkpoint");
    /* It belongs to one training alone; and if it cannot be written the training continues. */
    assert_ok(ctx, train(ctx, &w, &model, NULL, 4));
    graphss_model_free(ctx, model);
    assert_ok(ctx, graphss_ctx_checkpoint(ctx, "/nowhere/at/all", "synth", 0));
    assert_ok(ctx, train(ctx, &w, &model, NULL, 4));
    graphss_model_free(ctx, model);
    tear_down(&w, ctx);
}

static graphss_status keep_one(graphss_ctx *ctx, void *arg)
{
    const world *w = arg;
    graphss_model *model = NULL;
    graphss_status st = graphss_ctx_checkpoint(ctx, w->path, "synth", 1e6);
    if (!st)
        st = train(ctx, w, &model, NULL, 4);
    graphss_model_free(ctx, model);
    const graphss_status off = graphss_ctx_checkpoint(ctx, NULL, NULL, 0);
    if (!st)
        st = graphss_checkpoint_remove(ctx, w->path);
    return st ? st : off;
}

TEST(each_allocation_fails)
{
    world w = {0};
    graphss_ctx *ctx = context(&w);
    set_up(&w, ctx, GRAPHSS_MODE_DEFAULT);
    w.opt.epochs = 2;
    testing_allocations_fail(keep_one, &w, 10);
    tear_down(&w, ctx);
}

int main(void)
{
    return testing_run();
}
