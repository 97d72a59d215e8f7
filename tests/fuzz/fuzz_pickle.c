/* fuzz_pickle.c - any bytes as a pickle; and, cut at each "\xff\xff#", as the eight files of
 * a Planetoid dataset. */
#include "data/formats/pickle.h"
#include "fuzz_check.h"

static const char *const ending[8] = {
    "x", "y", "tx", "ty", "allx", "ally", "graph", "test.index"};

/* Reads every value two levels deep. */
static int64_t look(const graphss_i_pickle *p, graphss_i_pickle_ref r, int depth)
{
    int64_t sum = 0, whole = 0;
    graphss_i_pickle_ref item;
    const graphss_i_pickle_array *array = graphss_i_pickle_array_of(p, r);
    for (size_t i = 0; array && i < array->count; i++)
        sum += graphss_i_pickle_int_at(&whole, array, i) +
               (graphss_i_pickle_real_at(array, i) > 0);
    sum += graphss_i_pickle_int(&whole, p, r);
    sum += graphss_i_pickle_get(p, r, "data");
    graphss_i_pickle_walk walk = graphss_i_pickle_walk_start(p, r);
    for (int n = 0; depth > 0 && n < 100 && (item = graphss_i_pickle_next(&walk)); n++)
        sum += look(p, item, depth - 1);
    return sum;
}

static void fuzz_one(graphss_ctx *ctx, const uint8_t *data, size_t size)
{
    char *bytes = malloc(size + 1);
    graphss_i_pickle *p = NULL;
    must(bytes != NULL);
    memcpy(bytes, data, size);
    if (graphss_i_pickle_read(ctx, &p, bytes, size, "fuzz", FUZZ_MEMORY) == GRAPHSS_OK)
        (void)look(p, graphss_i_pickle_root(p), 2);
    else
        must(!p && graphss_ctx_error(ctx)[0]);
    graphss_i_pickle_free(ctx, p);
    free(bytes);
}

static void fuzz_eight(graphss_ctx *ctx, const uint8_t *data, size_t size)
{
    char folder[64], prefix[96], path[128];
    fuzz_folder(folder, sizeof folder);
    snprintf(prefix, sizeof prefix, "%s/ind.fuzz", folder);
    for (size_t i = 0; i < 8; i++) {
        const uint8_t *cut = i < 7 ? memmem(data, size, "\xff\xff#", 3) : NULL;
        const size_t n = cut ? (size_t)(cut - data) : size;
        snprintf(path, sizeof path, "%s.%s", prefix, ending[i]);
        fuzz_write(path, data, n);
        data += cut ? n + 3 : n;
        size -= cut ? n + 3 : n;
    }
    graphss_dataset dataset = {0};
    const graphss_status st =
        graphss_i_read_planetoid(ctx, &dataset, prefix, FUZZ_MEMORY, GRAPHSS_MISSING_ERROR);
    fuzz_check_dataset(ctx, &dataset, st);
    graphss_dataset_destroy(ctx, &dataset);
    for (size_t i = 0; i < 8; i++) {
        snprintf(path, sizeof path, "%s.%s", prefix, ending[i]);
        (void)remove(path);
    }
    (void)rmdir(folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    graphss_ctx *ctx = fuzz_ctx();
    if (size && memmem(data, size, "\xff\xff#", 3))
        fuzz_eight(ctx, data, size);
    else if (size)
        fuzz_one(ctx, data, size);
    graphss_ctx_free(ctx);
    return 0;
}
