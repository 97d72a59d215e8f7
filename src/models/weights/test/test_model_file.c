#include "models/model_private.h"
#include "models/test/testing_world.h"
#include <stdlib.h>

static graphss_model *trained_as(graphss_ctx *ctx, const world *w, const char *name)
{
    graphss_train_options opt;
    graphss_train_options_init(&opt, name, GRAPHSS_MODE_DEFAULT, NULL);
    graphss_model *model = NULL;
    graphss_i_train_options_scale(&opt, &w->features);
    opt.epochs = 5;
    opt.hidden = 6;
    opt.heads = opt.heads ? 2 : 0; /* which share the six */
    opt.weight_decay = 0.00123;
    assert_ok(ctx, graphss_model_train(ctx, &model, NULL,
                       &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                           .graph = &w->graph,
                           .features = &w->features,
                           .n_classes = 2,
                           .split = &w->split,
                           .seed = UINT64_MAX - 4},
                       &opt));
    graphss_dataset data = {.n_classes = 2, .features = w->features, .graph = {.n_nodes = 2}};
    size_t start[3] = {0, 6, 17};
    char text[] = "f\xc3\xa9line\0with \"quotes\"";
    start[1] = 8;
    start[2] = sizeof text;
    data.class_names = data.node_names = (graphss_names){2, start, text};
    snprintf(data.name, sizeof data.name, "world");
    snprintf(data.hash, sizeof data.hash, "abc");
    assert_ok(ctx, graphss_model_set_dataset(ctx, model, &data));
    return model;
}

static graphss_model *trained(graphss_ctx *ctx, const world *w)
{
    return trained_as(ctx, w, "gcn");
}

static void write_bytes(const char *path, const char *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    fclose(file);
}

typedef struct saving {
    const char *path;
    const graphss_model *model;
} saving;

static graphss_status save_and_load(graphss_ctx *ctx, void *arg)
{
    const saving *s = arg;
    graphss_model *back = NULL;
    graphss_status st = graphss_model_save(ctx, s->model, s->path);
    if (!st)
        st = graphss_model_load(ctx, &back, s->path);
    graphss_model_free(ctx, back);
    return st;
}

TEST_CTX(each_model_answers_as_before_it_was_saved)
{
    world w;
    world_make(ctx, &w, 1);
    char path[256];
    testing_temporary(path, sizeof path, "each");
    for (size_t i = 0; graphss_model_name(i); i++) {
        float before[WORLD_NODES * 2], after[WORLD_NODES * 2];
        graphss_model *a = trained_as(ctx, &w, graphss_model_name(i)), *b = NULL;
        assert_ok(ctx, graphss_model_save(ctx, a, path));
        assert_ok(ctx, graphss_model_load(ctx, &b, path));
        assert_ok(ctx, graphss_model_predict(ctx, before, a, &w.graph, &w.features));
        assert_ok(ctx, graphss_model_predict(ctx, after, b, &w.graph, &w.features));
        assert_memory_equal(before, after, sizeof before);
        graphss_model_free(ctx, b);
        graphss_model_free(ctx, a);
    }
    unlink(path);
    world_destroy(ctx, &w);
}

TEST_CTX(the_scaling_of_columns_comes_back)
{
    world w;
    world_make(ctx, &w, 1);
    world_measure(ctx, &w, 1);
    char path[256], *bytes = NULL;
    float before[WORLD_NODES * 2], after[WORLD_NODES * 2];
    size_t n = 0;
    testing_temporary(path, sizeof path, "columns");
    graphss_model *a = trained(ctx, &w), *b = NULL;
    assert_non_null(a->scaling.mean);
    assert_ok(ctx, graphss_model_save(ctx, a, path));
    assert_ok(ctx, graphss_model_load(ctx, &b, path));
    assert_ok(ctx, graphss_model_predict(ctx, before, a, &w.graph, &w.features));
    assert_ok(ctx, graphss_model_predict(ctx, after, b, &w.graph, &w.features));
    assert_memory_equal(before, after, sizeof before);
    graphss_model_free(ctx, b);
    b = NULL;
    testing_each_allocation_fails(save_and_load, &(saving){path, a});

    /* A reader that would not apply it refuses the format; one that wants it, its absence. */
    assert_ok(ctx, graphss_i_file_read(ctx, &bytes, &n, path, 1 << 20));
    assert_non_null(memmem(bytes, n, "\"format_version\":\"2\"", 20));
    assert_non_null(memmem(bytes, n, "\"option.standardise\":\"yes\"", 26));
    char *at = memmem(bytes, n, "features.gain", 13);
    assert_non_null(at);
    memcpy(at, "features.lost", 13);
    write_bytes(path, bytes, n);
    assert_fails(ctx, graphss_model_load(ctx, &b, path), GRAPHSS_ERR_DATA, "features.gain");
    graphss_release(ctx, bytes);
    graphss_model_free(ctx, a);
    unlink(path);
    world_destroy(ctx, &w);
}

