/* Data in the terms of a model. */
#include "models/model_private.h"
#include "models/test/testing_world.h"

enum { WORDS = 3, CLASSES = 3, NODES = 4 };

/* Names out of one letter each. */
typedef struct letters {
    size_t start[8];
    char text[16];
    graphss_names names;
} letters;

static graphss_names *spell(letters *l, const char *text)
{
    const size_t n = strlen(text);
    for (size_t i = 0; i <= n; i++) {
        l->start[i] = 2 * i;
        if (i < n) {
            l->text[2 * i] = text[i];
            l->text[2 * i + 1] = 0;
        }
    }
    l->names = (graphss_names){n, l->start, l->text};
    return &l->names;
}

/* A model that knows words abc and classes xyz. */
static graphss_model model_of(letters *words, letters *classes)
{
    return (graphss_model){.n_features = WORDS,
        .n_classes = CLASSES,
        .column_names = *spell(words, "abc"),
        .class_names = *spell(classes, "xyz"),
        .dataset_name = "world"};
}

/* Four nodes without edges; node i has the words of rows[i] and the class of labels[i]. */
static void data_make(graphss_ctx *ctx, graphss_dataset *data, const char *words,
    const char *const *rows, const char *classes, const char *labels)
{
    letters w, c;
    const size_t d = strlen(words);
    int64_t *offset = graphss_i_calloc(ctx, NODES + 1, sizeof *offset);
    int32_t *column = graphss_i_alloc(ctx, NODES * d, sizeof *column);
    float *value = graphss_i_alloc(ctx, NODES * d, sizeof *value);
    size_t n = 0;
    *data = (graphss_dataset){.n_classes = strlen(classes), .name = "other"};
    assert_ok(ctx, graphss_graph_build(ctx, &data->graph, NULL, NODES, NULL, NULL, 0));
    data->label = graphss_i_alloc(ctx, NODES, sizeof *data->label);
    for (size_t i = 0; i < NODES; i++) {
        for (const char *x = rows[i]; *x; x++) {
            column[n] = (int32_t)(strchr(words, *x) - words);
            value[n++] = (float)*x; /* says which word it is */
        }
        offset[i + 1] = (int64_t)n;
        data->label[i] =
            labels[i] == '-' ? -1 : (int32_t)(strchr(classes, labels[i]) - classes);
    }
    assert_ok(ctx, graphss_i_features_from_rows(
                       ctx, &data->features, NODES, d, offset, column, value, n, "words"));
    assert_ok(ctx, graphss_i_names_copy(ctx, &data->column_names, spell(&w, words)));
    assert_ok(ctx, graphss_i_names_copy(ctx, &data->class_names, spell(&c, classes)));
}

static float entry(const graphss_features *x, size_t row, size_t column)
{
    if (graphss_features_dense(x))
        return x->value[row * x->n_cols + column];
    for (int64_t e = x->offset[row]; e < x->offset[row + 1]; e++)
        if ((size_t)x->column[e] == column)
            return x->value[e];
    return 0;
}

static const char *const few[NODES] = {"a", "cb", "", "b"}, *const many[NODES] = {
                                                                "abc", "cb", "ab", "bc"};

/* Sparse and dense rows, words in another order, one unknown, one missing. */
TEST_CTX(words_and_classes_go_by_name)
{
    letters l[2];
    const graphss_model model = model_of(&l[0], &l[1]);
    static const char *const order[] = {"cab", "dcb", "abc", "cbadef"};
    static const char *const strange[NODES] = {"dcb", "c", "b", "d"};
    static const char *const known[NODES] = {"cb", "c", "b", ""};
    for (size_t turn = 0; turn < 6; turn++) {
        const bool lacking = turn % 4 == 1;
        const char *const *rows = lacking ? strange : turn < 4 ? few : many;
        const char *const *there = lacking ? known : rows;
        graphss_dataset data;
        graphss_alignment what;
        data_make(ctx, &data, order[turn % 4], rows, turn % 2 ? "zx" : "xyz",
            turn % 2 ? "zx-z" : "yxz-");
        assert_ok(ctx, graphss_dataset_align(ctx, &what, &data, &model));
        assert_int_equal(data.features.n_cols, WORDS);
        for (size_t i = 0; i < NODES; i++)
            for (size_t j = 0; j < WORDS; j++)
                assert_true(entry(&data.features, i, j) ==
                            (strchr(there[i], "abc"[j]) ? (float)"abc"[j] : 0));
        static const int32_t as_named[2][NODES] = {{1, 0, 2, -1}, {2, 0, -1, 2}};
        assert_memory_equal(data.label, as_named[turn % 2], sizeof as_named[0]);
        assert_int_equal(data.n_classes, CLASSES);
        assert_true(what.columns == (turn % 4 != 2) && what.classes == (turn % 2 == 1));
        assert_int_equal(what.unknown, turn % 4 == 1 ? 1 : turn % 4 == 3 ? 3 : 0);
        assert_int_equal(what.missing, lacking);
        assert_string_equal(graphss_names_get(&data.column_names, 0), "a");
        assert_ok(ctx, graphss_model_fits(ctx, &model, &data));
        graphss_dataset_destroy(ctx, &data);
    }
}

