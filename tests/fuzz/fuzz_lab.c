/* fuzz_lab.c - targets for the formats of the laboratory. CMakeLists.txt names the entry of
 * each. */
#include "fuzz_check.h"
#include "lab/experiment/plan.h"
#include "lab/experiment/records.h"
#include "lab/report/document.h"

/* Any bytes as a recipe: lines with a key, or refused. */
FUZZ_TARGET recipe(const uint8_t *bytes, size_t size)
{
    graphss_ctx *ctx = fuzz_ctx();
    graphss_i_recipe recipe = {0};
    const graphss_status st =
        graphss_i_recipe_parse(ctx, &recipe, "fuzz", (const char *)bytes, size);
    if (st != GRAPHSS_OK)
        must(!recipe.text && !recipe.line && graphss_ctx_error(ctx)[0]);
    for (size_t i = 0; i < recipe.n_lines; i++) {
        const graphss_i_recipe_line *line = &recipe.line[i];
        must(line->number > (i ? recipe.line[i - 1].number : 0));
        must(strlen(line->key) + strlen(line->value) < size + 1);
        must(graphss_i_recipe_get(&recipe, line->key, line->at) != NULL);
        const char *word = line->value;
        for (size_t n; (n = graphss_i_word(&word)) > 0; word += n)
            must(graphss_i_word_in(word, n, line->value));
        char *words = graphss_i_words_of(ctx, line->value);
        must(words && strlen(words) == strlen(line->value));
        graphss_release(ctx, words);
    }
    graphss_i_recipe_destroy(ctx, &recipe);
    graphss_ctx_free(ctx);
    return 0;
}

/* Any bytes as records: taken line by line, or refused. */
FUZZ_TARGET records(const uint8_t *bytes, size_t size)
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

/* Any bytes as records; a page is made of them in memory. */
FUZZ_TARGET report(const uint8_t *bytes, size_t size)
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

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    return FUZZ_ENTRY(bytes, size);
}
