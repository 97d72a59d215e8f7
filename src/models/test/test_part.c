#include "graph/part.h"
#include "testing.h"
#include "testing_ranks.h"
#include <graphss/shards.h>

enum { NODES = 600 };

/* A dataset, its split, how it was trained on one machine, and a folder of its shards. */
typedef struct world {
    graphss_ctx *ctx;
    graphss_dataset data;
    graphss_split split;
    char folder[256];
} world;

static void remove_shards(const char *folder)
{
    char path[512];
    for (int p = 0; p < TESTING_RANKS; p++) {
        snprintf(path, sizeof path, "%s/part-%04d.npz", folder, p);
        (void)unlink(path);
    }
    snprintf(path, sizeof path, "%s/shards.json", folder);
    (void)unlink(path);
    (void)rmdir(folder);
}

typedef enum form { WORDS, FULL_WORDS, NUMBERS } form;

static void set_up(world *w, form kind)
{
    *w = (world){.ctx = testing_ctx(NULL, 1)};
    graphss_synth_options synth;
    graphss_synth_options_init(&synth);
    synth.nodes = NODES;
    synth.features = 90;
    synth.words = kind == FULL_WORDS ? 30 : 8;
    synth.classes = 3;
    assert_ok(w->ctx, graphss_synth_make(w->ctx, &w->data, &synth));
    if (kind == NUMBERS) {
        float *value = malloc(NODES * 7 * sizeof *value);
        graphss_rng rng = graphss_rng_make(5, 5);
        for (size_t i = 0; i < NODES * 7; i++)
            value[i] = (float)(graphss_rng_double(&rng) + w->data.label[i / 7]);
        graphss_features_destroy(w->ctx, &w->data.features);
        assert_ok(
            w->ctx, graphss_features_from_dense(w->ctx, &w->data.features, NODES, 7, value));
        assert_ok(w->ctx, graphss_dataset_refresh(w->ctx, &w->data));
        free(value);
    }
    assert_ok(w->ctx, graphss_split_make(w->ctx, &w->split, w->data.label, NODES, 3, 1, NULL));
    testing_temporary(w->folder, sizeof w->folder, "part-shards");
    remove_shards(w->folder);
}

static void tear_down(world *w)
{
    remove_shards(w->folder);
    graphss_split_destroy(w->ctx, &w->split);
    graphss_dataset_destroy(w->ctx, &w->data);
    graphss_ctx_free(w->ctx);
}

/* scattered: neighbours in number are on different ranks. */
static void write_shards(world *w, int ranks, bool scattered)
{
    int32_t *part = NULL;
    remove_shards(w->folder);
    assert_ok(w->ctx, graphss_partition_blocks(w->ctx, &part, NODES, (size_t)ranks));
    for (size_t i = 0; i < NODES && scattered; i++)
        part[i] = (int32_t)((i * 2654435761u >> 9) % (unsigned)ranks);
    assert_ok(
        w->ctx, graphss_shards_write(w->ctx, NULL, &w->data, part, (size_t)ranks, w->folder));
    graphss_release(w->ctx, part);
}

typedef struct trained {
    const world *w;
    size_t whole_most; /* as graphss_i_part has it */
    graphss_train_options opt;
    float loss[64];
    size_t epochs;
    double val_accuracy;
    int32_t label[NODES];
    float *prob; /* of rank 0 */
    size_t halo, ghosts;
} trained;

static graphss_status train_part(graphss_ctx *ctx, void *arg)
{
    trained *t = arg;
    graphss_part *part = NULL;
    graphss_dataset table = {0};
    graphss_model *model = NULL;
    graphss_training log = {0};
    const graphss_train_input in = {
        .struct_size = sizeof in, .n_classes = 3, .split = &t->w->split, .seed = 1};
    graphss_status st = graphss_part_open(ctx, &part, &table, t->w->folder);
    if (!st)
        graphss_i_ctx_part(ctx)->whole_most = t->whole_most;
    if (!st)
        st = graphss_part_train(ctx, &model, &log, part, &in, &t->opt);
    if (!st)
        st = graphss_part_describe(ctx, model, part, &table);
    if (!st) {
        t->halo = graphss_part_measure(part).halo_bytes;
        t->ghosts = graphss_part_measure(part).ghosts;
        st = graphss_part_label(ctx, t->label, model, part);
    }
    if (!st)
        st = graphss_part_predict(ctx, t->prob, model, part);
    for (size_t e = 0; e < log.epochs && e < 64; e++)
        t->loss[e] = log.loss[e];
    t->epochs = log.epochs;
    t->val_accuracy = log.val_accuracy;
    graphss_training_destroy(ctx, &log);
    graphss_model_free(ctx, model);
    graphss_dataset_destroy(ctx, &table);
    graphss_part_close(ctx, part);
    return st;
}