static void assert_same_list(const int32_t *a, const int32_t *b, size_t n, size_t m)
{
    assert_int_equal(n, m);
    assert_memory_equal(a, b, n * sizeof *a);
}

TEST_CTX(what_is_saved_comes_back)
{
    world w;
    world_make(ctx, &w, 1);
    graphss_model *a = trained(ctx, &w), *b = NULL;
    char path[256];
    testing_temporary(path, sizeof path, "model");
    assert_ok(ctx, graphss_model_save(ctx, a, path));
    assert_ok(ctx, graphss_model_load(ctx, &b, path));
    assert_int_equal(b->params.n, a->params.n);
    for (size_t i = 0; i < a->params.n; i++) {
        const graphss_i_param *m = &a->params.param[i];
        assert_string_equal(b->params.param[i].name, m->name);
        assert_memory_equal(b->params.value + m->offset, a->params.value + m->offset,
            m->rows * m->cols * sizeof(float));
    }
    assert_true(graphss_model_seed(b) == UINT64_MAX - 4);
    assert_true(b->opt.weight_decay == 0.00123 && b->opt.hidden == 6);
    assert_string_equal(graphss_model_class_name(b, 0), "f\xc3\xa9line");
    assert_string_equal(graphss_model_class_name(b, 1), "with \"quotes\"");
    assert_string_equal(graphss_model_dataset_name(b), "world");
    assert_string_equal(graphss_model_dataset_hash(b), "abc");
    assert_int_equal(graphss_model_nodes(b), 2);
    assert_string_equal(graphss_names_get(graphss_model_node_names(b), 1), "with \"quotes\"");
    assert_int_equal(graphss_model_column_names(b)->count, 0);
    const graphss_split *s = &a->split, *r = &b->split;
    assert_same_list(s->train, r->train, s->n_train, r->n_train);
    assert_same_list(s->val, r->val, s->n_val, r->n_val);
    assert_same_list(s->test, r->test, s->n_test, r->n_test);
    assert_same_list(s->train_label, r->train_label, s->n_train, r->n_train);
    assert_same_list(s->val_label, r->val_label, s->n_val, r->n_val);
    graphss_model_free(ctx, a);
    graphss_model_free(ctx, b);
    unlink(path);
    world_destroy(ctx, &w);
}

/* Numbers without meaning for the model: they come back bit for bit, and damaged ones are
 * refused. */
TEST_CTX(a_lesson_comes_back_or_is_refused)
{
    world w;
    world_make(ctx, &w, 1);
    graphss_model *a = trained(ctx, &w), *b = NULL;
    char path[256], *bytes = NULL;
    size_t n = 0;
    testing_temporary(path, sizeof path, "lesson");
    double lesson[6] = {1, -2, 1e-300, 0.1, 5, 6};
    assert_ok(ctx, graphss_i_model_keep(ctx, a, GRAPHSS_I_KEPT_STATES, lesson, 2, 3));
    assert_ok(ctx, graphss_model_save(ctx, a, path));
    assert_ok(ctx, graphss_model_load(ctx, &b, path));
    assert_true(
        b->kept[GRAPHSS_I_KEPT_STATES].rows == 2 && b->kept[GRAPHSS_I_KEPT_STATES].cols == 3);
    assert_memory_equal(b->kept[GRAPHSS_I_KEPT_STATES].value, lesson, sizeof lesson);
    graphss_model_free(ctx, b);
    b = NULL;
    testing_each_allocation_fails(save_and_load, &(saving){path, a});

    static const struct {
        const char *from, *to, *text;
    } damage[] = {{"\"F64\",\"shape\":[2,3]", "\"F32\",\"shape\":[2,3]", "F32"},
        {"\"F64\",\"shape\":[2,3]", "\"F64\",\"shape\":[2,4]", "do not hold"},
        {"\"F64\",\"shape\":[2,3]", "\"F64\",\"shape\":[  6]", "another shape"},
        {"\"F64\",\"shape\":[2,3]", "\"F64\",\"shape\":[2,0]", "another shape"}};
    assert_ok(ctx, graphss_i_file_read(ctx, &bytes, &n, path, 1 << 20));
    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
        char *at = memmem(bytes, n, damage[i].from, strlen(damage[i].from));
        assert_non_null(at);
        memcpy(at, damage[i].to, strlen(damage[i].to));
        write_bytes(path, bytes, n);
        memcpy(at, damage[i].from, strlen(damage[i].from));
        assert_fails(ctx, graphss_model_load(ctx, &b, path), GRAPHSS_ERR_DATA, damage[i].text);
    }
    lesson[3] = NAN;
    assert_ok(ctx, graphss_i_model_keep(ctx, a, GRAPHSS_I_KEPT_STATES, lesson, 2, 3));
    assert_ok(ctx, graphss_model_save(ctx, a, path));
    assert_fails(ctx, graphss_model_load(ctx, &b, path), GRAPHSS_ERR_DATA, "entry 3 is nan");
    assert_null(b);
    graphss_release(ctx, bytes);
    graphss_model_free(ctx, a);
    unlink(path);
    world_destroy(ctx, &w);
}

