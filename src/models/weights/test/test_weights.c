/* Weights to other libraries' names and back, and what is refused. */
#include "models/model_private.h"
#include "models/test/testing_world.h"

enum { K = 2, SIZE = WORLD_NODES * K };

static graphss_model *trained(graphss_ctx *ctx, const world *w, const char *name, bool deep)
{
    graphss_train_options opt;
    graphss_train_options_init(&opt, name, GRAPHSS_MODE_DEFAULT, NULL);
    graphss_model *model = NULL;
    opt.epochs = 8;
    opt.hidden = 6;
    opt.heads = opt.heads ? 2 : 0;
    opt.output_heads = opt.output_heads ? 3 : 0;
    opt.layers = deep ? 3 : opt.layers;
    assert_ok(ctx, graphss_model_train(ctx, &model, NULL,
                       &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                           .graph = &w->graph,
                           .features = &w->features,
                           .n_classes = K,
                           .split = &w->split,
                           .seed = 1},
                       &opt));
    return model;
}

static graphss_train_options options_of(const graphss_model *model)
{
    graphss_train_options how;
    graphss_import_options_init(&how, model->opt.model);
    how.row_normalise = model->opt.row_normalise;
    return how;
}

TEST(each_model_comes_back_from_each_layout_that_has_it)
{
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    world w;
    char path[256];
    size_t trips = 0;
    world_make(ctx, &w, 1);
    testing_temporary(path, sizeof path, "weights.safetensors");
    for (size_t m = 0; graphss_model_name(m); m++)
        for (graphss_layout layout = GRAPHSS_LAYOUT_PYG; layout <= GRAPHSS_LAYOUT_DEEPROBUST;
             layout++) {
            const char *name = graphss_model_name(m);
            const bool none = (!strcmp(name, "sage") && layout != GRAPHSS_LAYOUT_DGL) ||
                              (!strcmp(name, "mlp") && layout == GRAPHSS_LAYOUT_DEEPROBUST);
            graphss_model *model = trained(ctx, &w, name, strcmp(name, "sgc") && layout == 1);
            graphss_model *back = NULL;
            const graphss_train_options how = options_of(model);
            float prob[SIZE];
            double off = 1;
            if (none) {
                assert_fails(ctx, graphss_model_export(ctx, model, path, layout),
                    GRAPHSS_ERR_INVALID, "has no model");
            } else {
                assert_ok(ctx, graphss_model_export(ctx, model, path, layout));
                assert_ok(ctx, graphss_model_import(ctx, &back, path, layout, &how));
                assert_ok(ctx, graphss_model_predict(ctx, prob, model, &w.graph, &w.features));
                assert_ok(
                    ctx, graphss_model_probe(ctx, &off, back, &w.graph, &w.features, prob));
                assert_true(off < 1e-5);
                trips++;
            }
            graphss_model_free(ctx, back);
            graphss_model_free(ctx, model);
        }
    assert_int_equal(trips, 15);
    remove(path);
    world_destroy(ctx, &w);
    graphss_ctx_free(ctx);
}

TEST_CTX(another_model_than_the_probes_is_refused)
{
    world w;
    char path[256];
    float prob[SIZE];
    world_make(ctx, &w, 1);
    testing_temporary(path, sizeof path, "probe.safetensors");
    for (int wrong = 0; wrong < 4; wrong++) {
        graphss_model *model = trained(ctx, &w, wrong == 1 ? "sgc" : "gcn", false);
        graphss_model *back = NULL;
        graphss_train_options how = options_of(model);
        double off = -1;
        assert_ok(ctx, graphss_model_predict(ctx, prob, model, &w.graph, &w.features));
        assert_ok(ctx, graphss_model_export(ctx, model, path, GRAPHSS_LAYOUT_PYG));
        if (wrong == 0)
            how.self_loops = false;
        else if (wrong == 1)
            how.hops = 3;
        else if (wrong == 2)
            how.row_normalise = !how.row_normalise;
        else
            prob[5] = NAN;
        assert_ok(ctx, graphss_model_import(ctx, &back, path, GRAPHSS_LAYOUT_PYG, &how));
        assert_fails(ctx, graphss_model_probe(ctx, &off, back, &w.graph, &w.features, prob),
            GRAPHSS_ERR_DATA, "differs from the one behind the probe");
        assert_true(off == -1);
        graphss_model_free(ctx, back);
        graphss_model_free(ctx, model);
    }
    remove(path);
    world_destroy(ctx, &w);
}

/* Layers from 3 to 3 and from 3 to 2: the first is square, so only a probe shows whether it is
 * transposed. */
