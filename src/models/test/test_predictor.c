/* Classifiers that are not ours: functions and tables of answers in place of weights. */
#include "models/model_private.h"
#include "models/test/testing_world.h"

enum { K = 2, SIZE = WORLD_NODES * K };

/* Answers as a model of ours does, from a context of its own, and remembers. */
typedef struct foreign {
    graphss_ctx *ctx;
    const graphss_model *model;
    int calls, some, released;
    enum { WELL, LOGITS, NAN_ROW, SUM, DROPOUT, FAILS, QUIETLY, STOPS } how;
} foreign;

static graphss_status all(void *user, float *prob, const graphss_graph *graph,
    const graphss_features *features, char *why, size_t size)
{
    foreign *f = user;
    f->calls++;
    if (graphss_model_predict(f->ctx, prob, f->model, graph, features))
        return GRAPHSS_ERR_INTERNAL;
    switch (f->how) {
    case LOGITS:
        prob[7 * K] = -3;
        break;
    case NAN_ROW:
        prob[7 * K + 1] = NAN;
        break;
    case SUM:
        prob[7 * K] += 0.5F;
        break;
    case DROPOUT:
        prob[7 * K] = f->calls % 2 ? 0.25F : 0.75F;
        prob[7 * K + 1] = 1 - prob[7 * K];
        break;
    case FAILS:
        snprintf(why, size, "no such layer");
        return GRAPHSS_ERR_DATA;
    case QUIETLY:
        return GRAPHSS_ERR_IO;
    case STOPS:
        return GRAPHSS_ERR_CANCELLED;
    default:
        break;
    }
    return GRAPHSS_OK;
}

static graphss_status some(void *user, float *prob, const int32_t *node, size_t n,
    const graphss_graph *graph, const graphss_features *features, char *why, size_t size)
{
    foreign *f = user;
    float whole[SIZE];
    (void)why, (void)size;
    f->some++;
    assert_ok(f->ctx, graphss_model_predict(f->ctx, whole, f->model, graph, features));
    for (size_t i = 0; i < n; i++)
        memcpy(prob + i * K, whole + (size_t)node[i] * K, K * sizeof *prob);
    return GRAPHSS_OK;
}

static void release(void *user)
{
    ((foreign *)user)->released++;
}

static graphss_predictor predictor_of(foreign *f, bool parts, size_t hops)
{
    return (graphss_predictor){.struct_size = sizeof(graphss_predictor),
        .probabilities = all,
        .some = parts ? some : NULL,
        .release = release,
        .user = f,
        .hops = hops};
}

typedef struct scene {
    graphss_ctx *ctx, *own; /* own: of the foreign classifier */
    world w, changed;       /* one link and one row of features differ */
    graphss_model *trained;
    foreign f;
} scene;

static void scene_make(scene *s, const char *name)
{
    memset(s, 0, sizeof *s);
    s->ctx = testing_ctx(NULL, 2);
    s->own = testing_ctx(NULL, 1);
    world_make(s->own, &s->w, 1);
    world_make(s->own, &s->changed, 1);
    graphss_graph_destroy(s->own, &s->changed.graph);
    int32_t from[WORLD_EDGES * 2], to[WORLD_EDGES * 2];
    size_t m = 0;
    for (int32_t i = 0; i < WORLD_NODES; i++)
        for (int64_t e = s->w.graph.offset[i]; e < s->w.graph.offset[i + 1]; e++)
            if (i < s->w.graph.target[e]) {
                from[m] = i;
                to[m++] = s->w.graph.target[e];
            }
    assert_ok(s->own,
        graphss_graph_build(s->own, &s->changed.graph, NULL, WORLD_NODES, from, to, m - 1));
    s->changed.features.value[0] = 3;
    graphss_train_options opt;
    graphss_train_options_init(&opt, name, GRAPHSS_MODE_DEFAULT, NULL);
    opt.epochs = 60;
    opt.hidden = 8;
    opt.dropout = 0.2;
    assert_ok(s->own, graphss_model_train(s->own, &s->trained, NULL,
                          &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                              .graph = &s->w.graph,
                              .features = &s->w.features,
                              .n_classes = K,
                              .split = &s->w.split,
                              .seed = 3},
                          &opt));
    s->f = (foreign){.ctx = s->own, .model = s->trained};
}