/* Replaces one text of the header by another of the same length. */
TEST_CTX(damaged_files_are_refused)
{
    world w;
    world_make(ctx, &w, 1);
    graphss_model *model = trained(ctx, &w), *none = NULL;
    char path[256], *bytes = NULL;
    size_t n = 0;
    testing_temporary(path, sizeof path, "damaged");
    assert_ok(ctx, graphss_model_save(ctx, model, path));
    assert_ok(ctx, graphss_i_file_read(ctx, &bytes, &n, path, 1 << 20));
    assert_null(memmem(bytes, n, "standardise", 11)); /* as in older files */

    static const struct {
        const char *from, *to, *text;
    } damage[] = {
        {"\"format\":\"graphss\"", "\"format\":\"somethg\"", "not a GraphSS model"},
        {"\"format_version\":\"1\"", "\"format_version\":\"9\"", "later GraphSS"},
        {"\"option.hidden\":\"6\"", "\"option.hidden\":\"7\"", "shape"},
        {"\"option.hidden\":\"6\"", "\"option.hidden\":\"x\"", "--hidden"},
        {"\"features\":\"20\"", "\"features\":\"-2\"", "features"},
        {"\"features\":\"20\"", "\"featurez\":\"20\"", "features"},
        {"\"dtype\":\"F32\"", "\"dtype\":\"F64\"", "F64"},
        {"\"shape\":[20,6]", "\"shape\":[-1,6]", "shape"},
        {"\"data_offsets\":[0,480]", "\"data_offsets\":[0,999]", "do not hold"},
        {"\"option.model\":\"gcn\"", "\"option.model\":\"gan\"", "gan"},
        {"\"feature_scale\":\"", "\"feature_scale\":\"-", "feature_scale"},
        {"split.train\"", "split.trian\"", "split.train"},
    };
    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
        char *copy = malloc(n);
        memcpy(copy, bytes, n);
        char *at = memmem(copy, n, damage[i].from, strlen(damage[i].from));
        if (!at)
            fail_msg("the header has no %s", damage[i].from);
        memcpy(at, damage[i].to, strlen(damage[i].to));
        write_bytes(path, copy, n);
        free(copy);
        assert_fails(
            ctx, graphss_model_load(ctx, &none, path), GRAPHSS_ERR_DATA, damage[i].text);
    }
    const uint32_t not_a_number = 0x7fc00000;
    const size_t first = 8 + (unsigned char)bytes[0] + 256 * (size_t)(unsigned char)bytes[1];
    char *copy = malloc(n);
    memcpy(copy, bytes, n);
    memcpy(copy + first, &not_a_number, sizeof not_a_number);
    write_bytes(path, copy, n);
    free(copy);
    assert_fails(ctx, graphss_model_load(ctx, &none, path), GRAPHSS_ERR_DATA,
        "entry 0 is nan, want a finite number");
    for (size_t cut = 0; cut < n; cut = cut < 64 ? cut + 1 : cut + 97) {
        write_bytes(path, bytes, cut);
        assert_int_equal(graphss_model_load(ctx, &none, path), GRAPHSS_ERR_DATA);
    }
    assert_null(none);
    graphss_release(ctx, bytes);
    graphss_model_free(ctx, model);
    unlink(path);
    world_destroy(ctx, &w);
}

TEST_CTX(a_model_that_does_not_fit_is_refused)
{
    world w;
    world_make(ctx, &w, 1);
    graphss_model *model = trained(ctx, &w);
    graphss_dataset data = {.n_classes = 2, .features = w.features, .name = "other"};
    assert_ok(ctx, graphss_model_fits(ctx, model, &data));
    data.features.n_cols = 21;
    assert_fails(ctx, graphss_model_fits(ctx, model, &data), GRAPHSS_ERR_SHAPE,
        "other has 21 features, the model was trained on 20 (world)");
    data.features.n_cols = 20;
    data.n_classes = 3;
    assert_fails(ctx, graphss_model_fits(ctx, model, &data), GRAPHSS_ERR_SHAPE, "3 classes");
    data.n_classes = 2;
    size_t start[3] = {0, 2, 4};
    char text[] = "a\0b";
    data.class_names = (graphss_names){2, start, text};
    assert_fails(ctx, graphss_model_fits(ctx, model, &data), GRAPHSS_ERR_SHAPE, "class 0");
    graphss_model_free(ctx, model);
    world_destroy(ctx, &w);
}

