/* Snapshots: what each setting removes from the past, groups, files. */
#include "testing.h"
#include <sys/stat.h>

enum { NODES = 400 };

typedef struct fixture {
    graphss_dataset data;
    graphss_split split;
} fixture;

static void fixture_make(graphss_ctx *ctx, fixture *f)
{
    memset(f, 0, sizeof *f);
    assert_ok(ctx, graphss_dataset_read(
                       ctx, &f->data, "synth:nodes=400,classes=3,features=60,degree=6", NULL));
    assert_ok(ctx,
        graphss_split_make(ctx, &f->split, f->data.label, NODES, f->data.n_classes, 1, NULL));
}

static void fixture_destroy(graphss_ctx *ctx, fixture *f)
{
    graphss_split_destroy(ctx, &f->split);
    graphss_dataset_destroy(ctx, &f->data);
}

static bool holds(const int32_t *list, size_t n, int32_t x)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == x)
            return true;
    return false;
}

/* Churn of the victims, as an attack would be put in. */
static void change(graphss_ctx *ctx, graphss_snapshots *s)
{
    graphss_flips flips = {0};
    assert_ok(
        ctx, graphss_benign_churn(ctx, &flips, &s->current, s->victim, s->n_victims, 1, NULL));
    assert_ok(ctx, graphss_snapshots_change(ctx, s, &flips));
    graphss_flips_destroy(ctx, &flips);
}

TEST_CTX(seen_keeps_the_clean_graph_as_the_past)
{
    fixture f;
    graphss_snapshots s = {0};
    graphss_dataset back = {0};
    fixture_make(ctx, &f);
    assert_ok(ctx, graphss_snapshots_plan(ctx, &s, &f.data, &f.split, 1, NULL));
    assert_string_equal(s.previous.hash, f.data.hash);
    assert_string_equal(s.current.hash, f.data.hash);
    assert_int_equal(s.n_victims, (f.split.n_test + 2) / 5);
    for (size_t i = 0; i < s.n_victims; i++)
        assert_true(holds(f.split.test, f.split.n_test, s.victim[i]));
    change(ctx, &s);
    assert_string_not_equal(s.current.hash, f.data.hash);
    assert_string_equal(s.flips.hash, f.data.hash);
    const graphss_apply_options undo = {.struct_size = sizeof undo, .undo = true};
    assert_ok(ctx, graphss_flips_apply(ctx, &back, &s.current, &s.flips, &undo));
    assert_string_equal(back.hash, f.data.hash);
    assert_string_equal(graphss_names_get(&s.current.node_names, 17), "17");
    graphss_dataset_destroy(ctx, &back);
    graphss_snapshots_destroy(ctx, &s);
    fixture_destroy(ctx, &f);
}

TEST_CTX(new_takes_the_victims_out_of_the_past)
{
    fixture f;
    graphss_snapshots s = {0};
    graphss_snapshot_options opt;
    graphss_snapshot_options_init(&opt);
    opt.setting = GRAPHSS_SETTING_NEW;
    fixture_make(ctx, &f);
    assert_ok(ctx, graphss_snapshots_plan(ctx, &s, &f.data, &f.split, 1, &opt));
    const graphss_dataset *past = &s.previous;
    assert_int_equal(past->graph.n_nodes, NODES - s.n_victims);
    assert_int_equal(s.previous_split.n_test, f.split.n_test - s.n_victims);
    assert_int_equal(s.previous_split.n_train, f.split.n_train);
    for (size_t i = 0; i < s.n_victims; i++)
        assert_int_equal(graphss_dataset_find(past,
                             graphss_names_get(&s.current.node_names, (size_t)s.victim[i])),
            -1);
    /* every other node is there, with its label, its features and its edges to the others */
    for (int32_t i = 0; i < NODES; i++) {
        if (holds(s.victim, s.n_victims, i))
            continue;
        const int64_t j =
            graphss_dataset_find(past, graphss_names_get(&s.current.node_names, (size_t)i));
        assert_true(j >= 0);
        assert_int_equal(past->label[j], f.data.label[i]);
        size_t edges = 0;
        for (int64_t e = f.data.graph.offset[i]; e < f.data.graph.offset[i + 1]; e++)
            edges += !holds(s.victim, s.n_victims, f.data.graph.target[e]);
        assert_int_equal(graphss_graph_degree(&past->graph, (size_t)j), edges);
        const graphss_features *a = &past->features, *b = &f.data.features;
        assert_int_equal(a->offset[j + 1] - a->offset[j], b->offset[i + 1] - b->offset[i]);
        assert_memory_equal(a->column + a->offset[j], b->column + b->offset[i],
            (size_t)(b->offset[i + 1] - b->offset[i]) * sizeof *a->column);
    }
    for (size_t i = 0; i < s.previous_split.n_train; i++)
        assert_string_equal(
            graphss_names_get(&past->node_names, (size_t)s.previous_split.train[i]),
            graphss_names_get(&s.current.node_names, (size_t)f.split.train[i]));
    graphss_snapshots_destroy(ctx, &s);
    fixture_destroy(ctx, &f);
}