static const float square[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, flat[6] = {1, 2, 3, 4, 5, 6},
                   three[3] = {1, 2, 3}, two[2] = {1, 2};

static graphss_tensor matrix(const char *name, size_t rows, size_t cols, const float *value)
{
    return (graphss_tensor){name, 2, {rows, cols, 1}, value};
}

static graphss_tensor vector(const char *name, size_t n, const float *value)
{
    return (graphss_tensor){name, 1, {n, 1, 1}, value};
}

TEST_CTX(names_say_layer_role_and_transpose)
{
    graphss_train_options how;
    graphss_import_options_init(&how, "gcn");
    /* Unordered, with numbers of two digits. */
    const graphss_tensor pyg[] = {matrix("convs.10.lin.weight", 2, 3, flat),
        vector("convs.10.bias", 2, two), matrix("convs.9.lin.weight", 3, 3, square),
        vector("convs.9.bias", 3, three)};
    const graphss_tensor robust[] = {
        matrix("gc2.weight", 3, 2, flat), matrix("gc1.weight", 3, 3, square)};
    graphss_model *model = NULL;
    graphss_tensor w;
    assert_ok(ctx, graphss_model_from_tensors(ctx, &model, pyg, 4, GRAPHSS_LAYOUT_PYG, &how));
    assert_true(graphss_model_weight(&w, model, 0) && w.n_dims == 2 && w.shape[0] == 3);
    assert_true(w.shape[1] == 3 && w.value[1] == 4 && w.value[3] == 2); /* transposed */
    assert_true(graphss_model_weight(&w, model, 2) && w.shape[0] == 3 && w.shape[1] == 2);
    assert_string_equal(w.name, "1.weight");
    assert_true(w.value[0] == 1 && w.value[1] == 4 && w.value[2] == 2);
    assert_false(graphss_model_weight(&w, model, 99));
    assert_int_equal(graphss_model_options(model)->layers, 2);
    assert_int_equal(graphss_model_options(model)->hidden, 3);
    assert_int_equal(graphss_model_classes(model), 2);
    graphss_model_free(ctx, model);
    assert_ok(ctx,
        graphss_model_from_tensors(ctx, &model, robust, 2, GRAPHSS_LAYOUT_DEEPROBUST, &how));
    assert_true(graphss_model_weight(&w, model, 1) && w.shape[0] == 3 && w.shape[1] == 2);
    assert_true(w.value[1] == 2); /* unchanged */
    assert_false(graphss_model_options(model)->bias);
    graphss_model_free(ctx, model);
}

TEST_CTX(heads_are_found_in_the_shapes)
{
    graphss_train_options how;
    graphss_import_options_init(&how, "gat");
    static const float four[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    graphss_tensor x[] = {matrix("layers.0.fc.weight", 4, 2, four),
        {"layers.0.attn_l", 3, {1, 2, 2}, four}, {"layers.0.attn_r", 3, {1, 2, 2}, four},
        vector("layers.0.bias", 4, four)};
    graphss_model *model = NULL;
    graphss_tensor bias;
    assert_ok(ctx, graphss_model_from_tensors(ctx, &model, x, 4, GRAPHSS_LAYOUT_DGL, &how));
    assert_int_equal(graphss_model_options(model)->output_heads, 2);
    assert_int_equal(graphss_model_classes(model), 2);
    assert_true(graphss_model_weight(&bias, model, 3) && !strcmp(bias.name, "0.bias"));
    assert_true(bias.shape[1] == 2 && bias.value[0] == 2 && bias.value[1] == 3);
    graphss_model_free(ctx, model);
    x[0].name = "conv1.lin_src.weight", x[1].name = "conv1.att_src";
    x[2].name = "conv1.att_dst", x[3].name = "conv1.bias";
    assert_fails(ctx, graphss_model_from_tensors(ctx, &model, x, 4, GRAPHSS_LAYOUT_PYG, &how),
        GRAPHSS_ERR_SHAPE, "concat=True");
    x[3] = matrix("conv1.lin_dst.weight", 4, 2, four);
    assert_ok(ctx, graphss_model_from_tensors(ctx, &model, x, 4, GRAPHSS_LAYOUT_PYG, &how));
    graphss_model_free(ctx, model);
    static const float other[8] = {1, 2, 3, 4, 5, 6, 7, 9};
    x[3].value = other;
    assert_fails(ctx, graphss_model_from_tensors(ctx, &model, x, 4, GRAPHSS_LAYOUT_PYG, &how),
        GRAPHSS_ERR_DATA, "lin_dst.weight differs");
    x[1].shape[1] = 3;
    assert_fails(ctx, graphss_model_from_tensors(ctx, &model, x, 3, GRAPHSS_LAYOUT_PYG, &how),
        GRAPHSS_ERR_SHAPE, "3 heads of 2 columns");
}

TEST_CTX(what_cannot_be_expressed_is_refused_by_name)
{
    static const float holed[9] = {1, 2, 3, NAN};
    static const struct {
        const char *model;
        graphss_tensor x[3];
        size_t n;
        graphss_status status;
        const char *part;
    } c[] = {
        {"gcn", {{"c.lin.weight", 2, {3, 3}, square}, {"bn.running_mean", 1, {3}, three}}, 2,
            GRAPHSS_ERR_DATA,
            "bn.running_mean: no part of a gcn in the layout pyg, whose names end in "
            "lin.weight, "
            "weight, bias: a batch"},
        {"gcn", {{"c.bias", 1, {3}, three}}, 1, GRAPHSS_ERR_DATA, "c.lin.weight is missing"},
        {"gcn", {{"c.1.lin.weight", 2, {3, 3}, square}, {"c.2.lin.weight", 2, {3, 2}, flat}},
            2, GRAPHSS_ERR_SHAPE, "c.2.lin.weight takes 2 columns"},
        {"gcn", {{"c.lin.weight", 2, {3, 3}, square}, {"c.bias", 1, {2}, two}}, 2,
            GRAPHSS_ERR_SHAPE, "c.bias: 2 numbers, want 3"},
        {"gcn", {{"c.lin.weight", 2, {3, 3}, square}, {"c.weight", 2, {3, 3}, square}}, 2,
            GRAPHSS_ERR_DATA, "two of a kind"},
        {"gcn",
            {{"c.0.lin.weight", 2, {3, 3}, square}, {"c.1.lin.weight", 2, {2, 3}, flat},
                {"c.2.lin.weight", 2, {3, 2}, flat}},
            3, GRAPHSS_ERR_SHAPE, "different widths"},
        {"gcn", {{"c.lin.weight", 2, {3, 3}, holed}}, 1, GRAPHSS_ERR_DATA, "entry 3 is nan"},
        {"gcn", {{"c.lin.weight", 1, {9}, square}}, 1, GRAPHSS_ERR_SHAPE, "1 dimensions"},
        {"gcn", {{"c.lin.weight", 0, {9}, square}}, 1, GRAPHSS_ERR_INVALID, "0 dimensions"},
        {"gcn", {{0}}, 0, GRAPHSS_ERR_DATA, "no weights at all"},
        {"sage", {{"c.lin.weight", 2, {3, 3}, square}}, 1, GRAPHSS_ERR_INVALID, "sage-mean"},
        {"sage-mean", {{"c.lin_l.weight", 2, {3, 3}, square}}, 1, GRAPHSS_ERR_DATA,
            "c.lin_r.weight is missing"},
        {"sage-mean",
            {{"c.lin_l.weight", 2, {3, 3}, square}, {"c.lin_r.weight", 2, {3, 2}, flat}}, 2,
            GRAPHSS_ERR_SHAPE, "c.lin_r.weight is 2 to 3"},
        {"gat", {{"c.lin.weight", 2, {3, 3}, square}}, 1, GRAPHSS_ERR_DATA,
            "c.att_src is missing"},
        {"sgc", {{"a.lin.weight", 2, {3, 3}, square}, {"b.lin.weight", 2, {3, 3}, square}}, 2,
            GRAPHSS_ERR_SHAPE, "2 layers of sgc"},
        {"gnc", {{0}}, 0, GRAPHSS_ERR_INVALID, "found 'gnc'"},
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        graphss_train_options how;
        graphss_import_options_init(&how, c[i].model);
        graphss_model *model = NULL;
        assert_fails(ctx,
            graphss_model_from_tensors(ctx, &model, c[i].x, c[i].n, GRAPHSS_LAYOUT_PYG, &how),
            c[i].status, c[i].part);
        assert_null(model);
    }
}

/* A file of one matrix, 2 to 2, in the type given. */
static void write_file(
    const char *path, const char *dtype, const void *data, size_t size, size_t claimed)
{
    char header[256];
    const size_t n = (size_t)snprintf(header, sizeof header,
        "{\"c.weight\":{\"dtype\":\"%s\",\"shape\":[2,2],\"data_offsets\":[0,%zu]}}", dtype,
        claimed);
    FILE *f = fopen(path, "wb");
    const uint64_t length = n;
    assert_non_null(f);
    assert_int_equal(fwrite(&length, 8, 1, f), 1);
    assert_int_equal(fwrite(header, 1, n, f), n);
    assert_int_equal(fwrite(data, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

TEST_CTX(numbers_of_each_type_are_read)
{
    static const float single[] = {1, -2.5F, 0.125F, 3};
    static const double large[] = {1, -2.5, 0.125, 3};
    static const uint16_t half[] = {0x3c00, 0xc100, 0x3000, 0x4200};
    static const uint16_t brain[] = {0x3f80, 0xc020, 0x3e00, 0x4040};
    static const uint16_t odd[] = {0x3c00, 0x7c00, 0x3000, 0x4200};
    static const uint16_t tiny[] = {0x0001, 0x8001, 0x0000, 0x4200};
    const struct {
        const char *dtype;
        const void *data;
        size_t size;
    } c[] = {{"F32", single, 16}, {"F64", large, 32}, {"F16", half, 8}, {"BF16", brain, 8}};
    graphss_train_options how;
    graphss_import_options_init(&how, "gcn");
    graphss_model *model = NULL;
    char path[256];
    testing_temporary(path, sizeof path, "types.safetensors");
    graphss_tensor w;
    for (size_t i = 0; i < 4; i++) {
        write_file(path, c[i].dtype, c[i].data, c[i].size, c[i].size);
        assert_ok(ctx, graphss_model_import(ctx, &model, path, GRAPHSS_LAYOUT_DGL, &how));
        assert_true(graphss_model_weight(&w, model, 0));
        assert_memory_equal(w.value, single, sizeof single);
        graphss_model_free(ctx, model);
        model = NULL;
    }
    write_file(path, "F16", tiny, 8, 8);
    assert_ok(ctx, graphss_model_import(ctx, &model, path, GRAPHSS_LAYOUT_DGL, &how));
    assert_true(graphss_model_weight(&w, model, 0) && w.value[1] == -0x1p-24F);
    graphss_model_free(ctx, model);
    model = NULL;
    write_file(path, "F16", odd, 8, 8);
    assert_fails(ctx, graphss_model_import(ctx, &model, path, GRAPHSS_LAYOUT_DGL, &how),
        GRAPHSS_ERR_DATA, "types.safetensors: c.weight: entry 1 is inf");
    write_file(path, "I64", large, 32, 32);
    assert_fails(ctx, graphss_model_import(ctx, &model, path, GRAPHSS_LAYOUT_DGL, &how),
        GRAPHSS_ERR_DATA, "found I64, want F32");
    write_file(path, "F32", single, 12, 16);
    assert_fails(ctx, graphss_model_import(ctx, &model, path, GRAPHSS_LAYOUT_DGL, &how),
        GRAPHSS_ERR_DATA, "bytes 0 to 16 of 12");
    assert_fails(ctx, graphss_model_import(ctx, &model, "/nowhere", GRAPHSS_LAYOUT_DGL, &how),
        GRAPHSS_ERR_NOT_FOUND, "/nowhere");
    remove(path);
}

TEST_CTX(what_has_no_place_in_a_layout_is_not_written)
{
    world w;
    world_make(ctx, &w, 1);
    world_measure(ctx, &w, 1);
    graphss_model *model = NULL;
    graphss_train_options opt;
    graphss_train_options_init(&opt, "gcn", GRAPHSS_MODE_DEFAULT, &w.features);
    opt.epochs = 1;
    assert_ok(ctx, graphss_model_train(ctx, &model, NULL,
                       &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                           .graph = &w.graph,
                           .features = &w.features,
                           .n_classes = K,
                           .split = &w.split,
                           .seed = 1},
                       &opt));
    assert_fails(ctx, graphss_model_export(ctx, model, "/tmp/never", GRAPHSS_LAYOUT_PYG),
        GRAPHSS_ERR_INVALID, "standardises");
    graphss_model_free(ctx, model);
    world_destroy(ctx, &w);
}

typedef struct trip {
    const world *w;
    const graphss_model *model;
    char path[256];
} trip;

static graphss_status there_and_back(graphss_ctx *ctx, void *arg)
{
    const trip *t = arg;
    const graphss_train_options how = options_of(t->model);
    float prob[SIZE];
    graphss_model *back = NULL;
    graphss_status st = graphss_model_export(ctx, t->model, t->path, GRAPHSS_LAYOUT_PYG);
    if (!st)
        st = graphss_model_import(ctx, &back, t->path, GRAPHSS_LAYOUT_PYG, &how);
    if (!st)
        st = graphss_model_predict(ctx, prob, back, &t->w->graph, &t->w->features);
    if (!st)
        st = graphss_model_probe(ctx, NULL, back, &t->w->graph, &t->w->features, prob);
    graphss_model_free(ctx, back);
    return st;
}

TEST_CTX(failing_allocations_leave_nothing)
{
    world w;
    world_make(ctx, &w, 1);
    graphss_model *model = trained(ctx, &w, "gat", false);
    trip t = {.w = &w, .model = model};
    testing_temporary(t.path, sizeof t.path, "starved.safetensors");
    testing_each_allocation_fails(there_and_back, &t);
    remove(t.path);
    graphss_model_free(ctx, model);
    world_destroy(ctx, &w);
}

int main(void)
{
    return testing_run();
}
