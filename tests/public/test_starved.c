/* Fallible public calls that no other test starves: each allocation fails in turn, and the
 * only error is NOMEM. tools/starved lists the calls that are missing. */
#include "data/formats/npz.h"
#include "testing.h"
#include <sys/stat.h>

/* A small dataset with a model trained on it, a changed copy of it, and outputs for the calls
 * to fill. */
typedef struct given {
    graphss_ctx *ctx;
    graphss_dataset data;
    graphss_split split;
    graphss_model *model;
    graphss_observation previous;
    graphss_defence_input in;
    graphss_snapshots snapshots;
    int32_t *label;
    float *prob;
    char folder[256], file[300], surrogate[300], probe[300];
} given;

static void set_up(given *g)
{
    *g = (given){.ctx = testing_ctx(NULL, 1)};
    graphss_ctx *ctx = g->ctx;
    graphss_synth_options synth;
    graphss_synth_options_init(&synth);
    graphss_train_options train;
    graphss_train_options_init(&train, "sgc", GRAPHSS_MODE_DEFAULT, NULL);
    synth.nodes = 150;
    synth.classes = 2;
    synth.features = 60;
    synth.words = 6;
    train.epochs = 5;
    assert_ok(ctx, graphss_synth_make(ctx, &g->data, &synth));
    const size_t n = g->data.graph.n_nodes, k = g->data.n_classes;
    assert_ok(ctx, graphss_split_make(ctx, &g->split, g->data.label, n, k, 1, NULL));
    assert_ok(ctx, graphss_model_train(ctx, &g->model, NULL,
                       &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                           .graph = &g->data.graph,
                           .features = &g->data.features,
                           .n_classes = k,
                           .split = &g->split,
                           .seed = 1},
                       &train));
    g->previous = graphss_dataset_observe(&g->data);
    g->in = (graphss_defence_input){.struct_size = sizeof(graphss_defence_input),
        .current = g->previous,
        .previous = &g->previous,
        .model = g->model,
        .seed = 1};
    assert_ok(ctx, graphss_snapshots_plan(ctx, &g->snapshots, &g->data, &g->split, 1, NULL));
    g->label = malloc(n * sizeof *g->label);
    g->prob = malloc(n * k * sizeof *g->prob);
    assert_non_null(g->label);
    assert_non_null(g->prob);
    memcpy(g->label, g->data.label, n * sizeof *g->label);
    assert_ok(
        ctx, graphss_model_predict(ctx, g->prob, g->model, &g->data.graph, &g->data.features));
    testing_temporary(g->folder, sizeof g->folder, "starved");
    assert_int_equal(mkdir(g->folder, 0700), 0);
    snprintf(g->file, sizeof g->file, "%s/file", g->folder);
    snprintf(g->surrogate, sizeof g->surrogate, "%s/surrogate.npz", g->folder);
    const float w[6] = {0};
    const graphss_i_array_out array = {
        .name = "W", .dtype = "<f4", .n_dims = 2, .shape = {2, 3}, .data = w};
    assert_ok(ctx, graphss_i_npz_write(ctx, g->surrogate, &array, 1));
}

/* The dataset with the model's answers, as graphss_model_probe_file wants it. */
static void write_probe(given *g)
{
    const graphss_graph *graph = &g->data.graph;
    const graphss_features *f = &g->data.features;
    const size_t n = graph->n_nodes, edges = (size_t)graph->offset[n],
                 entries = graphss_features_stored(f);
    const int64_t square[] = {(int64_t)n, (int64_t)n},
                  wide[] = {(int64_t)n, (int64_t)f->n_cols};
    float *ones = malloc(edges * sizeof *ones);
    assert_non_null(ones);
    for (size_t e = 0; e < edges; e++)
        ones[e] = 1;
    const graphss_i_array_out array[] = {
        {"adj_data", "<f4", 1, {edges}, ones, NULL},
        {"adj_indices", "<i4", 1, {edges}, graph->target, NULL},
        {"adj_indptr", "<i8", 1, {n + 1}, graph->offset, NULL},
        {"adj_shape", "<i8", 1, {2}, square, NULL},
        {"attr_data", "<f4", 1, {entries}, f->value, NULL},
        {"attr_indices", "<i4", 1, {entries}, f->column, NULL},
        {"attr_indptr", "<i8", 1, {n + 1}, f->offset, NULL},
        {"attr_shape", "<i8", 1, {2}, wide, NULL},
        {"probabilities", "<f4", 2, {n, g->data.n_classes}, g->prob, NULL},
    };
    snprintf(g->probe, sizeof g->probe, "%s/probe.npz", g->folder);
    assert_ok(
        g->ctx, graphss_i_npz_write(g->ctx, g->probe, array, sizeof array / sizeof *array));
    free(ones);
}

