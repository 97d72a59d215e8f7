/* Replays runs of the original Nettack and of the paper's public code. We may not distribute
 * the files: GRAPHSS_REFERENCE names their folder. */
#include "data/build.h"
#include "data/formats/npz.h"
#include "testing.h"
#include <graphss/attack.h>
#include <jansson.h>

static int32_t *read_ints(graphss_ctx *ctx, size_t *n, graphss_i_npz *npz, const char *name)
{
    int32_t *out = NULL;
    assert_ok(ctx, graphss_i_npz_int32(ctx, &out, n, npz, name, SIZE_MAX));
    return out;
}

static float *read_floats(graphss_ctx *ctx, graphss_i_npz *npz, const char *name)
{
    float *out = NULL;
    size_t n;
    assert_ok(ctx, graphss_i_npz_float(ctx, &out, &n, npz, name, SIZE_MAX));
    return out;
}

static int64_t *read_offsets(graphss_ctx *ctx, graphss_i_npz *npz, const char *name)
{
    int64_t *out = NULL;
    size_t n;
    assert_ok(ctx, graphss_i_npz_int64(ctx, &out, &n, npz, name, SIZE_MAX));
    return out;
}

static void read_graph(
    graphss_ctx *ctx, graphss_graph *out, graphss_i_npz *npz, const char *prefix)
{
    char name[64];
    size_t nnz, n;
    snprintf(name, sizeof name, "%s_shape", prefix);
    int32_t *shape = read_ints(ctx, &n, npz, name);
    snprintf(name, sizeof name, "%s_indptr", prefix);
    int64_t *offset = read_offsets(ctx, npz, name);
    snprintf(name, sizeof name, "%s_indices", prefix);
    int32_t *column = read_ints(ctx, &nnz, npz, name);
    assert_ok(ctx, graphss_i_graph_from_rows(
                       ctx, out, (size_t)shape[0], offset, column, NULL, nnz, prefix, NULL));
    graphss_release(ctx, shape);
    graphss_release(ctx, offset);
    graphss_release(ctx, column);
}

static void read_features(
    graphss_ctx *ctx, graphss_features *out, graphss_i_npz *npz, const char *prefix)
{
    char name[64];
    size_t nnz, n;
    snprintf(name, sizeof name, "%s_shape", prefix);
    int32_t *shape = read_ints(ctx, &n, npz, name);
    snprintf(name, sizeof name, "%s_indptr", prefix);
    int64_t *offset = read_offsets(ctx, npz, name);
    snprintf(name, sizeof name, "%s_data", prefix);
    float *value = read_floats(ctx, npz, name);
    snprintf(name, sizeof name, "%s_indices", prefix);
    int32_t *column = read_ints(ctx, &nnz, npz, name);
    assert_ok(ctx, graphss_i_features_from_rows(ctx, out, (size_t)shape[0], (size_t)shape[1],
                       offset, column, value, nnz, prefix));
    graphss_release(ctx, shape);
}

static int64_t whole(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    assert_true(json_is_integer(value));
    return (int64_t)json_integer_value(value);
}

/* One attack against its record: the same choices in the same order, the same candidates,
 * losses to 1e-9. */