TEST_CTX(a_standardised_feature_that_is_not_there_is_its_mean)
{
    letters l[2];
    graphss_model model = model_of(&l[0], &l[1]);
    float mean[2 * WORDS] = {5, 6, 7};
    model.scaling.mean = mean;
    model.scaling.gain = mean + WORDS;
    static const char *const rows[NODES] = {"cb", "c", "b", ""};
    graphss_dataset data;
    data_make(ctx, &data, "cb", rows, "xyz", "xyzx");
    assert_ok(ctx, graphss_dataset_align(ctx, NULL, &data, &model));
    for (size_t i = 0; i < NODES; i++) {
        assert_true(entry(&data.features, i, 0) == 5);
        assert_true(entry(&data.features, i, 1) == (strchr(rows[i], 'b') ? 'b' : 0));
    }
    graphss_dataset_destroy(ctx, &data);
}

TEST_CTX(what_cannot_be_matched_is_refused)
{
    letters l[2];
    const graphss_model model = model_of(&l[0], &l[1]);
    static const char *const none[NODES] = {"q", "", "", ""};
    graphss_dataset data;
    data_make(ctx, &data, "qr", none, "xyz", "xyzx");
    assert_fails(ctx, graphss_dataset_align(ctx, NULL, &data, &model), GRAPHSS_ERR_SHAPE,
        "other has no feature that the model knows");
    graphss_names_destroy(ctx, &data.column_names);
    assert_fails(ctx, graphss_dataset_align(ctx, NULL, &data, &model), GRAPHSS_ERR_SHAPE,
        "other has 2 features, the model was trained on 3 (world)");
    graphss_dataset_destroy(ctx, &data);
    data_make(ctx, &data, "cab", few, "wx", "wx-w");
    assert_fails(ctx, graphss_model_fits(ctx, &model, &data), GRAPHSS_ERR_SHAPE,
        "feature 0 is 'c' in other and 'a' to the model");
    graphss_dataset_destroy(ctx, &data);
}

/* A duplicate name: accepted if all names stand as in the model, else refused. */
TEST_CTX(features_of_one_name_are_not_added_up)
{
    letters l[2];
    graphss_model model = model_of(&l[0], &l[1]);
    static const char *const rows[NODES] = {"ab", "b", "a", "ba"};
    graphss_dataset data;
    graphss_alignment what;
    model.column_names = *spell(&l[0], "aac");
    data_make(ctx, &data, "abc", rows, "xyz", "xyzx");
    data.column_names.text[2] = 'a';
    assert_ok(ctx, graphss_dataset_align(ctx, &what, &data, &model));
    assert_false(what.columns);
    assert_true(entry(&data.features, 0, 0) == 'a' && entry(&data.features, 0, 1) == 'b');
    graphss_dataset_destroy(ctx, &data);
    data_make(ctx, &data, "cab", rows, "xyz", "xyzx");
    data.column_names.text[4] = 'a';
    assert_fails(ctx, graphss_dataset_align(ctx, &what, &data, &model), GRAPHSS_ERR_SHAPE,
        "two are called 'a'");
    graphss_dataset_destroy(ctx, &data);
}

/* Classes 1 and 2 of a file that lacks 0, and a model whose classes have no names. */
TEST_CTX(classes_without_names_are_numbers)
{
    letters l[2];
    graphss_model model = model_of(&l[0], &l[1]);
    graphss_dataset data;
    graphss_alignment what;
    model.class_names = (graphss_names){0};
    data_make(ctx, &data, "abc", few, "12", "12-1");
    const int32_t said[2] = {1, 0}; /* a split of the data follows */
    data.split.n_train = 2;
    data.split.train = graphss_i_calloc(ctx, 2, sizeof *data.split.train);
    data.split.train_label = graphss_i_copy(ctx, said, 2, sizeof *said);
    assert_ok(ctx, graphss_dataset_align(ctx, &what, &data, &model));
    static const int32_t want[NODES] = {1, 2, -1, 1};
    assert_true(what.classes && data.n_classes == CLASSES);
    assert_memory_equal(data.label, want, sizeof want);
    assert_int_equal(data.split.train_label[0], 2);
    assert_int_equal(data.split.train_label[1], 1);
    graphss_dataset_destroy(ctx, &data);
    data_make(ctx, &data, "abc", few, "pq", "pq-p"); /* no numbers: position */
    assert_ok(ctx, graphss_dataset_align(ctx, &what, &data, &model));
    assert_false(what.classes);
    graphss_dataset_destroy(ctx, &data);
}

static void keep_warnings(void *user, graphss_log_level level, const char *line)
{
    if (level == GRAPHSS_LOG_WARN)
        strncat(user, line, 511 - strlen(user));
}

