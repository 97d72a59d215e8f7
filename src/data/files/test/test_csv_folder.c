/* test_csv_folder.c */
#include "data/files/readers.h"
#include "testing.h"
#include <sys/stat.h>

static const uint64_t plenty = UINT64_C(1) << 30;

typedef struct folder {
    char path[512];
} folder;

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static folder make_folder(const char *nodes, const char *edges)
{
    folder f;
    char path[600];
    testing_temporary(f.path, sizeof f.path, "csv");
    assert_true(mkdir(f.path, 0700) == 0);
    snprintf(path, sizeof path, "%s/nodes.csv", f.path);
    write_text(path, nodes);
    snprintf(path, sizeof path, "%s/edges.csv", f.path);
    write_text(path, edges);
    return f;
}

static void remove_folder(folder *f)
{
    char path[600];
    snprintf(path, sizeof path, "%s/nodes.csv", f->path);
    remove(path);
    snprintf(path, sizeof path, "%s/edges.csv", f->path);
    remove(path);
    rmdir(f->path);
}

static graphss_dataset read_good(graphss_ctx *ctx, const char *nodes, const char *edges)
{
    graphss_dataset data = {0};
    folder f = make_folder(nodes, edges);
    const graphss_status st =
        graphss_i_read_csv_folder(ctx, &data, f.path, plenty, GRAPHSS_MISSING_ERROR);
    remove_folder(&f);
    assert_ok(ctx, st);
    assert_string_equal(data.format, "csv");
    return data;
}

/* Value of a cell, dense or sparse. */
static float cell(const graphss_features *f, size_t row, int32_t column)
{
    if (graphss_features_dense(f))
        return f->value[row * f->n_cols + (size_t)column];
    for (int64_t e = f->offset[row]; e < f->offset[row + 1]; e++)
        if (f->column[e] == column)
            return f->value[e];
    return 0;
}

static const char people_nodes[] = "label,node_id,feat,train_mask,val_mask,test_mask\n"
                                   "spam,anna,\"0.5, 1\",1,0,0\n"
                                   "ham,\"b, c\",\"2 -3e2\",False,True,False\n"
                                   ",karl,\"[4;0]\",,,1\n";
static const char people_edges[] = "dst_id,note,src_id,weight\n"
                                   "anna,x,\"b, c\",1\n"
                                   "karl,y,anna,2.5\n"
                                   "karl,y,\"b, c\",0\n"
                                   "anna,y,anna,1\n";

TEST_CTX(names_labels_masks_and_dense_features)
{
    graphss_dataset data = read_good(ctx, people_nodes, people_edges);
    assert_int_equal(data.graph.n_nodes, 3);
    assert_int_equal(graphss_graph_edges(&data.graph), 2);
    assert_true(graphss_graph_has_edge(&data.graph, 0, 1));
    assert_true(graphss_graph_has_edge(&data.graph, 0, 2));
    assert_int_equal(data.cleaned.weighted, 1);
    assert_int_equal(data.cleaned.zeros, 1);
    assert_int_equal(data.cleaned.loops, 1);
    assert_string_equal(graphss_names_get(&data.node_names, 1), "b, c");
    assert_int_equal(data.n_classes, 2);
    assert_string_equal(graphss_names_get(&data.class_names, 0), "spam");
    static const int32_t label[] = {0, 1, -1};
    assert_memory_equal(data.label, label, sizeof label);
    assert_int_equal(data.features.n_cols, 2);
    static const float want[] = {0.5f, 1, 2, -300, 4, 0};
    for (size_t i = 0; i < 6; i++)
        assert_true(cell(&data.features, i / 2, (int32_t)(i % 2)) == want[i]);
    assert_int_equal(data.split.n_train, 1);
    assert_int_equal(data.split.train[0], 0);
    assert_int_equal(data.split.train_label[0], 0);
    assert_int_equal(data.split.n_val, 1);
    assert_int_equal(data.split.val_label[0], 1);
    assert_int_equal(data.split.n_test, 1);
    assert_int_equal(data.split.test[0], 2);
    graphss_dataset_destroy(ctx, &data);
}