static void compare(graphss_ctx *ctx, const graphss_attack_input *in,
    const graphss_attack_options *opt, const json_t *record, size_t *compared)
{
    graphss_flips flips = {0};
    graphss_attack_log log = {0};
    assert_ok(ctx, graphss_attack_run(ctx, &flips, &log, in, opt));
    const json_t *steps = json_object_get(record, "steps");
    const json_t *losses = json_object_get(record, "losses");
    assert_int_equal(flips.count, json_array_size(steps));
    assert_true(
        fabs(log.victim[0].loss_before - json_real_value(json_array_get(losses, 0))) < 1e-9);
    for (size_t i = 0; i < flips.count; i++) {
        const json_t *step = json_array_get(steps, i);
        const graphss_flip *f = &flips.item[i];
        const bool edge = !strcmp(json_string_value(json_object_get(step, "type")), "edge");
        const json_t *pair = json_object_get(step, edge ? "edge" : "feature");
        const bool add = !strcmp(json_string_value(json_object_get(step, "op")), "add");
        const bool tie = json_is_true(json_object_get(step, "tie"));
        if (!tie) {
            assert_int_equal(f->kind, edge ? GRAPHSS_FLIP_EDGE : GRAPHSS_FLIP_FEATURE);
            assert_int_equal(f->node, json_integer_value(json_array_get(pair, 0)));
            assert_int_equal(f->target, json_integer_value(json_array_get(pair, 1)));
            assert_true(f->new_value == (add ? 1 : 0));
        }
        assert_true(
            fabs(log.step[i].loss - json_real_value(json_object_get(step, "loss"))) < 1e-9);
        if (json_object_get(step, "n_candidate_edges"))
            assert_int_equal(log.step[i].n_edges, whole(step, "n_candidate_edges"));
        if (json_object_get(step, "n_candidate_features"))
            assert_int_equal(log.step[i].n_features, whole(step, "n_candidate_features"));
        (*compared)++;
        if (tie && (f->target != json_integer_value(json_array_get(pair, 1))))
            break; /* after a tie, another choice leads elsewhere */
    }
    graphss_flips_destroy(ctx, &flips);
    graphss_attack_log_destroy(ctx, &log);
}

TEST_CTX(every_victim_is_attacked_as_by_the_original)
{
    char path[512];
    testing_reference(path, sizeof path, "nettack_cora.npz");
    graphss_i_npz *npz = NULL;
    assert_ok(ctx, graphss_i_npz_open(ctx, &npz, path, 0));
    graphss_graph graph = {0};
    graphss_features features = {0};
    size_t n;
    read_graph(ctx, &graph, npz, "adj");
    read_features(ctx, &features, npz, "attr");
    int32_t *label = read_ints(ctx, &n, npz, "labels");
    float *w = read_floats(ctx, npz, "W");
    graphss_i_npz_close(ctx, npz);
    testing_reference(path, sizeof path, "nettack_cora.json");
    json_t *root = json_load_file(path, 0, NULL);
    assert_non_null(root);
    const json_t *victims = json_object_get(root, "victims");
    static const struct {
        const char *group, *name;
        int kind;
        double cutoff;
    } attack[] = {{"attacks_f64", "structure", GRAPHSS_ATTACK_EDGES, 0.004},
        {"attacks_f64", "features", GRAPHSS_ATTACK_FEATURES, 0.004},
        {"attacks_f64", "both", GRAPHSS_ATTACK_BOTH, 0.004},
        {"structure_strict_cutoff_f64", NULL, GRAPHSS_ATTACK_EDGES, 1e-4}};
    size_t attacks = 0, steps = 0;
    for (size_t v = 0; v < json_array_size(victims); v++) {
        const json_t *about = json_array_get(victims, v);
        const int32_t u = (int32_t)whole(about, "node");
        const graphss_attack_input in = {.struct_size = sizeof in,
            .graph = &graph,
            .features = &features,
            .label = label,
            .n_classes = 7,
            .surrogate = w,
            .victim = &u,
            .n_victims = 1};
        for (size_t a = 0; a < sizeof attack / sizeof *attack; a++) {
            const json_t *record = json_object_get(about, attack[a].group);
            if (attack[a].name)
                record = json_object_get(record, attack[a].name);
            if (!record)
                continue;
            graphss_attack_options opt;
            graphss_attack_options_init(&opt);
            opt.kind = attack[a].kind;
            opt.delta_cutoff = attack[a].cutoff;
            opt.budget = whole(record, "n_perturbations");
            for (int independent = 0; independent < 2; independent++) {
                opt.independent = independent;
                compare(ctx, &in, &opt, record, &steps);
            }
            attacks++;
        }
    }
    print_message("%zu attacks of the original, %zu steps\n", attacks, steps);
    assert_true(attacks > 36);
    json_decref(root);
    graphss_release(ctx, w);
    graphss_release(ctx, label);
    graphss_features_destroy(ctx, &features);
    graphss_graph_destroy(ctx, &graph);
}

