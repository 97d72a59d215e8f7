/* split_file.c - splits in .npz files, alone or inside a dataset. */
#include "data/build.h"
#include "data/formats/npz.h"
#include <string.h>

/* The names in use for the same three lists. */
static const struct family {
    const char *list[3];
    bool mask;
} families[] = {{{"train", "val", "test"}, false},
    {{"idx_train", "idx_val", "idx_test"}, false},
    {{"split_train", "split_val", "split_test"}, false},
    {{"train_mask", "val_mask", "test_mask"}, true}};

static const struct family *find_family(const graphss_i_npz *npz)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (graphss_i_npz_has(npz, families[i].list[0]) &&
            graphss_i_npz_has(npz, families[i].list[1]) &&
            graphss_i_npz_has(npz, families[i].list[2]))
            return &families[i];
    return NULL;
}

/* A list of nodes, from numbers or from a mask. owner [n]: 1 + the list each node is in, 0 if
 * none yet. */
static graphss_status read_list(graphss_ctx *ctx, int32_t **out, size_t *count,
    graphss_i_npz *npz, const struct family *f, size_t which, uint8_t *owner, size_t n)
{
    const char *const *list = f->list;
    const char *array = list[which];
    graphss_i_array_info info;
    graphss_status st = graphss_i_npz_info(ctx, &info, npz, array);
    if (st)
        return st;
    const bool mask = f->mask || info.kind == 'b';
    int32_t *value = NULL;
    size_t found = 0;
    st = graphss_i_npz_int32(ctx, &value, &found, npz, array, mask ? n : SIZE_MAX);
    if (st)
        return st;
    if (mask) {
        size_t kept = 0;
        for (size_t i = 0; i < n; i++)
            if (value[i])
                value[kept++] = (int32_t)i;
        found = kept;
    }
    for (size_t i = 0; i < found; i++) {
        const int32_t node = value[i];
        if (node < 0 || (size_t)node >= n)
            st = graphss_i_npz_fail(ctx, GRAPHSS_ERR_DATA, npz, array,
                "entry %zu is %d, want a node below %zu", i, (int)node, n);
        else if (owner[node])
            st = graphss_i_npz_fail(ctx, GRAPHSS_ERR_DATA, npz, array,
                "entry %zu is node %d, which stands in '%s' already", i, (int)node,
                list[owner[node] - 1]);
        if (st) {
            graphss_release(ctx, value);
            return st;
        }
        owner[node] = (uint8_t)(which + 1);
    }
    *out = value;
    *count = found;
    return GRAPHSS_OK;
}

static graphss_status read_labels(graphss_ctx *ctx, int32_t **out, graphss_i_npz *npz,
    const char *array, size_t n, size_t n_classes)
{
    int32_t *label = NULL;
    size_t count;
    if (!graphss_i_npz_has(npz, array))
        return GRAPHSS_OK;
    graphss_status st = graphss_i_npz_int32(ctx, &label, &count, npz, array, n);
    for (size_t i = 0; st == GRAPHSS_OK && i < n; i++)
        if (label[i] < 0 || (size_t)label[i] >= n_classes)
            st = graphss_i_npz_fail(ctx, GRAPHSS_ERR_DATA, npz, array,
                "entry %zu is %d, want a class below %zu", i, (int)label[i], n_classes);
    if (st) {
        graphss_release(ctx, label);
        return st;
    }
    *out = label;
    return GRAPHSS_OK;
}

graphss_status graphss_i_npz_split(
    graphss_ctx *ctx, graphss_split *out, graphss_i_npz *npz, size_t n, size_t n_classes)
{
    const struct family *f = find_family(npz);
    graphss_split made = {0};
    if (!f) {
        *out = made;
        return GRAPHSS_OK;
    }
    uint8_t *owner = graphss_i_calloc(ctx, n, sizeof *owner);
    if (!owner)
        return GRAPHSS_ERR_NOMEM;
    graphss_status st = read_list(ctx, &made.train, &made.n_train, npz, f, 0, owner, n);
    if (st == GRAPHSS_OK)
        st = read_list(ctx, &made.val, &made.n_val, npz, f, 1, owner, n);
    if (st == GRAPHSS_OK)
        st = read_list(ctx, &made.test, &made.n_test, npz, f, 2, owner, n);
    if (st == GRAPHSS_OK)
        st = read_labels(ctx, &made.train_label, npz, "train_labels", made.n_train, n_classes);
    if (st == GRAPHSS_OK)
        st = read_labels(ctx, &made.val_label, npz, "val_labels", made.n_val, n_classes);
    graphss_release(ctx, owner);
    if (st) {
        graphss_split_destroy(ctx, &made);
        return st;
    }
    *out = made;
    return GRAPHSS_OK;
}