TEST_CTX(words_with_values_make_sparse_features)
{
    graphss_dataset data = read_good(
        ctx, "id,feat\nx,\"\"\ny,cat:1 a:b:2\nz,\"dog:3,cat:1\"\n", "source,target\nx,y\n");
    assert_int_equal(data.features.n_cols, 3);
    assert_string_equal(graphss_names_get(&data.column_names, 0), "cat");
    assert_string_equal(graphss_names_get(&data.column_names, 1), "a:b");
    assert_true(cell(&data.features, 0, 0) == 0);
    assert_true(cell(&data.features, 1, 1) == 2);
    assert_true(cell(&data.features, 2, 2) == 3);
    assert_true(cell(&data.features, 2, 0) == 1);
    assert_null(data.label);
    graphss_dataset_destroy(ctx, &data);

    data = read_good(ctx, "id,feat\nx,7:1\ny,2:0.5\n", "source,target\nx,y\n");
    assert_int_equal(data.features.n_cols, 8);
    assert_int_equal(data.column_names.count, 0);
    assert_true(cell(&data.features, 0, 7) == 1);
    assert_true(cell(&data.features, 1, 2) == 0.5f);
    graphss_dataset_destroy(ctx, &data);
}

TEST_CTX(numeric_columns_are_features_and_text_is_left_out)
{
    graphss_dataset data = read_good(ctx,
        "node_id;age;title;class;height;graph_id\n"
        "0;30;one;3;1.5;0\n1;40;2;7;1.75;0\n",
        "0;1\n");
    assert_int_equal(data.features.n_cols, 2);
    assert_string_equal(graphss_names_get(&data.column_names, 0), "age");
    assert_string_equal(graphss_names_get(&data.column_names, 1), "height");
    assert_true(cell(&data.features, 1, 1) == 1.75f);
    assert_int_equal(data.node_names.count, 0);
    assert_int_equal(data.n_classes, 2);
    assert_string_equal(graphss_names_get(&data.class_names, 1), "7");
    assert_int_equal(graphss_graph_edges(&data.graph), 1);
    graphss_dataset_destroy(ctx, &data);
}

TEST_CTX(a_file_that_is_not_utf_8_is_taken_as_latin_1)
{
    graphss_dataset data = read_good(ctx, "id,label\nren\xe9,caf\xe9\nb,x\n", "ren\xe9,b\n");
    assert_string_equal(graphss_names_get(&data.node_names, 0), "ren\xc3\xa9");
    assert_string_equal(graphss_names_get(&data.class_names, 0), "caf\xc3\xa9");
    assert_int_equal(graphss_graph_edges(&data.graph), 1);
    graphss_dataset_destroy(ctx, &data);
}

TEST_CTX(edges_need_no_header)
{
    static const char *const edges[] = {"a,b\nb,c\n", "a,b,1\nb,c,2\n", "one,two\na,b\nb,c\n",
        "src\tdst\na\tb\nb\tc\n", "from to\na b\nb c\n"};
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        graphss_dataset data = read_good(ctx, "node_id\na\nb\nc\n", edges[i]);
        assert_int_equal(graphss_graph_edges(&data.graph), 2);
        assert_true(graphss_graph_has_edge(&data.graph, 1, 2));
        assert_int_equal(data.features.n_cols, 0);
        assert_int_equal(data.features.n_rows, 3);
        assert_int_equal(data.cleaned.weighted, i == 1);
        graphss_dataset_destroy(ctx, &data);
    }
}

static void keep_warning(void *user, graphss_log_level level, const char *line)
{
    if (level <= GRAPHSS_LOG_NOTICE)
        snprintf(user, 512, "%s", line);
}