TEST(position_where_one_side_has_no_names_is_warned_of)
{
    char warnings[512] = "";
    graphss_ctx *ctx = graphss_ctx_new(&(graphss_ctx_options){
        .struct_size = sizeof(graphss_ctx_options), .log = keep_warnings, .user = warnings});
    letters l[2];
    graphss_model model = model_of(&l[0], &l[1]);
    graphss_dataset data;
    assert_non_null(ctx);
    data_make(ctx, &data, "abc", few, "xyz", "xyzx");
    assert_ok(ctx, graphss_dataset_align(ctx, NULL, &data, &model));
    assert_string_equal(warnings, "");
    graphss_names_destroy(ctx, &data.column_names);
    model.class_names = (graphss_names){0};
    assert_ok(ctx, graphss_dataset_align(ctx, NULL, &data, &model));
    assert_non_null(strstr(warnings,
        "other has no names of features and the model (world) has some: they go by position"));
    assert_non_null(strstr(
        warnings, "other has names of classes and the model (world) has none: they go by"));
    graphss_dataset_destroy(ctx, &data);
    graphss_ctx_free(ctx);
}

/* By name, and without names by number; a split loses the nodes without a label. */
TEST(classes_that_the_model_does_not_know_are_left_out)
{
    char warnings[512] = "";
    graphss_ctx *ctx = graphss_ctx_new(&(graphss_ctx_options){
        .struct_size = sizeof(graphss_ctx_options), .log = keep_warnings, .user = warnings});
    letters l[2];
    graphss_model model = model_of(&l[0], &l[1]);
    graphss_dataset data;
    graphss_alignment what;
    assert_non_null(ctx);
    for (int turn = 0; turn < 2; turn++) {
        const bool named = turn == 0;
        data_make(ctx, &data, "abc", few, named ? "wxvz" : "0123", named ? "wx-w" : "32-3");
        if (!named) {
            model.class_names = (graphss_names){0};
            graphss_names_destroy(ctx, &data.class_names);
        }
        static const int32_t node[2] = {0, 1};
        const int32_t said[2] = {named ? 0 : 3, named ? 1 : 2};
        data.split.n_train = 2;
        data.split.train = graphss_i_copy(ctx, node, 2, sizeof *node);
        data.split.train_label = graphss_i_copy(ctx, said, 2, sizeof *said);
        assert_ok(ctx, graphss_dataset_align(ctx, &what, &data, &model));
        const int32_t want[NODES] = {-1, named ? 0 : 2, -1, -1};
        assert_memory_equal(data.label, want, sizeof want);
        assert_true(what.classes && data.n_classes == CLASSES);
        assert_int_equal(what.unknown_classes, named ? 2 : 1);
        assert_int_equal(data.split.n_train, 1);
        assert_int_equal(data.split.train[0], 1);
        assert_int_equal(data.split.train_label[0], named ? 0 : 2);
        assert_non_null(
            strstr(warnings, named ? "2 nodes have a class that the model does not "
                                     "know ('w', 'v')"
                                   : "does not know ('3')"));
        graphss_dataset_destroy(ctx, &data);
    }
    graphss_ctx_free(ctx);
}

TEST_CTX(wrong_counts_of_names_are_refused)
{
    letters l[2];
    graphss_model model = model_of(&l[0], &l[1]), blank = {.n_features = 2, .n_classes = 3};
    graphss_dataset data;
    data_make(ctx, &data, "abc", few, "xyz", "xyzx");
    assert_fails(ctx, graphss_model_set_dataset(ctx, &blank, &data), GRAPHSS_ERR_SHAPE,
        "other has 3 features, the model was trained on 2");
    blank = (graphss_model){.n_features = 3, .n_classes = 2};
    graphss_names_destroy(ctx, &data.class_names);
    assert_fails(ctx, graphss_model_set_dataset(ctx, &blank, &data), GRAPHSS_ERR_SHAPE,
        "other has 3 classes, the model 2");
    data.column_names.count = 2;
    assert_fails(ctx, graphss_dataset_align(ctx, NULL, &data, &model), GRAPHSS_ERR_SHAPE,
        "2 names for 3 features");
    data.column_names.count = 3;
    graphss_dataset_destroy(ctx, &data);
}

static graphss_status adopt_copy(graphss_ctx *ctx, void *arg)
{
    letters l[2];
    const graphss_model model = model_of(&l[0], &l[1]);
    graphss_dataset data = {0};
    graphss_status st = graphss_dataset_copy(ctx, &data, arg);
    if (!st)
        st = graphss_dataset_align(ctx, NULL, &data, &model);
    graphss_dataset_destroy(ctx, &data);
    return st;
}

TEST_CTX(failing_allocations_leave_nothing)
{
    graphss_dataset data;
    data_make(ctx, &data, "cab", few, "zxw", "zx-w");
    testing_each_allocation_fails(adopt_copy, &data);
    graphss_dataset_destroy(ctx, &data);
}

int main(void)
{
    return testing_run();
}