static void scene_destroy(scene *s)
{
    graphss_model_free(s->own, s->trained);
    world_destroy(s->own, &s->w);
    world_destroy(s->own, &s->changed);
    graphss_ctx_free(s->own);
    graphss_ctx_free(s->ctx);
}

static graphss_status wrap(
    graphss_ctx *ctx, graphss_model **out, scene *s, const graphss_predictor *p)
{
    return graphss_model_from_predictor(ctx, out, p,
        &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
            .graph = &s->w.graph,
            .features = &s->w.features,
            .n_classes = K,
            .split = &s->w.split,
            .seed = 1},
        NULL);
}

TEST(a_model_made_of_a_predictor_answers_as_it_does)
{
    scene s;
    scene_make(&s, "sage-mean");
    const graphss_predictor p = predictor_of(&s.f, false, 0);
    graphss_predictor_use use;
    graphss_model *model = NULL;
    float prob[SIZE], wanted[SIZE];
    assert_false(graphss_model_predictor_use(&use, s.trained));
    assert_ok(s.ctx, wrap(s.ctx, &model, &s, &p));
    assert_true(graphss_model_predictor_use(&use, model));
    assert_int_equal(use.calls, 2);
    assert_true(use.agreement > 0.8 && use.agreement <= 1 && !use.by_answers);
    assert_int_equal(graphss_model_split(model)->n_train, s.w.split.n_train);
    for (int now = 0; now < 2; now++) {
        const world *w = now ? &s.changed : &s.w;
        assert_ok(
            s.own, graphss_model_predict(s.own, wanted, s.trained, &w->graph, &w->features));
        assert_ok(s.ctx, graphss_model_predict(s.ctx, prob, model, &w->graph, &w->features));
        assert_memory_equal(prob, wanted, sizeof prob);
    }
    graphss_model_predictor_use(&use, model);
    assert_int_equal(use.calls, 4);
    assert_int_equal(s.f.calls, 4);
    graphss_model *more = NULL;
    assert_fails(s.ctx,
        graphss_model_continue(s.ctx, &more, NULL, model,
            &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                .graph = &s.w.graph,
                .features = &s.w.features,
                .split = &s.w.split,
                .seed = 1},
            2),
        GRAPHSS_ERR_INVALID, "cannot be trained further");
    assert_int_equal(s.f.released, 0);
    graphss_model_free(s.ctx, model);
    assert_int_equal(s.f.released, 1);
    scene_destroy(&s);
}