TEST_CTX(failing_allocations_leave_nothing)
{
    world w;
    world_make(ctx, &w, 1);
    graphss_model *model = trained(ctx, &w);
    char path[256];
    testing_temporary(path, sizeof path, "starved");
    saving s = {path, model};
    testing_each_allocation_fails(save_and_load, &s);
    unlink(path);
    graphss_model_free(ctx, model);
    world_destroy(ctx, &w);
}

typedef struct resumed {
    world w;
    graphss_model *model;
    graphss_i_model_state *state;
} resumed;

static void start(graphss_ctx *ctx, resumed *t)
{
    graphss_train_options opt;
    graphss_train_options_init(&opt, "gcn", GRAPHSS_MODE_PAPER, NULL);
    opt.epochs = 12;
    opt.hidden = 8;
    world_make(ctx, &t->w, 7);
    t->model = NULL;
    assert_ok(ctx, graphss_model_train(ctx, &t->model, NULL,
                       &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                           .graph = &t->w.graph,
                           .features = &t->w.features,
                           .n_classes = 2,
                           .split = &t->w.split,
                           .seed = 3},
                       &opt));
    t->state = calloc(1, graphss_i_model_state_size(t->model));
    assert_non_null(t->state);
    graphss_i_model_state_put(t->state, t->model);
}

static void stop(graphss_ctx *ctx, resumed *t)
{
    free(t->state);
    graphss_model_free(ctx, t->model);
    world_destroy(ctx, &t->w);
}

/* To go on from a state is to go on from the model: that takes weights, moments and step. */
TEST_CTX(a_state_goes_on_as_its_model_does)
{
    resumed t;
    start(ctx, &t);
    assert_true(t.state->filled);
    graphss_train_options other = t.model->opt;
    graphss_model *like = NULL, *taken = NULL, *next[2] = {NULL};
    other.epochs = 3;
    assert_ok(ctx, graphss_model_train(ctx, &like, NULL,
                       &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                           .graph = &t.w.graph,
                           .features = &t.w.features,
                           .n_classes = 2,
                           .split = &t.w.split,
                           .seed = 3},
                       &other));
    assert_ok(ctx, graphss_i_model_state_take(ctx, &taken, like, t.state));
    const graphss_model *from[2] = {t.model, taken};
    for (int i = 0; i < 2; i++)
        assert_ok(ctx, graphss_i_continue(ctx, &next[i], NULL, from[i],
                           &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                               .graph = &t.w.graph,
                               .features = &t.w.features,
                               .split = &t.w.split,
                               .seed = 5},
                           7));
    assert_memory_equal(next[0]->params.value, next[1]->params.value,
        next[0]->params.count * sizeof *next[0]->params.value);
    assert_int_equal(next[0]->adam.step, next[1]->adam.step);
    for (int i = 0; i < 2; i++)
        graphss_model_free(ctx, next[i]);
    graphss_model_free(ctx, taken);
    graphss_model_free(ctx, like);
    stop(ctx, &t);
}

TEST_CTX(a_model_without_moments_has_no_state)
{
    resumed t;
    start(ctx, &t);
    graphss_train_options opt;
    graphss_train_options_init(&opt, "gcn", GRAPHSS_MODE_DEFAULT, NULL);
    graphss_model *model = NULL;
    opt.epochs = 2;
    assert_ok(ctx, graphss_model_train(ctx, &model, NULL,
                       &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                           .graph = &t.w.graph,
                           .features = &t.w.features,
                           .n_classes = 2,
                           .split = &t.w.split,
                           .seed = 3},
                       &opt));
    assert_int_equal(graphss_i_model_state_size(model), 0);
    graphss_model_free(ctx, model);
    stop(ctx, &t);
}

static graphss_status take_once(graphss_ctx *ctx, void *arg)
{
    const resumed *t = arg;
    graphss_model *model = NULL;
    const graphss_status st = graphss_i_model_state_take(ctx, &model, t->model, t->state);
    graphss_model_free(ctx, model);
    return st;
}

TEST_CTX(failing_allocations_take_no_state)
{
    resumed t;
    start(ctx, &t);
    testing_each_allocation_fails(take_once, &t);
    stop(ctx, &t);
}

int main(void)
{
    return testing_run();
}