static void train_alone(trained *t)
{
    const world *w = t->w;
    graphss_model *model = NULL;
    graphss_training log = {0};
    const graphss_train_input in = {.struct_size = sizeof in,
        .graph = &w->data.graph,
        .features = &w->data.features,
        .n_classes = 3,
        .split = &w->split,
        .seed = 1};
    assert_ok(w->ctx, graphss_model_train(w->ctx, &model, &log, &in, &t->opt));
    assert_ok(w->ctx,
        graphss_model_predict(w->ctx, t->prob, model, &w->data.graph, &w->data.features));
    graphss_labels_argmax(t->label, t->prob, NODES, 3);
    memcpy(t->loss, log.loss, log.epochs * sizeof *t->loss);
    t->epochs = log.epochs;
    t->val_accuracy = log.val_accuracy;
    graphss_training_destroy(w->ctx, &log);
    graphss_model_free(w->ctx, model);
}

static void compare(const trained *t, const trained *alone, const char *what)
{
    double most = 0, off = 0;
    assert_int_equal(t->epochs, alone->epochs);
    for (size_t e = 0; e < t->epochs; e++)
        most = fmax(most, fabs((double)t->loss[e] - alone->loss[e]));
    if (most > 1e-6)
        fail_msg("%s: a loss differs by %g", what, most);
    assert_memory_equal(t->label, alone->label, sizeof t->label);
    assert_true(fabs(t->val_accuracy - alone->val_accuracy) < 1e-12);
    for (size_t i = 0; i < NODES * 3 && t->prob; i++)
        off = fmax(off, fabs((double)t->prob[i] - alone->prob[i]));
    if (off > 1e-5)
        fail_msg("%s: a probability differs by %g", what, off);
}

/* The shards are written. */
static void train_on(world *w, const char *model, int ranks)
{
    trained alone = {.w = w}, *each = calloc((size_t)ranks, sizeof *each);
    testing_rank rank[TESTING_RANKS] = {0};
    char what[96];
    snprintf(what, sizeof what, "%s on %d ranks", model, ranks);
    graphss_train_options_init(&alone.opt, model, GRAPHSS_MODE_DEFAULT, &w->data.features);
    alone.opt.epochs = 20;
    alone.opt.hidden = 40; /* more than a strip */
    alone.prob = malloc(NODES * 3 * sizeof *alone.prob);
    train_alone(&alone);
    for (int r = 0; r < ranks; r++) {
        each[r] = (trained){.w = w, .opt = alone.opt};
        each[r].prob = r == 0 ? malloc(NODES * 3 * sizeof *each->prob) : NULL;
        rank[r].arg = &each[r];
    }
    testing_run_ranks(rank, ranks, train_part);
    for (int r = 0; r < ranks; r++) {
        if (rank[r].status)
            fail_msg("%s: rank %d: %s", what, r, rank[r].error);
        compare(&each[r], &alone, what);
        assert_int_equal(rank[r].blocks, 0);
    }
    free(each[0].prob);
    free(alone.prob);
    free(each);
}

TEST(ranks_give_what_one_machine_gives)
{
    static const char *const model[] = {"gcn", "sgc", "sage", "sage-mean", "mlp"};
    for (int kind = WORDS; kind <= NUMBERS; kind++) {
        world w;
        set_up(&w, (form)kind);
        for (int ranks = 1; ranks <= 4; ranks++) {
            write_shards(&w, ranks, ranks > 2 || kind == WORDS);
            for (size_t m = 0; m < sizeof model / sizeof *model; m++)
                train_on(&w, model[m], ranks);
        }
        tear_down(&w);
    }
}