TEST(what_is_no_probability_is_refused)
{
    static const struct {
        int how;
        graphss_status status;
        const char *part;
    } c[] = {{LOGITS, GRAPHSS_ERR_DATA, "-3 for class 0 of node 7"},
        {NAN_ROW, GRAPHSS_ERR_DATA, "class 1 of node 7"},
        {SUM, GRAPHSS_ERR_DATA, "node 7 sum to 1.5"},
        {DROPOUT, GRAPHSS_ERR_DATA, "model.eval()"},
        {FAILS, GRAPHSS_ERR_DATA, "the predictor failed: no such layer"},
        {QUIETLY, GRAPHSS_ERR_IO, "the predictor failed"},
        {STOPS, GRAPHSS_ERR_CANCELLED, "cancelled"}};
    scene s;
    scene_make(&s, "gcn");
    graphss_model *model = NULL;
    graphss_predictor p = predictor_of(&s.f, false, 0);
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        s.f.how = c[i].how;
        assert_fails(s.ctx, wrap(s.ctx, &model, &s, &p), c[i].status, c[i].part);
    }
    s.f.how = WELL;
    p.struct_size--;
    assert_fails(s.ctx, wrap(s.ctx, &model, &s, &p), GRAPHSS_ERR_INVALID, "struct_size");
    p.struct_size++;
    p.probabilities = NULL;
    assert_fails(s.ctx, wrap(s.ctx, &model, &s, &p), GRAPHSS_ERR_INVALID, "no function");
    p.probabilities = all;
    assert_fails(s.ctx,
        graphss_model_from_predictor(s.ctx, &model, &p,
            &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                .graph = &s.w.graph,
                .features = &s.w.features,
                .n_classes = 1,
                .split = NULL,
                .seed = 1},
            NULL),
        GRAPHSS_ERR_DATA, "at least two");
    graphss_features fewer = s.w.features;
    fewer.n_rows--;
    assert_fails(s.ctx,
        graphss_model_from_predictor(s.ctx, &model, &p,
            &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                .graph = &s.w.graph,
                .features = &fewer,
                .n_classes = K,
                .split = NULL,
                .seed = 1},
            NULL),
        GRAPHSS_ERR_SHAPE, "graph of");
    assert_fails(s.ctx, wrap(s.ctx, NULL, &s, &p), GRAPHSS_ERR_INVALID, "place for the model");
    assert_null(model);
    assert_int_equal(s.f.released, 0);
    scene_destroy(&s);
}

TEST(few_changes_ask_for_some_nodes)
{
    static const size_t hops[] = {0, 2, 2}, few_calls[] = {1, 2, 2};
    for (int round = 0; round < 3; round++) {
        scene s;
        scene_make(&s, "gcn");
        const graphss_predictor p = predictor_of(&s.f, true, hops[round]);
        graphss_model *model = NULL;
        graphss_i_forward_cache pass = {0};
        float before[SIZE], prob[SIZE], wanted[SIZE];
        uint8_t asked[WORLD_NODES] = {0};
        assert_ok(s.ctx, wrap(s.ctx, &model, &s, &p));
        assert_ok(s.ctx,
            graphss_i_predict_first(s.ctx, before, &pass, model, &s.w.graph, &s.w.features));
        assert_ok(s.own, graphss_model_predict(
                             s.own, wanted, s.trained, &s.changed.graph, &s.changed.features));
        const graphss_i_base base = {&s.w.graph, &s.w.features, before, &pass};
        s.f.some = 0;
        assert_ok(s.ctx, graphss_i_predict_again(s.ctx, prob, model, &s.changed.graph,
                             &s.changed.features, &base, NULL, NULL));
        assert_memory_equal(prob, wanted, sizeof prob);
        for (size_t i = 0; i < WORLD_NODES; i += 3)
            asked[i] = 1;
        assert_ok(s.ctx, graphss_i_predict_again(s.ctx, prob, model, &s.changed.graph,
                             &s.changed.features, &base, NULL, asked));
        for (size_t i = 0; i < WORLD_NODES; i += 3)
            assert_memory_equal(prob + i * K, wanted + i * K, K * sizeof *prob);
        assert_int_equal(s.f.some, few_calls[round]);
        graphss_i_forward_cache_destroy(s.ctx, &pass);
        graphss_model_free(s.ctx, model);
        scene_destroy(&s);
    }
}

/* As observation/standardise.c does: the classifier's columns, and a model that knows it. */
static graphss_status compare(void *user, float *prob, const graphss_graph *graph,
    const graphss_features *features, char *why, size_t size)
{
    const world *w = user;
    (void)why, (void)size;
    for (size_t i = 0; i < WORLD_NODES * WORLD_WORDS; i++)
        if (fabs(features->value[i] - w->features.value[i]) > 1e-4) {
            snprintf(why, size, "entry %zu is %g, want %g", i, (double)features->value[i],
                (double)w->features.value[i]);
            return GRAPHSS_ERR_DATA;
        }
    for (size_t i = 0; i < graph->n_nodes; i++) {
        prob[i * K] = w->label[i] ? 0.1F : 0.9F;
        prob[i * K + 1] = 1 - prob[i * K];
    }
    return GRAPHSS_OK;
}