TEST_CTX(growing_takes_a_share_of_the_edges_out_of_the_past)
{
    fixture f;
    graphss_snapshots s = {0}, other = {0};
    graphss_snapshot_options opt;
    graphss_snapshot_options_init(&opt);
    opt.setting = GRAPHSS_SETTING_GROWING;
    opt.missing = 0.25;
    fixture_make(ctx, &f);
    assert_ok(ctx, graphss_snapshots_plan(ctx, &s, &f.data, &f.split, 1, &opt));
    const size_t edges = graphss_graph_edges(&f.data.graph);
    assert_int_equal(
        graphss_graph_edges(&s.previous.graph), edges - (size_t)(0.25 * (double)edges + 0.5));
    for (int32_t i = 0; i < NODES; i++)
        for (int64_t e = s.previous.graph.offset[i]; e < s.previous.graph.offset[i + 1]; e++)
            assert_true(graphss_graph_has_edge(&f.data.graph, i, s.previous.graph.target[e]));
    assert_ok(ctx, graphss_snapshots_plan(ctx, &other, &f.data, &f.split, 2, &opt));
    assert_string_not_equal(s.previous.hash, other.previous.hash);
    graphss_snapshots_destroy(ctx, &other);
    graphss_snapshots_destroy(ctx, &s);
    fixture_destroy(ctx, &f);
}

TEST_CTX(groups_deal_the_test_nodes_and_hold_their_victims)
{
    fixture f;
    graphss_snapshots s = {0};
    graphss_snapshot_options opt;
    graphss_snapshot_options_init(&opt);
    opt.groups = 10;
    opt.attacked_groups = 3;
    opt.victims = 0.5;
    opt.background = true;
    fixture_make(ctx, &f);
    assert_ok(ctx, graphss_snapshots_plan(ctx, &s, &f.data, &f.split, 1, &opt));
    size_t attacked = 0, hit = 0, churned = 0;
    assert_int_equal(s.group_start[10], f.split.n_test);
    for (size_t g = 0; g < 10; g++) {
        const int32_t *node = s.group_node + s.group_start[g];
        const size_t n = (size_t)(s.group_start[g + 1] - s.group_start[g]);
        assert_int_equal(n, f.split.n_test / 10);
        attacked += s.attacked[g];
        size_t victims = 0, moved = 0;
        for (size_t i = 0; i < n; i++) {
            assert_true(holds(f.split.test, f.split.n_test, node[i]));
            victims += holds(s.victim, s.n_victims, node[i]);
            moved += holds(s.churned, s.n_churned, node[i]);
        }
        assert_int_equal(victims, s.attacked[g] ? n / 2 : 0);
        assert_int_equal(moved, s.attacked[g] ? 0 : n / 2);
        hit += victims;
        churned += moved;
    }
    assert_int_equal(attacked, 3);
    assert_int_equal(hit, s.n_victims);
    assert_int_equal(churned, s.n_churned);
    graphss_snapshots_destroy(ctx, &s);
    fixture_destroy(ctx, &f);
}

