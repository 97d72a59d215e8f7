/* fuzz_recipe.c - any bytes as a recipe: lines with a key, or refused. */
#include "fuzz_check.h"
#include "lab/experiment/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
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
