/* fuzz_records.c - any bytes as records: taken line by line, or refused. */
#include "fuzz_check.h"
#include "lab/experiment/records.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    graphss_ctx *ctx = fuzz_ctx();
    json_t *index = json_object();
    size_t lines = 0, whole = 0;
    must(index != NULL);
    const graphss_status st =
        graphss_i_records_parse(ctx, index, &lines, &whole, (const char *)bytes, size, "fuzz");
    must(whole <= size && json_object_size(index) <= lines);
    if (st == GRAPHSS_OK)
        must(size == whole || !memchr(bytes + whole, '\n', size - whole));
    else
        must(graphss_ctx_error(ctx)[0]);
    json_decref(index);
    graphss_ctx_free(ctx);
    return 0;
}