TEST(what_pandas_writes_is_what_was_meant)
{
    char warning[512] = "";
    graphss_ctx *ctx = graphss_ctx_new(&(graphss_ctx_options){
        .struct_size = sizeof(graphss_ctx_options), .log = keep_warning, .user = warning});
    assert_non_null(ctx);
    /* The index column has no name; a missing label turns all of them into 1.0. */
    graphss_dataset data = read_good(ctx,
        ",id,label,age,title\n7,a,0.0,1,\n8,b,1.0,2,x\n"
        "9,c,,3,\n10,d,-1.0,4,\n11,e,1,5,\n",
        ",follower,followee\n0,a,b\n1,b,c\n");
    assert_non_null(strstr(warning, "edges.csv:1: 'follower' and 'followee' are taken"));
    assert_int_equal(data.graph.n_nodes, 5);
    assert_int_equal(graphss_graph_edges(&data.graph), 2);
    assert_int_equal(data.features.n_cols, 1);
    assert_string_equal(graphss_names_get(&data.column_names, 0), "age");
    static const int32_t label[] = {0, 1, -1, -1, 1};
    assert_int_equal(data.n_classes, 2);
    assert_int_equal(data.class_names.count, 0);
    assert_memory_equal(data.label, label, sizeof label);
    graphss_dataset_destroy(ctx, &data);
    data = read_good(ctx, ",id,age\n0,x,1\n1,y,1\n", "x,y\n");
    assert_non_null(strstr(warning, "nodes.csv:1: the first column has no name"));
    assert_int_equal(data.features.n_cols, 1);
    graphss_dataset_destroy(ctx, &data);
    data = read_good(ctx, "id,label,age\nx,1.5,\ny,1.0,NA\n", "x,y\n");
    assert_string_equal(graphss_names_get(&data.class_names, 0), "1.5");
    assert_int_equal(data.features.n_cols, 0);
    assert_non_null(strstr(warning, "column 'age' is not used: it has no entries"));
    graphss_dataset_destroy(ctx, &data);
    graphss_ctx_free(ctx);
}

TEST(labels_that_differ_only_in_case_are_reported)
{
    char warning[512] = "";
    graphss_ctx *ctx = graphss_ctx_new(&(graphss_ctx_options){
        .struct_size = sizeof(graphss_ctx_options), .log = keep_warning, .user = warning});
    assert_non_null(ctx);
    graphss_dataset data = read_good(ctx, "id,label\na,bot\nb,human\nc,bots\n", "a,b\n");
    assert_string_equal(warning, "");
    graphss_dataset_destroy(ctx, &data);
    data = read_good(ctx, "id,label\na,bot\nb,human\nc,Bot\nd,\" BOT \"\n", "a,b\n");
    assert_int_equal(data.n_classes, 4);
    assert_non_null(
        strstr(warning, "labels 'bot' and 'Bot' differ only in case or blanks (2"));
    graphss_dataset_destroy(ctx, &data);
    graphss_ctx_free(ctx);
}