/* float *w [d x k] = a [d x h] b [h x k], the first and last layer of the stored model. */
static float *multiply(graphss_ctx *ctx, graphss_i_npz *npz, size_t d, size_t h, size_t k)
{
    float *a = read_floats(ctx, npz, "W_in_last"), *b = read_floats(ctx, npz, "W_out_last");
    float *w = calloc(d * k, sizeof *w);
    for (size_t i = 0; i < d; i++)
        for (size_t c = 0; c < k; c++) {
            double sum = 0;
            for (size_t j = 0; j < h; j++)
                sum += (double)a[i * h + j] * (double)b[j * k + c];
            w[i * k + c] = (float)sum;
        }
    graphss_release(ctx, a);
    graphss_release(ctx, b);
    return w;
}

TEST_CTX(paper_mode_repeats_the_papers_code)
{
    char path[512];
    testing_reference(path, sizeof path, "graphss_cora_gcn.npz");
    graphss_i_npz *npz = NULL;
    assert_ok(ctx, graphss_i_npz_open(ctx, &npz, path, 0));
    graphss_graph graph = {0}, want_graph = {0}, got_graph = {0};
    graphss_features features = {0}, want = {0}, got = {0};
    size_t n, n_victims, n_edits;
    read_graph(ctx, &graph, npz, "adj");
    read_graph(ctx, &want_graph, npz, "adj_atk");
    read_features(ctx, &features, npz, "feat");
    read_features(ctx, &want, npz, "feat_atk");
    int32_t *label = read_ints(ctx, &n, npz, "noisy");
    int32_t *victim = read_ints(ctx, &n_victims, npz, "victims");
    int32_t *edit = read_ints(ctx, &n_edits, npz, "edits");
    float *w = multiply(ctx, npz, 1433, 200, 7);
    graphss_i_npz_close(ctx, npz);

    graphss_flips flips = {0};
    graphss_attack_options opt;
    graphss_attack_options_init(&opt);
    opt.mode = GRAPHSS_MODE_PAPER;
    const graphss_attack_input in = {.struct_size = sizeof in,
        .graph = &graph,
        .features = &features,
        .label = label,
        .n_classes = 7,
        .surrogate = w,
        .victim = victim,
        .n_victims = n_victims};
    assert_ok(ctx, graphss_attack_run(ctx, &flips, NULL, &in, &opt));
    assert_int_equal(graphss_flips_count(&flips, GRAPHSS_FLIP_EDGE) * 3, n_edits);
    assert_int_equal(graphss_flips_count(&flips, GRAPHSS_FLIP_FEATURE), 20 * n_victims);
    const int32_t *e = edit;
    for (size_t i = 0; i < flips.count; i++) {
        const graphss_flip *f = &flips.item[i];
        if (f->kind != GRAPHSS_FLIP_EDGE)
            continue;
        assert_int_equal(f->node, e[0]);
        assert_int_equal(f->target, e[1]);
        assert_int_equal((int)(f->new_value - f->old_value), e[2]);
        e += 3;
    }
    assert_ok(ctx,
        graphss_flips_apply_parts(ctx, &got_graph, &got, &graph, &features, &flips, NULL));
    assert_memory_equal(
        got_graph.offset, want_graph.offset, (graph.n_nodes + 1) * sizeof *graph.offset);
    assert_memory_equal(got_graph.target, want_graph.target,
        (size_t)want_graph.offset[graph.n_nodes] * sizeof *graph.target);
    const size_t stored = graphss_features_stored(&want);
    assert_int_equal(graphss_features_stored(&got), stored);
    assert_memory_equal(got.offset, want.offset, (want.n_rows + 1) * sizeof *want.offset);
    assert_memory_equal(got.column, want.column, stored * sizeof *want.column);
    assert_memory_equal(got.value, want.value, stored * sizeof *want.value);

    free(w);
    graphss_flips_destroy(ctx, &flips);
    graphss_release(ctx, edit);
    graphss_release(ctx, victim);
    graphss_release(ctx, label);
    graphss_features_destroy(ctx, &got);
    graphss_features_destroy(ctx, &want);
    graphss_features_destroy(ctx, &features);
    graphss_graph_destroy(ctx, &got_graph);
    graphss_graph_destroy(ctx, &want_graph);
    graphss_graph_destroy(ctx, &graph);
}

int main(void)
{
    return testing_run();
}