/* The training of rank 0 alone equals that of one machine, bit for bit. */
TEST(a_small_graph_is_trained_whole)
{
    world w;
    trained alone = {.w = &w}, *each = calloc(3, sizeof *each);
    testing_rank rank[TESTING_RANKS] = {0};
    for (int kind = WORDS; kind <= NUMBERS; kind++) {
        set_up(&w, (form)kind);
        write_shards(&w, 3, true);
        graphss_train_options_init(&alone.opt, "gcn", GRAPHSS_MODE_DEFAULT, &w.data.features);
        alone.opt.epochs = 20;
        alone.prob = malloc(NODES * 3 * sizeof *alone.prob);
        train_alone(&alone);
        for (int r = 0; r < 3; r++) {
            each[r] = (trained){.w = &w, .opt = alone.opt, .whole_most = NODES};
            each[r].prob = r == 0 ? malloc(NODES * 3 * sizeof *each->prob) : NULL;
            rank[r] = (testing_rank){.arg = &each[r]};
        }
        testing_run_ranks(rank, 3, train_part);
        for (int r = 0; r < 3; r++) {
            if (rank[r].status)
                fail_msg("rank %d: %s", r, rank[r].error);
            assert_memory_equal(each[r].label, alone.label, sizeof alone.label);
            assert_int_equal(rank[r].blocks, 0);
            assert_true(each[r].val_accuracy == alone.val_accuracy);
        }
        assert_memory_equal(each[0].loss, alone.loss, sizeof alone.loss);
        free(each[0].prob);
        free(alone.prob);
        tear_down(&w);
    }
    free(each);
}

/* ---- the product alone ---- */

typedef struct product {
    const world *w;
    size_t k;
    const float *x; /* [NODES x k] of all nodes */
    float *y;       /* of this rank's rows, in global places */
} product;

static graphss_status multiply_part(graphss_ctx *ctx, void *arg)
{
    const product *t = arg;
    graphss_part *opened = NULL;
    graphss_dataset table = {0};
    graphss_status st = graphss_part_open(ctx, &opened, &table, t->w->folder);
    if (st)
        return st;
    graphss_i_part *part = graphss_i_ctx_part(ctx);
    const graphss_i_csr m = {.n_rows = part->n_own,
        .n_cols = part->n_own,
        .offset = part->graph.offset,
        .column = part->graph.target,
        .part = part};
    float *x = malloc(part->n_own * t->k * sizeof *x),
          *y = malloc(part->n_own * t->k * sizeof *y);
    for (size_t i = 0; i < part->n_own; i++)
        memcpy(x + i * t->k, t->x + (size_t)part->id[i] * t->k, t->k * sizeof *x);
    const size_t before = part->received;
    graphss_i_spmm(ctx, y, &m, x, t->k);
    for (size_t i = 0; i < part->n_own; i++)
        memcpy(t->y + (size_t)part->id[i] * t->k, y + i * t->k, t->k * sizeof *y);
    st = part->received - before == part->n_ghost * t->k * sizeof *x ? GRAPHSS_OK
                                                                     : GRAPHSS_ERR_INTERNAL;
    free(y);
    free(x);
    graphss_dataset_destroy(ctx, &table);
    graphss_part_close(ctx, opened);
    return st;
}

static void multiply_on(const world *w, const graphss_i_csr *whole, int ranks, size_t k)
{
    float *x = malloc(NODES * k * sizeof *x), *want = malloc(NODES * k * sizeof *want),
          *y = malloc(NODES * k * sizeof *y);
    testing_rank rank[TESTING_RANKS] = {0};
    product t = {w, k, x, y};
    graphss_rng rng = graphss_rng_make(k, 3);
    for (size_t i = 0; i < NODES * k; i++)
        x[i] = (float)graphss_rng_double(&rng);
    graphss_i_spmm(w->ctx, want, whole, x, k);
    for (int r = 0; r < ranks; r++)
        rank[r].arg = &t;
    testing_run_ranks(rank, ranks, multiply_part);
    for (int r = 0; r < ranks; r++)
        assert_int_equal(rank[r].status, GRAPHSS_OK);
    assert_memory_equal(y, want, NODES * k * sizeof *y);
    free(y);
    free(want);
    free(x);
}

TEST(the_sparse_product_has_the_same_bits_and_the_halo_its_size)
{
    static const size_t width[] = {1, 16, 33, 100};
    world w;
    set_up(&w, WORDS);
    const graphss_i_csr whole = {.n_rows = NODES,
        .n_cols = NODES,
        .offset = w.data.graph.offset,
        .column = w.data.graph.target};
    for (int ranks = 1; ranks <= 5; ranks++) {
        write_shards(&w, ranks, ranks % 2);
        for (size_t c = 0; c < sizeof width / sizeof *width; c++)
            multiply_on(&w, &whole, ranks, width[c]);
    }
    tear_down(&w);
}

/* ---- errors ---- */