TEST_CTX(mistakes_are_named_with_their_place)
{
    static const char e[] = "src,dst\n0,1\n";
    static const struct {
        const char *nodes, *edges, *part;
    } cases[] = {
        {"", e, "nodes.csv: empty"},
        {"node_id\n", e, "nodes.csv: no node in it"},
        {"name,label\n0,a\n", e, "nodes.csv:1:1: found 'name', want a header with a column"},
        {"id,label\n0,a\n1\n", e, "nodes.csv:3: found 1 fields, want 2"},
        {"id\n0\n0\n", e, "nodes.csv:3:1: found '0', want an id that no other"},
        {"id,label\n0,a\n ,b\n", e, "nodes.csv:3:2: found '', want the id"},
        {"id,age\n0,1\n1,old\n", e, "nodes.csv:3:3: found 'old', want a finite number"},
        {"id,age\n0,nan\n1,3\n", e, "nodes.csv:2:3: found 'nan', want a finite number"},
        /* one rule for missing cells, whatever the order of the rows */
        {"id,age\n0,\n1,NA\n2,3\n", e,
            "nodes.csv:2:3: found '', want a finite number, as in line 4 of column 'age'"},
        {"id,age\n0,3\n1,\n", e, "nodes.csv:3:3: found '', want a finite number"},
        {"id,age\n0,3\n1,NA\n", e, "nodes.csv:3:3: found 'NA', want a finite number"},
        {"id,age\n0,3\n1,\"1,200\"\n", e,
            "found '1,200', want a finite number in column 'age': write 1200 or 1.5, without"},
        /* all of them at once, ten by name */
        {"id,age,h\n0,3,1\n1,NA,\n2,old,5\n", e,
            "nodes.csv:3:3: found 'NA', want a finite number in column 'age': fill it in, "
            "leave the column out, or say --missing mean or zero; 3 cells in all: also 3:6 '' "
            "in "
            "'h', 4:3 'old' in 'age'"},
        {"id,a,b\n0,,1\n1,,2\n2,7,x\n3,,3\n", e,
            "nodes.csv:2:3: found '', want a finite number, as in line 4 of column 'a': fill "
            "it "
            "in, leave the column out, or say --missing mean or zero; 4 cells in all: also "
            "4:5 "
            "'x' "
            "in 'b', 5:3 '' in 'a' ..."},
        {"id,a\n0,1\n1,\n2,\n3,\n4,\n5,\n6,\n7,\n8,\n9,\n10,\n11,\n", e,
            "11 cells in all: also 4:3 '' in 'a', 5:3 '' in 'a', 6:3 '' in 'a', 7:3 '' in "
            "'a', "
            "8:3 '' in 'a', 9:3 '' in 'a', 10:3 '' in 'a', 11:3 '' in 'a', 12:4 '' in 'a' "
            "..."},
        {"id,feat\n0,\"1,2\"\n1,\"1,x\"\n", e,
            "nodes.csv:3:6: found 'x', want a finite number"},
        {"id,feat\n0,\"1,2\"\n1,3\n", e, "nodes.csv:3:3: found 1 features, want 2"},
        {"id,feat\n0,\n1,3\n", e, "nodes.csv:2:3: found 0 features, want 1"},
        {"id,feat\n0,1e39\n1,3\n", e, "nodes.csv:2:3: found '1e39', want a finite number"},
        {"id,feat\n0,nan\n1,3\n", e, "nodes.csv:2:3: found 'nan', want a finite number"},
        {"id,feat\n0,a:1\n1,b\n", e, "nodes.csv:3:3: found 'b', want WORD:VALUE"},
        {"id,feat\n0,a:1\n1,b:x\n", e, "nodes.csv:3:3: found 'b:x', want a finite number"},
        {"id,train_mask,label\n0,maybe,1\n1,0,1\n", e,
            "nodes.csv:2:3: found 'maybe', want 0, 1"},
        {"id,train_mask,val_mask,label\n0,1,1,1\n1,0,0,1\n", e, "in one mask only"},
        {"id,train_mask,label\n0,1,\n1,0,1\n", e, "nodes.csv:2:3: found '1', want no node"},
        {"id,train_mask,label\n0,1,-1\n1,0,1\n", e, "node 0 is in train_mask"},
        {"id\n0\n1\n", "src,dst\n0,7\n", "edges.csv:2:3: found '7', want the id of a node"},
        {"id\n0\n1\n", "src,dst\n0\n", "edges.csv:2: found 1 fields, want 2"},
        {"id\n0\n1\n", "0,2\n", "edges.csv:1:3: found '2', want the id of a node"},
        {"id\n0\n1\n", "src,dst,weight\n0,1,x\n",
            "edges.csv:2:5: found 'x', want a finite weight"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        graphss_dataset data = {0};
        folder f = make_folder(cases[i].nodes, cases[i].edges);
        const graphss_status st =
            graphss_i_read_csv_folder(ctx, &data, f.path, plenty, GRAPHSS_MISSING_ERROR);
        remove_folder(&f);
        assert_fails(ctx, st, GRAPHSS_ERR_DATA, cases[i].part);
        assert_null(data.graph.offset);
    }
}

TEST_CTX(a_file_too_large_for_the_memory_allowed_is_refused)
{
    graphss_dataset data = {0};
    folder f = make_folder(people_nodes, people_edges);
    const graphss_status st =
        graphss_i_read_csv_folder(ctx, &data, f.path, 1000, GRAPHSS_MISSING_ERROR);
    remove_folder(&f);
    assert_fails(ctx, st, GRAPHSS_ERR_LIMIT, "nodes.csv");
}

static graphss_dataset read_missing(
    graphss_ctx *ctx, const char *nodes, graphss_missing_rule missing)
{
    graphss_dataset data = {0};
    folder f = make_folder(nodes, "src,dst\na,b\nb,c\n");
    const graphss_status st = graphss_i_read_csv_folder(ctx, &data, f.path, plenty, missing);
    remove_folder(&f);
    assert_ok(ctx, st);
    return data;
}

TEST_CTX(empty_cells_are_means_or_zeros_where_the_caller_says_so)
{
    static const char nodes[] = "id,age,size\na,,1\nb,2,?\nc,4,5\nd,NA,6\n";
    graphss_dataset data = read_missing(ctx, nodes, GRAPHSS_MISSING_MEAN);
    assert_int_equal(data.features.n_cols, 2);
    assert_float_equal(cell(&data.features, 0, 0), 3, 1e-6);
    assert_float_equal(cell(&data.features, 3, 0), 3, 1e-6);
    assert_float_equal(cell(&data.features, 1, 1), 4, 1e-6);
    assert_float_equal(cell(&data.features, 2, 1), 5, 1e-6);
    assert_int_equal(data.missing.count, 3);
    assert_int_equal(data.missing.node[1], 3);
    assert_int_equal(data.missing.column[2], 1);
    graphss_dataset copy = {0};
    assert_ok(ctx, graphss_dataset_copy(ctx, &copy, &data));
    assert_int_equal(copy.missing.count, 3);
    assert_int_equal(copy.missing.node[2], 1);
    graphss_dataset_destroy(ctx, &copy);
    graphss_dataset_destroy(ctx, &data);
    data = read_missing(ctx, nodes, GRAPHSS_MISSING_ZERO);
    assert_float_equal(cell(&data.features, 0, 0), 0, 0);
    assert_float_equal(cell(&data.features, 1, 1), 0, 0);
    assert_int_equal(data.missing.count, 0);
    graphss_dataset_destroy(ctx, &data);
}

TEST_CTX(text_of_few_values_is_a_column_for_each_value)
{
    graphss_dataset data = read_missing(ctx,
        "id,name,city,age\na,x,Ulm,1\nb,y,,2\nc,z,Bonn,3\nd,w,Ulm,4\ne,v,Bonn,5\n",
        GRAPHSS_MISSING_ERROR);
    assert_int_equal(data.features.n_cols, 3);
    assert_string_equal(graphss_names_get(&data.column_names, 0), "age");
    assert_string_equal(graphss_names_get(&data.column_names, 1), "city=Bonn");
    assert_string_equal(graphss_names_get(&data.column_names, 2), "city=Ulm");
    const float city[5][2] = {{0, 1}, {0, 0}, {1, 0}, {0, 1}, {1, 0}};
    for (size_t i = 0; i < 5; i++)
        for (int32_t c = 0; c < 2; c++)
            assert_float_equal(cell(&data.features, i, c + 1), city[i][c], 0);
    graphss_dataset_destroy(ctx, &data);
}

static graphss_status read_and_destroy(graphss_ctx *ctx, void *arg)
{
    graphss_dataset data = {0};
    const graphss_status st =
        graphss_i_read_csv_folder(ctx, &data, arg, plenty, GRAPHSS_MISSING_MEAN);
    graphss_dataset_destroy(ctx, &data);
    return st;
}

TEST(each_allocation_may_fail)
{
    static const char *const nodes[] = {people_nodes,
        "id,label\nanna,caf\xe9\n\"b, c\",\nkarl,x\n",
        "id,feat,label\nanna,x:1,3\n\"b, c\",y:2,4\nkarl,,\n",
        "id,age,size\nanna,1,2\n\"b, c\",2,3\nkarl,3,4\n",
        "id,x,y\nanna,,\n\"b, c\",,t\nkarl,,\n", "id,x,y\nanna,,t\n\"b, c\",2,t\nkarl,4,\n"};
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        folder f = make_folder(nodes[i], people_edges);
        testing_each_allocation_fails(read_and_destroy, f.path);
        remove_folder(&f);
    }
}

int main(void)
{
    return testing_run();
}