/* Takes the labels that the file lacks from the truth. */
static graphss_status complete(graphss_ctx *ctx, int32_t **out, const int32_t *node, size_t n,
    const int32_t *label, const graphss_i_npz *npz, const char *array)
{
    if (*out)
        return GRAPHSS_OK;
    if (!label)
        return graphss_i_npz_fail(ctx, GRAPHSS_ERR_DATA, npz, array,
            "without its labels, and the dataset has none either");
    for (size_t i = 0; i < n; i++)
        if (label[node[i]] < 0)
            return graphss_i_npz_fail(ctx, GRAPHSS_ERR_DATA, npz, array,
                "entry %zu is node %d, whose label is unknown", i, (int)node[i]);
    int32_t *made = graphss_i_alloc(ctx, n, sizeof *made);
    if (!made)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        made[i] = label[node[i]];
    *out = made;
    return GRAPHSS_OK;
}

graphss_status graphss_split_read(graphss_ctx *ctx, graphss_split *out, const char *path,
    const int32_t *label, size_t n, size_t n_classes)
{
    if (GRAPHSS_I_LACKS(ctx, {"path", path}, {"place for the split", out}))
        return GRAPHSS_ERR_INVALID;
    graphss_i_npz *npz = NULL;
    graphss_split made = {0};
    graphss_status st = graphss_i_npz_open(ctx, &npz, path, 0);
    if (st)
        return st;
    st = graphss_i_npz_split(ctx, &made, npz, n, n_classes);
    if (st == GRAPHSS_OK && !made.train)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "%s: no split in it: want arrays train, val and test", path);
    if (st == GRAPHSS_OK)
        st = complete(ctx, &made.train_label, made.train, made.n_train, label, npz, "train");
    if (st == GRAPHSS_OK)
        st = complete(ctx, &made.val_label, made.val, made.n_val, label, npz, "val");
    graphss_i_npz_close(ctx, npz);
    if (st) {
        graphss_split_destroy(ctx, &made);
        return st;
    }
    *out = made;
    return GRAPHSS_OK;
}

graphss_status graphss_i_split_out_init(
    graphss_ctx *ctx, graphss_i_split_out *out, const graphss_split *split)
{
    const struct {
        const char *name;
        const int32_t *value;
        size_t n;
    } part[] = {{"train", split->train, split->n_train}, {"val", split->val, split->n_val},
        {"test", split->test, split->n_test},
        {"train_labels", split->train_label, split->n_train},
        {"val_labels", split->val_label, split->n_val}};
    graphss_i_split_out made = {0};
    for (size_t i = 0; i < 5; i++) {
        if (i >= 3 && !part[i].value)
            continue;
        int64_t *block = graphss_i_widen(ctx, part[i].value, part[i].n);
        if (!block) {
            graphss_i_split_out_destroy(ctx, &made);
            return GRAPHSS_ERR_NOMEM;
        }
        made.block[made.n_arrays] = block;
        made.array[made.n_arrays++] = (graphss_i_array_out){.name = part[i].name,
            .dtype = "<i8",
            .n_dims = 1,
            .shape = {part[i].n},
            .data = block};
    }
    *out = made;
    return GRAPHSS_OK;
}

void graphss_i_split_out_destroy(graphss_ctx *ctx, graphss_i_split_out *out)
{
    for (size_t i = 0; i < out->n_arrays; i++)
        graphss_release(ctx, out->block[i]);
    *out = (graphss_i_split_out){0};
}

graphss_status graphss_split_write(
    graphss_ctx *ctx, const graphss_split *split, const char *path)
{
    if (GRAPHSS_I_LACKS(ctx, {"split", split}, {"path", path}))
        return GRAPHSS_ERR_INVALID;
    graphss_i_split_out parts = {0};
    graphss_status st = graphss_i_split_lists(ctx, split);
    if (st == GRAPHSS_OK)
        st = graphss_i_split_out_init(ctx, &parts, split);
    if (st == GRAPHSS_OK)
        st = graphss_i_npz_write(ctx, path, parts.array, parts.n_arrays);
    graphss_i_split_out_destroy(ctx, &parts);
    return st;
}