static void run_all(
    testing_rank *rank, trained *each, int ranks, const world *w, const char *model)
{
    for (int r = 0; r < ranks; r++) {
        each[r] = (trained){.w = w};
        graphss_train_options_init(&each[r].opt, model, GRAPHSS_MODE_DEFAULT, NULL);
        each[r].opt.epochs = 2;
        each[r].prob = r == 0 ? malloc(NODES * 3 * sizeof(float)) : NULL;
        rank[r].arg = &each[r];
    }
    testing_run_ranks(rank, ranks, train_part);
    free(each[0].prob);
}

TEST(an_error_of_one_rank_is_that_of_all)
{
    world w;
    trained *each = calloc(4, sizeof *each);
    set_up(&w, WORDS);
    write_shards(&w, 3, false);
    char path[512];
    snprintf(path, sizeof path, "%s/part-0001.npz", w.folder);
    assert_int_equal(truncate(path, 900), 0);
    testing_rank rank[TESTING_RANKS] = {0};
    run_all(rank, each, 3, &w, "gcn");
    for (int r = 0; r < 3; r++) {
        assert_int_equal(rank[r].status, GRAPHSS_ERR_DATA);
        assert_non_null(strstr(rank[r].error, "rank 1: "));
        assert_non_null(strstr(rank[r].error, "part-0001.npz"));
        assert_int_equal(rank[r].blocks, 0);
    }
    /* With the same data on all ranks no rank is named. */
    write_shards(&w, 3, false);
    memset(rank, 0, sizeof rank);
    run_all(rank, each, 4, &w, "gcn");
    for (int r = 0; r < 4; r++) {
        assert_int_equal(rank[r].status, GRAPHSS_ERR_INVALID);
        assert_non_null(strstr(rank[r].error, "has 3 shards, and there are 4 ranks"));
        assert_null(strstr(rank[r].error, "rank 0: "));
    }
    memset(rank, 0, sizeof rank);
    run_all(rank, each, 3, &w, "gat");
    assert_non_null(strstr(rank[2].error, "gat does not run on several ranks"));
    free(each);
    tear_down(&w);
}

TEST(each_allocation_of_one_rank_fails)
{
    world w;
    trained *each = calloc(3, sizeof *each);
    set_up(&w, WORDS);
    write_shards(&w, 3, true);
    size_t failures = 0;
    for (long most = 1;; most = most < 60 ? most + 1 : most + most / 8) {
        testing_rank rank[TESTING_RANKS] = {0};
        rank[most % 3].most = most;
        run_all(rank, each, 3, &w, "gcn");
        for (int r = 0; r < 3; r++) {
            if (rank[r].blocks)
                fail_msg(
                    "rank %d keeps %ld blocks when %ld are granted", r, rank[r].blocks, most);
            assert_int_equal(rank[r].status, rank[0].status);
        }
        if (!rank[0].status)
            break;
        assert_int_equal(rank[0].status, GRAPHSS_ERR_NOMEM);
        failures++;
    }
    assert_true(failures > 20);
    free(each);
    tear_down(&w);
}

static graphss_status join_and_open(graphss_ctx *ctx, void *arg)
{
    trained *t = arg;
    graphss_status st = graphss_ctx_join(ctx, NULL);
    if (!st)
        st = graphss_engine_agree(ctx, GRAPHSS_OK, NULL);
    return st ? st : train_part(ctx, t);
}

static graphss_status open_nothing(graphss_ctx *ctx, void *arg)
{
    graphss_engine engine = {0};
    return graphss_engine_open(ctx, &engine, arg) == GRAPHSS_ERR_INVALID
               ? GRAPHSS_OK
               : GRAPHSS_ERR_INTERNAL;
}

TEST(a_context_alone_is_one_rank)
{
    world w;
    trained *t = calloc(1, sizeof *t);
    set_up(&w, WORDS);
    write_shards(&w, 1, false);
    *t = (trained){.w = &w};
    graphss_train_options_init(&t->opt, "gcn", GRAPHSS_MODE_DEFAULT, NULL);
    t->opt.epochs = 2;
    t->prob = malloc(NODES * 3 * sizeof(float));
    testing_allocations_fail(join_and_open, t, 20);
    char none[] = "none";
    testing_takes_no_memory(open_nothing, none);
    const graphss_engine broken = {.struct_size = sizeof broken};
    assert_fails(
        w.ctx, graphss_ctx_join(w.ctx, &broken), GRAPHSS_ERR_INVALID, "not initialised");
    graphss_engine engine = {0};
    assert_fails(w.ctx, graphss_engine_open(w.ctx, &engine, "petals"), GRAPHSS_ERR_INVALID,
        "found 'petals', want mpi");
    free(t->prob);
    free(t);
    tear_down(&w);
}

int main(void)
{
    return testing_run();
}