static void tear_down(given *g)
{
    char command[400];
    snprintf(command, sizeof command, "rm -r '%s'", g->folder);
    assert_int_equal(system(command), 0);
    free(g->prob);
    free(g->label);
    graphss_snapshots_destroy(g->ctx, &g->snapshots);
    graphss_model_free(g->ctx, g->model);
    graphss_split_destroy(g->ctx, &g->split);
    graphss_dataset_destroy(g->ctx, &g->data);
    graphss_ctx_free(g->ctx);
}

/* ---- calls that allocate ---- */

static graphss_status alert_look(graphss_ctx *ctx, void *arg)
{
    given *g = arg;
    graphss_alert_scores out = {0};
    const graphss_status st = graphss_alert_score(ctx, &out, &g->in, NULL);
    graphss_alert_scores_destroy(ctx, &out);
    return st;
}

static graphss_status alert_run(graphss_ctx *ctx, void *arg)
{
    given *g = arg;
    graphss_alert_result out = {0};
    const graphss_status st = graphss_alert_run(ctx, &out, &g->in, NULL, 0, NULL);
    graphss_alert_result_destroy(ctx, &out);
    return st;
}

static graphss_status data_dirs(graphss_ctx *ctx, void *arg)
{
    (void)arg;
    const char **dirs = NULL;
    const graphss_status st = graphss_dataset_dirs(ctx, &dirs);
    graphss_release(ctx, (void *)dirs);
    return st;
}

static graphss_status dataset_changes(graphss_ctx *ctx, void *arg)
{
    given *g = arg;
    graphss_dataset copy = {0};
    graphss_status st = graphss_dataset_copy(ctx, &copy, &g->data);
    if (!st)
        st = graphss_dataset_normalise_rows(ctx, &copy);
    if (!st)
        st = graphss_dataset_refresh(ctx, &copy);
    graphss_dataset_destroy(ctx, &copy);
    return st;
}

static graphss_status features_normalise(graphss_ctx *ctx, void *arg)
{
    given *g = arg;
    graphss_features out = {0};
    const graphss_status st = graphss_features_normalise_rows(ctx, &out, &g->data.features);
    graphss_features_destroy(ctx, &out);
    return st;
}

/* There is no file, and none may be fetched: the failure is not one of memory. */
static graphss_status fetch(graphss_ctx *ctx, void *arg)
{
    given *g = arg;
    graphss_fetch_result out = {0};
    const graphss_fetch_options opt = {
        .struct_size = sizeof opt, .dir = g->folder, .offline = true};
    const graphss_status st = graphss_fetch_run(ctx, &out, "cora", &opt);
    assert_int_not_equal(st, GRAPHSS_OK);
    return st == GRAPHSS_ERR_NOMEM ? st : GRAPHSS_OK;
}

static graphss_status flips_add(graphss_ctx *ctx, void *arg)
{
    (void)arg;
    graphss_flips flips = {0};
    graphss_status st = GRAPHSS_OK;
    for (int32_t i = 0; i < 200 && !st; i++)
        st = graphss_flips_add(ctx, &flips, (graphss_flip){.victim = i});
    graphss_flips_destroy(ctx, &flips);
    return st;
}

