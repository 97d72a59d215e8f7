/* fuzz_report.c - any bytes as records; what is read becomes a page, in memory. */
#include "fuzz_check.h"
#include "lab/report/document.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    graphss_ctx *ctx = fuzz_ctx();
    graphss_i_runs records = {0};
    graphss_i_document d = {0};
    graphss_i_writer writer = {.ctx = ctx};
    char *text = malloc(size + 1);
    must(text != NULL);
    memcpy(text, bytes, size);
    text[size] = 0;
    const graphss_status st = graphss_i_runs_parse(ctx, &records, text, size, "records");
    if (st == GRAPHSS_OK) {
        graphss_i_document_fill(&d, &records, "records");
        must(records.arena.status == GRAPHSS_OK);
        graphss_i_format_html(&writer, &d);
        must(writer.status == GRAPHSS_OK && strstr(writer.text, "</html>\n"));
        must(graphss_i_is_utf8((const unsigned char *)writer.text, writer.n));
    } else {
        must(graphss_ctx_error(ctx)[0] && !records.record);
    }
    graphss_i_writer_done(&writer);
    graphss_i_runs_destroy(&records);
    graphss_ctx_free(ctx);
    free(text);
    return 0;
}