TEST_CTX(a_predictor_sees_measurements_in_their_own_units)
{
    world w;
    world_make(ctx, &w, 1);
    world_measure(ctx, &w, 2);
    for (size_t i = 0; i < WORLD_NODES; i++) {
        w.features.value[i * WORLD_WORDS + 4] = 7; /* without spread */
        w.features.value[i * WORLD_WORDS + 5] *= i % 2 ? 0 : 100;
    }
    const graphss_predictor p = {
        .struct_size = sizeof p, .probabilities = compare, .user = &w};
    graphss_model *model = NULL;
    assert_ok(ctx, graphss_model_from_predictor(ctx, &model, &p,
                       &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                           .graph = &w.graph,
                           .features = &w.features,
                           .n_classes = K,
                           .split = &w.split,
                           .seed = 1},
                       NULL));
    assert_non_null(model->scaling.mean);
    float left[2 * WORLD_WORDS], prob[SIZE];
    float *moved = malloc(WORLD_NODES * WORLD_WORDS * sizeof *moved);
    for (size_t c = 0; c < WORLD_WORDS; c++) {
        const float gain = model->scaling.gain[c], mean = model->scaling.mean[c];
        left[c] = c == 5 ? gain * mean : 0;
        left[WORLD_WORDS + c] = gain > 0;
        for (size_t i = 0; i < WORLD_NODES; i++)
            moved[i * WORLD_WORDS + c] =
                gain * (w.features.value[i * WORLD_WORDS + c] - (c == 5 ? 0 : mean));
    }
    graphss_model copy = *model;
    copy.scaling.mean = left;
    copy.scaling.gain = left + WORLD_WORDS;
    const graphss_features columns = {
        .n_rows = WORLD_NODES, .n_cols = WORLD_WORDS, .value = moved};
    assert_ok(ctx, graphss_i_predict(ctx, prob, &copy, &w.graph, &columns));
    free(moved);
    graphss_model_free(ctx, model);
    world_destroy(ctx, &w);
}

TEST(answers_alone_make_a_model)
{
    scene s;
    scene_make(&s, "gat");
    float before[SIZE], after[SIZE], prob[SIZE];
    assert_ok(
        s.own, graphss_model_predict(s.own, before, s.trained, &s.w.graph, &s.w.features));
    assert_ok(s.own,
        graphss_model_predict(s.own, after, s.trained, &s.changed.graph, &s.changed.features));
    const graphss_answers known[] = {
        {&s.w.graph, &s.w.features, before}, {&s.changed.graph, &s.changed.features, after}};
    graphss_model *model = NULL;
    graphss_predictor_use use;
    assert_ok(s.ctx, graphss_model_from_answers(s.ctx, &model, known, 2, K, NULL, 1, NULL));
    assert_true(graphss_model_predictor_use(&use, model));
    assert_true(use.by_answers && use.calls == 0 && use.agreement > 0.7);
    assert_true(graphss_model_split(model)->n_train > 0);
    for (int i = 0; i < 2; i++) {
        assert_ok(s.ctx,
            graphss_model_predict(s.ctx, prob, model, known[i].graph, known[i].features));
        assert_memory_equal(prob, known[i].prob, sizeof prob);
    }
    /* On a third snapshot most rows are as they were, and all are probabilities. */
    const float kept = s.w.features.value[8];
    s.w.features.value[8] = 50;
    world other = s.w;
    const graphss_features changed = other.features;
    float *value = malloc(graphss_features_stored(&changed) * sizeof *value);
    memcpy(value, changed.value, graphss_features_stored(&changed) * sizeof *value);
    s.w.features.value[8] = kept;
    graphss_features third = s.w.features;
    third.value = value;
    assert_ok(s.ctx, graphss_model_predict(s.ctx, prob, model, &s.w.graph, &third));
    size_t same = 0;
    for (size_t i = 0; i < WORLD_NODES; i++) {
        same += !memcmp(prob + i * K, before + i * K, K * sizeof *prob);
        assert_true(fabsf(prob[i * K] + prob[i * K + 1] - 1) < 1e-5F);
    }
    assert_true(same > 0 && same < WORLD_NODES);
    free(value);
    graphss_model_free(s.ctx, model);
    before[3] = 2;
    assert_fails(s.ctx, graphss_model_from_answers(s.ctx, &model, known, 2, K, NULL, 1, NULL),
        GRAPHSS_ERR_DATA, "node 1 sum");
    assert_fails(s.ctx, graphss_model_from_answers(s.ctx, &model, known, 0, K, NULL, 1, NULL),
        GRAPHSS_ERR_INVALID, "no snapshot");
    scene_destroy(&s);
}