static void remove_folder(const char *dir)
{
    static const char *const name[] = {"previous.npz", "current.npz", "split.npz", "flips.tsv",
        "previous_split.npz", "groups.npz", "group1.txt", "group2.txt"};
    char path[512];
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, name[i]);
        unlink(path);
    }
    rmdir(dir);
}

TEST_CTX(files_read_back_and_a_used_folder_is_refused)
{
    fixture f;
    graphss_snapshots s = {0};
    graphss_dataset previous = {0}, current = {0}, clean = {0};
    graphss_split split = {0};
    graphss_flips flips = {0};
    graphss_snapshot_options opt;
    graphss_snapshot_options_init(&opt);
    opt.setting = GRAPHSS_SETTING_NEW;
    opt.groups = 2;
    char dir[256], path[512];
    testing_temporary(dir, sizeof dir, "snapshots");
    fixture_make(ctx, &f);
    assert_ok(ctx, graphss_snapshots_plan(ctx, &s, &f.data, &f.split, 1, &opt));
    change(ctx, &s);
    assert_ok(ctx, graphss_snapshots_write(ctx, &s, dir, false));
    assert_fails(
        ctx, graphss_snapshots_write(ctx, &s, dir, false), GRAPHSS_ERR_INVALID, "--force");
    assert_ok(ctx, graphss_snapshots_write(ctx, &s, dir, true));
    snprintf(path, sizeof path, "%s/previous.npz", dir);
    assert_ok(ctx, graphss_dataset_read(ctx, &previous, path, NULL));
    assert_string_equal(previous.hash, s.previous.hash);
    snprintf(path, sizeof path, "%s/current.npz", dir);
    assert_ok(ctx, graphss_dataset_read(ctx, &current, path, NULL));
    assert_string_equal(current.hash, s.current.hash);
    snprintf(path, sizeof path, "%s/split.npz", dir);
    assert_ok(
        ctx, graphss_split_read(ctx, &split, path, current.label, NODES, current.n_classes));
    assert_int_equal(split.n_test, f.split.n_test);
    snprintf(path, sizeof path, "%s/flips.tsv", dir);
    assert_ok(ctx, graphss_flips_read(ctx, &flips, path, &current));
    const graphss_apply_options undo = {.struct_size = sizeof undo, .undo = true};
    assert_ok(ctx, graphss_flips_apply(ctx, &clean, &current, &flips, &undo));
    assert_string_equal(clean.hash, f.data.hash);
    snprintf(path, sizeof path, "%s/group2.txt", dir);
    int32_t *node = NULL;
    size_t n = 0;
    assert_ok(ctx, graphss_node_list_read(ctx, &node, &n, path, &current));
    assert_int_equal(n, s.group_start[2] - s.group_start[1]);
    assert_memory_equal(node, s.group_node + s.group_start[1], n * sizeof *node);
    graphss_release(ctx, node);
    remove_folder(dir);
    graphss_flips_destroy(ctx, &flips);
    graphss_split_destroy(ctx, &split);
    graphss_dataset_destroy(ctx, &clean);
    graphss_dataset_destroy(ctx, &current);
    graphss_dataset_destroy(ctx, &previous);
    graphss_snapshots_destroy(ctx, &s);
    fixture_destroy(ctx, &f);
}