static graphss_status match_split(graphss_ctx *ctx, void *arg)
{
    given *g = arg;
    graphss_split out = {0};
    const graphss_status st = graphss_split_match(ctx, &out, g->model, &g->in.current);
    graphss_split_destroy(ctx, &out);
    return st;
}

static graphss_status model_describe(graphss_ctx *ctx, void *arg)
{
    given *g = arg;
    graphss_model *model = NULL;
    graphss_status st = graphss_model_load(ctx, &model, g->file);
    if (!st)
        st = graphss_model_set_dataset(ctx, model, &g->data);
    if (!st)
        st = graphss_model_fits(ctx, model, &g->data);
    graphss_model_free(ctx, model);
    return st;
}

static graphss_status say_half(void *user, float *prob, const graphss_graph *graph,
    const graphss_features *features, char *why, size_t size)
{
    (void)user, (void)features, (void)why, (void)size;
    for (size_t i = 0; i < 2 * graph->n_nodes; i++)
        prob[i] = 0.5F;
    return GRAPHSS_OK;
}

static graphss_status set_predictor(graphss_ctx *ctx, void *arg)
{
    given *g = arg;
    graphss_model *model = NULL;
    const graphss_predictor predictor = {
        .struct_size = sizeof predictor, .probabilities = say_half};
    graphss_status st = graphss_model_load(ctx, &model, g->file);
    if (!st)
        st = graphss_model_set_predictor(ctx, model, &predictor);
    graphss_model_free(ctx, model);
    return st;
}

static graphss_status from_tensors(graphss_ctx *ctx, void *arg)
{
    given *g = arg;
    graphss_model *model = NULL;
    const float value[2 * 3] = {1, 2, 3, 4, 5, 6};
    const graphss_tensor tensor = {"conv.lin.weight", 2, {2, 3}, value};
    graphss_train_options how;
    graphss_import_options_init(&how, "sgc");
    graphss_status st =
        graphss_model_from_tensors(ctx, &model, &tensor, 1, GRAPHSS_LAYOUT_PYG, &how);
    if (!st)
        st = graphss_model_set_split(ctx, model, &g->split);
    graphss_model_free(ctx, model);
    return st;
}

static graphss_status probe_file(graphss_ctx *ctx, void *arg)
{
    given *g = arg;
    double off = 1;
    return graphss_model_probe_file(ctx, &off, g->model, g->probe);
}

static graphss_status model_label(graphss_ctx *ctx, void *arg)
{
    given *g = arg;
    return graphss_model_label(ctx, g->label, g->model, &g->data.graph, &g->data.features);
}

static graphss_status node_index(graphss_ctx *ctx, void *arg)
{
    given *g = arg;
    graphss_node_index *index = NULL;
    const graphss_status st = graphss_node_index_new(ctx, &index, &g->data);
    graphss_node_index_free(ctx, index);
    return st;
}

static graphss_status protocol_believed(graphss_ctx *ctx, void *arg)
{
    given *g = arg;
    return graphss_protocol_believed(ctx, g->label, &g->data, &g->split, 0.1, 1);
}

static graphss_status protocol_surrogate(graphss_ctx *ctx, void *arg)
{
    given *g = arg;
    float *w = NULL;
    graphss_train_options train;
    graphss_train_options_init(&train, "gcn", GRAPHSS_MODE_PAPER, NULL);
    train.epochs = 2;
    const graphss_status st =
        graphss_protocol_surrogate(ctx, &w, &g->data, &g->split, 1, &train);
    graphss_release(ctx, w);
    return st;
}

static graphss_status snapshots_write(graphss_ctx *ctx, void *arg)
{
    given *g = arg;
    graphss_status st = graphss_snapshots_check_folder(ctx, g->folder, true);
    if (!st)
        st = graphss_snapshots_write(ctx, &g->snapshots, g->folder, true);
    return st;
}

static graphss_status surrogate_from_model(graphss_ctx *ctx, void *arg)
{
    given *g = arg;
    float *w = NULL;
    const graphss_status st =
        graphss_surrogate_from_model(ctx, &w, g->model, GRAPHSS_MODE_DEFAULT);
    graphss_release(ctx, w);
    return st;
}