/* p^(1/4), rows divided by their sums */
static void soften(float *prob)
{
    for (size_t i = 0; i < WORLD_NODES; i++) {
        double sum = 0;
        for (size_t c = 0; c < K; c++) {
            prob[i * K + c] = powf(prob[i * K + c], 0.25F);
            sum += prob[i * K + c];
        }
        for (size_t c = 0; c < K; c++)
            prob[i * K + c] = (float)(prob[i * K + c] / sum);
    }
}

/* Answers of a predictor that is never very sure: on a snapshot outside the table they stay as
 * soft, although the fitted classifier is surer. */
TEST(answers_are_moved_as_sharply_as_they_were_given)
{
    scene s;
    scene_make(&s, "gcn");
    float before[SIZE], want[SIZE], prob[SIZE];
    assert_ok(
        s.own, graphss_model_predict(s.own, before, s.trained, &s.w.graph, &s.w.features));
    assert_ok(s.own,
        graphss_model_predict(s.own, want, s.trained, &s.changed.graph, &s.changed.features));
    soften(before);
    soften(want);
    const graphss_answers known = {&s.w.graph, &s.w.features, before};
    graphss_model *model = NULL;
    assert_ok(s.ctx, graphss_model_from_answers(s.ctx, &model, &known, 1, K, NULL, 1, NULL));
    assert_ok(s.ctx,
        graphss_model_predict(s.ctx, prob, model, &s.changed.graph, &s.changed.features));
    double moved = 0, off = 0;
    for (size_t i = 0; i < WORLD_NODES; i++) {
        moved += fabs((double)want[i * K] - (double)before[i * K]);
        off += fabs((double)want[i * K] - (double)prob[i * K]);
    }
    assert_true(moved > 0 && off < 0.8 * moved);
    graphss_model_free(s.ctx, model);
    scene_destroy(&s);
}

TEST(a_saved_one_wants_its_predictor_again)
{
    char path[256];
    scene s;
    scene_make(&s, "gcn");
    graphss_predictor p = predictor_of(&s.f, false, 0);
    graphss_model *model = NULL, *back = NULL;
    graphss_predictor_use use, then;
    float prob[SIZE], wanted[SIZE];
    testing_temporary(path, sizeof path, "predictor.model");
    assert_ok(s.ctx, wrap(s.ctx, &model, &s, &p));
    assert_ok(s.ctx, graphss_model_save(s.ctx, model, path));
    assert_ok(s.ctx, graphss_model_load(s.ctx, &back, path));
    assert_true(
        graphss_model_predictor_use(&use, model) && graphss_model_predictor_use(&then, back));
    assert_true(use.agreement == then.agreement);
    assert_fails(s.ctx, graphss_model_predict(s.ctx, prob, back, &s.w.graph, &s.w.features),
        GRAPHSS_ERR_INVALID, "--predictor");
    assert_ok(s.ctx, graphss_model_set_predictor(s.ctx, back, &p));
    assert_ok(s.ctx, graphss_model_predict(s.ctx, prob, back, &s.w.graph, &s.w.features));
    assert_ok(s.ctx, graphss_model_predict(s.ctx, wanted, model, &s.w.graph, &s.w.features));
    assert_memory_equal(prob, wanted, sizeof prob);
    p.probabilities = NULL;
    assert_fails(s.ctx, graphss_model_set_predictor(s.ctx, back, &p), GRAPHSS_ERR_INVALID,
        "no function");
    p.probabilities = all;
    const graphss_predictor plain = {.struct_size = sizeof plain, .probabilities = all};
    assert_ok(s.own, graphss_model_set_predictor(s.own, s.trained, &plain));
    assert_true(graphss_model_predictor_use(&use, s.trained) && isnan(use.agreement));
    graphss_model_free(s.ctx, back);
    graphss_model_free(s.ctx, model);
    assert_int_equal(s.f.released, 2);
    remove(path);
    scene_destroy(&s);
}

