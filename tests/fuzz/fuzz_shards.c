/* fuzz_shards.c - any bytes as shards.json, and as a part whose checksum is right. */
#include "data/shards/shard.h"
#include "fuzz_check.h"

enum { NODES = 3, ENTRIES = 2, STORED = 3, COLUMNS = 4, CLASSES = 2 };

/* The content of the corpus' seeds: nodes 0, 2 and 3 of five. */
static graphss_i_manifest manifest_of(graphss_i_manifest_part part[2])
{
    graphss_i_manifest m = {.n_nodes = 5,
        .n_cols = COLUMNS,
        .n_classes = CLASSES,
        .kind = GRAPHSS_FEATURES_REAL,
        .labelled = true,
        .named = true,
        .n_parts = 2,
        .part = part};
    memset(m.hash, 'a', 64);
    part[0].nodes = NODES;
    part[0].entries = ENTRIES;
    part[0].stored = STORED;
    return m;
}

static void check_shard(const graphss_i_shard *s)
{
    must(s->n_nodes == NODES && s->offset[0] == 0 && s->offset[NODES] == ENTRIES);
    for (size_t e = 0; e < ENTRIES; e++)
        must(s->target[e] >= 0 && s->target[e] < 5);
    for (size_t i = 0; i < NODES; i++)
        must(s->node[i] >= 0 && s->node[i] < 5 && s->label[i] >= -1 && s->label[i] < CLASSES);
    for (size_t e = 0; e < STORED; e++)
        must(isfinite(s->features.value[e]) && s->features.column[e] < COLUMNS);
    fuzz_check_names(&s->names, NODES);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char folder[64], manifest[96], file[GRAPHSS_I_SHARD_PATH];
    graphss_i_manifest read = {0};
    graphss_i_manifest_part part[2] = {0};
    graphss_i_manifest given = manifest_of(part);
    graphss_i_shard shard = {0};
    fuzz_folder(folder, sizeof folder);
    snprintf(manifest, sizeof manifest, "%s/" GRAPHSS_I_MANIFEST_FILE, folder);
    graphss_i_shard_path(file, folder, 0);
    fuzz_write(manifest, bytes, size);
    fuzz_write(file, bytes, size);
    graphss_ctx *ctx = fuzz_ctx();
    if (graphss_i_manifest_read(ctx, &read, folder) == GRAPHSS_OK)
        must(read.n_parts > 0 && read.part);
    else
        must(!read.part && graphss_ctx_error(ctx)[0]);
    graphss_i_manifest_destroy(ctx, &read);
    must(graphss_i_file_digest(ctx, part[0].sha256, file) == GRAPHSS_OK);
    if (graphss_i_shard_read(ctx, &shard, &given, 0, folder) == GRAPHSS_OK)
        check_shard(&shard);
    else
        must(!shard.node && graphss_ctx_error(ctx)[0]);
    graphss_i_shard_destroy(ctx, &shard);
    graphss_ctx_free(ctx);
    (void)remove(manifest);
    (void)remove(file);
    (void)rmdir(folder);
    return 0;
}