static graphss_status surrogate_read(graphss_ctx *ctx, void *arg)
{
    given *g = arg;
    float *w = NULL;
    const graphss_status st = graphss_surrogate_read(ctx, &w, g->surrogate, 2, 3);
    graphss_release(ctx, w);
    return st;
}

static graphss_status dataset_locate(graphss_ctx *ctx, void *arg)
{
    const given *g = arg;
    const char *const folder[] = {g->folder, NULL};
    char *path = NULL;
    const graphss_status st = graphss_dataset_locate(ctx, &path, "surrogate", folder);
    graphss_release(ctx, path);
    return st == GRAPHSS_ERR_NOT_FOUND ? GRAPHSS_OK : st;
}

static graphss_status apply_parts(graphss_ctx *ctx, void *arg)
{
    const given *g = arg;
    const graphss_flip flip = {.kind = GRAPHSS_FLIP_FEATURE, .new_value = 1};
    graphss_flips flips = {0};
    graphss_graph graph = {0};
    graphss_features features = {0};
    graphss_status st = graphss_flips_add(ctx, &flips, flip);
    flips.count = 0; /* none fits any data */
    if (!st)
        st = graphss_flips_apply_parts(
            ctx, &graph, &features, &g->data.graph, &g->data.features, &flips, NULL);
    graphss_flips_destroy(ctx, &flips);
    graphss_graph_destroy(ctx, &graph);
    graphss_features_destroy(ctx, &features);
    return st;
}

TEST(each_allocation_fails_in_turn)
{
    given g;
    set_up(&g);
    assert_ok(g.ctx, graphss_model_save(g.ctx, g.model, g.file));
    write_probe(&g);
    static const testing_operation operation[] = {
        data_dirs,
        dataset_changes,
        features_normalise,
        fetch,
        flips_add,
        match_split,
        model_describe,
        model_label,
        node_index,
        protocol_believed,
        protocol_surrogate,
        snapshots_write,
        alert_look,
        surrogate_from_model,
        alert_run,
        surrogate_read,
        set_predictor,
        from_tensors,
        probe_file,
        dataset_locate,
        apply_parts,
    };
    for (size_t i = 0; i < sizeof operation / sizeof *operation; i++)
        /* Few rounds for calls that write files, since each waits for the disk. */
        testing_allocations_fail(operation[i], &g, operation[i] == snapshots_write ? 16 : 100);
    tear_down(&g);
}

/* ---- calls that take none ---- */

static graphss_status checks(graphss_ctx *ctx, void *arg)
{
    given *g = arg;
    graphss_status st = graphss_graph_check(ctx, &g->data.graph);
    if (!st)
        st = graphss_features_check(ctx, &g->data.features);
    return st;
}

static graphss_status options(graphss_ctx *ctx, void *arg)
{
    (void)arg;
    graphss_synth_options opt;
    const graphss_option *table = graphss_synth_options_table();
    graphss_status st = graphss_synth_options_parse(ctx, &opt, "nodes=70,degree=3");
    if (!st)
        st = graphss_option_set(ctx, &opt, graphss_option_find(table, "classes"), "4");
    if (!st)
        st = graphss_options_check(ctx, &opt, table);
    return st;
}

static graphss_status transitions(graphss_ctx *ctx, void *arg)
{
    given *g = arg;
    enum { K = 2 };
    double alpha[K * K], phi[K * K];
    const graphss_status st = graphss_prior_cells(ctx, alpha, &(graphss_prior){.alpha = 1}, K);
    return st ? st
              : graphss_transition_warmup(ctx, phi, g->prob, g->split.train,
                    g->split.train_label, g->split.n_train, g->data.graph.n_nodes, K);
}

TEST(checks_take_no_memory)
{
    given g;
    set_up(&g);
    testing_takes_no_memory(checks, &g);
    testing_takes_no_memory(options, &g);
    testing_takes_no_memory(transitions, &g);
    tear_down(&g);
}

int main(void)
{
    return testing_run();
}