TEST(a_predictor_is_given_links_in_both_directions)
{
    scene s;
    scene_make(&s, "gcn");
    const graphss_predictor p = predictor_of(&s.f, false, 0);
    graphss_model *model = NULL;
    float prob[SIZE], wanted[SIZE];
    assert_ok(s.ctx, wrap(s.ctx, &model, &s, &p));
    /* Node 0 is connected to node 1, which is not connected back. */
    int64_t offset[WORLD_NODES + 1] = {0};
    int32_t target[] = {1, 0};
    for (size_t i = 1; i <= WORLD_NODES; i++)
        offset[i] = 1;
    const graphss_graph one_way = {WORLD_NODES, offset, target};
    assert_ok(s.ctx, graphss_i_predict(s.ctx, prob, model, &one_way, &s.w.features));
    for (size_t i = 2; i <= WORLD_NODES; i++)
        offset[i] = 2;
    assert_ok(s.own, graphss_model_predict(s.own, wanted, s.trained, &one_way, &s.w.features));
    assert_memory_equal(prob, wanted, sizeof prob);
    graphss_model_free(s.ctx, model);
    scene_destroy(&s);
}

static graphss_status wrap_and_ask(graphss_ctx *ctx, void *arg)
{
    scene *s = arg;
    const graphss_predictor p = predictor_of(&s->f, true, 2);
    float known[SIZE], prob[SIZE];
    graphss_model *model = NULL, *table = NULL;
    graphss_i_forward_cache pass = {0};
    graphss_train_options opt;
    graphss_train_options_init(&opt, "sgc", GRAPHSS_MODE_DEFAULT, NULL);
    opt.epochs = 1;
    graphss_status st = graphss_model_from_predictor(ctx, &model, &p,
        &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
            .graph = &s->w.graph,
            .features = &s->w.features,
            .n_classes = K,
            .split = NULL,
            .seed = 1},
        &opt);
    if (!st)
        st = graphss_i_predict_first(ctx, known, &pass, model, &s->w.graph, &s->w.features);
    const graphss_i_base base = {&s->w.graph, &s->w.features, known, &pass};
    if (!st)
        st = graphss_i_predict_again(
            ctx, prob, model, &s->changed.graph, &s->changed.features, &base, NULL, NULL);
    const graphss_answers told = {&s->w.graph, &s->w.features, known};
    if (!st)
        st = graphss_model_from_answers(ctx, &table, &told, 1, K, NULL, 1, &opt);
    if (!st)
        st = graphss_model_predict(ctx, prob, table, &s->changed.graph, &s->changed.features);
    graphss_i_forward_cache_destroy(ctx, &pass);
    graphss_model_free(ctx, table);
    graphss_model_free(ctx, model);
    return st;
}

TEST(failing_allocations_leave_nothing)
{
    scene s;
    scene_make(&s, "gcn");
    testing_each_allocation_fails(wrap_and_ask, &s);
    scene_destroy(&s);
}

int main(void)
{
    return testing_run();
}