TEST_CTX(wrong_options_and_changes_are_refused)
{
    fixture f;
    graphss_snapshots s = {0};
    fixture_make(ctx, &f);
    graphss_snapshot_options opt;
    graphss_snapshot_options_init(&opt);
    opt.attacked_groups = 2;
    assert_fails(ctx, graphss_snapshots_plan(ctx, &s, &f.data, &f.split, 1, &opt),
        GRAPHSS_ERR_INVALID, "--attacked-groups 2");
    graphss_snapshot_options_init(&opt);
    opt.groups = 1000;
    assert_fails(ctx, graphss_snapshots_plan(ctx, &s, &f.data, &f.split, 1, &opt),
        GRAPHSS_ERR_DATA, "1000 groups");
    graphss_snapshot_options_init(&opt);
    opt.victims = 0;
    assert_fails(ctx, graphss_snapshots_plan(ctx, &s, &f.data, &f.split, 1, &opt),
        GRAPHSS_ERR_INVALID, "--victims");
    graphss_snapshot_options_init(&opt);
    opt.missing = 1;
    assert_fails(ctx, graphss_snapshots_plan(ctx, &s, &f.data, &f.split, 1, &opt),
        GRAPHSS_ERR_INVALID, "--missing");
    assert_ok(ctx, graphss_snapshots_plan(ctx, &s, &f.data, &f.split, 1, NULL));
    graphss_flips wrong = {0};
    assert_ok(ctx, graphss_flips_add(ctx, &wrong,
                       (graphss_flip){.victim = 0,
                           .kind = GRAPHSS_FLIP_EDGE,
                           .node = 0,
                           .target = NODES,
                           .new_value = 1}));
    assert_fails(ctx, graphss_snapshots_change(ctx, &s, &wrong), GRAPHSS_ERR_DATA, "400");
    assert_int_equal(s.flips.count, 0);
    assert_string_equal(s.current.hash, f.data.hash);
    graphss_flips_destroy(ctx, &wrong);
    graphss_snapshots_destroy(ctx, &s);
    fixture_destroy(ctx, &f);
}

static graphss_status plan_once(graphss_ctx *ctx, void *arg)
{
    const fixture *f = arg;
    graphss_snapshots s = {0};
    graphss_flips flips = {0};
    graphss_snapshot_options opt;
    graphss_snapshot_options_init(&opt);
    opt.setting = GRAPHSS_SETTING_NEW;
    graphss_status st = graphss_snapshots_plan(ctx, &s, &f->data, &f->split, 1, &opt);
    if (!st)
        st = graphss_benign_churn(ctx, &flips, &s.current, s.victim, 2, 1, NULL);
    if (!st)
        st = graphss_snapshots_change(ctx, &s, &flips);
    graphss_flips_destroy(ctx, &flips);
    graphss_snapshots_destroy(ctx, &s);
    return st;
}

TEST_CTX(each_allocation_may_fail)
{
    fixture f;
    fixture_make(ctx, &f);
    testing_each_allocation_fails(plan_once, &f);
    fixture_destroy(ctx, &f);
}

TEST(settings_have_names)
{
    assert_string_equal(graphss_setting_text(GRAPHSS_SETTING_SEEN), "seen");
    assert_string_equal(graphss_setting_text(GRAPHSS_SETTING_NEW), "new");
    assert_string_equal(graphss_setting_text(GRAPHSS_SETTING_GROWING), "growing");
    assert_string_equal(graphss_setting_text((graphss_setting)3), "?");
}

TEST_CTX(unsound_data_and_splits_are_refused)
{
    fixture f;
    graphss_snapshots s = {0};
    const graphss_flips none = {0};
    const graphss_dataset empty = {0};
    fixture_make(ctx, &f);
    assert_fails(ctx, graphss_snapshots_change(ctx, &s, &none), GRAPHSS_ERR_DATA, "no nodes");
    assert_fails(ctx, graphss_snapshots_plan(ctx, &s, &empty, &f.split, 1, NULL),
        GRAPHSS_ERR_DATA, "no nodes");
    graphss_split wrong = f.split;
    wrong.test = NULL;
    assert_fails(ctx, graphss_snapshots_plan(ctx, &s, &f.data, &wrong, 1, NULL),
        GRAPHSS_ERR_INVALID, "but not the lists");
    f.split.train[3] = NODES;
    assert_fails(ctx, graphss_snapshots_plan(ctx, &s, &f.data, &f.split, 1, NULL),
        GRAPHSS_ERR_SHAPE, "training node 3 is 400, want 0..399");
    f.split.train[3] = -1;
    assert_fails(ctx, graphss_snapshots_plan(ctx, &s, &f.data, &f.split, 1, NULL),
        GRAPHSS_ERR_SHAPE, "training node 3 is -1");
    assert_null(s.current.graph.offset);
    fixture_destroy(ctx, &f);
}

int main(void)
{
    return testing_run();
}
