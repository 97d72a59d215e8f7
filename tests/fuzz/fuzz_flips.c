/* fuzz_flips.c - any bytes as a list of changes; what fits is applied and taken back. */
#include "fuzz_check.h"
#include <graphss/flips.h>
#include <graphss/synth.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char folder[64], path[96];
    fuzz_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/list.flips", folder);
    fuzz_write(path, bytes, size);
    graphss_ctx *ctx = fuzz_ctx();
    graphss_dataset data = {0}, changed = {0}, back = {0};
    graphss_flips flips = {0};
    graphss_synth_options opt;
    graphss_synth_options_init(&opt);
    opt.nodes = 12;
    opt.classes = 2;
    opt.features = 9;
    opt.words = 3;
    must(graphss_synth_make(ctx, &data, &opt) == GRAPHSS_OK);
    if (graphss_flips_read(ctx, &flips, path, &data) == GRAPHSS_OK) {
        graphss_apply_options how = {.struct_size = sizeof how, .force = true};
        const graphss_status st = graphss_flips_apply(ctx, &changed, &data, &flips, &how);
        fuzz_check_dataset(ctx, &changed, st);
        how.undo = true;
        if (st == GRAPHSS_OK && !flips.normalised_rows) {
            must(graphss_flips_apply(ctx, &back, &changed, &flips, &how) == GRAPHSS_OK);
            must(strcmp(back.hash, data.hash) == 0);
        }
    } else {
        must(!flips.item && graphss_ctx_error(ctx)[0]);
    }
    graphss_flips_destroy(ctx, &flips);
    graphss_dataset_destroy(ctx, &back);
    graphss_dataset_destroy(ctx, &changed);
    graphss_dataset_destroy(ctx, &data);
    graphss_ctx_free(ctx);
    (void)remove(path);
    (void)rmdir(folder);
    return 0;
}
