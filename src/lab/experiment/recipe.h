/* recipe.h - what an experiment is made of, as a small text file (docs/reproduce.md).
 *
 *     # a remark
 *     key = value
 *     key@dataset = value     for that dataset alone
 *     point 5 = attack.links=5 attack.features=50
 */
#ifndef GRAPHSS_RECIPE_H
#define GRAPHSS_RECIPE_H

#include "base/base.h"

typedef struct graphss_i_recipe_line {
    const char *key, *value;
    const char *at; /* the dataset it is for; NULL: any */
    size_t number;  /* of the line, from 1 */
} graphss_i_recipe_line;

/* {0} is empty. All text is in one block of its own. */
typedef struct graphss_i_recipe {
    char *text;
    const char *name; /* "defence-honest" */
    graphss_i_recipe_line *line;
    size_t n_lines;
} graphss_i_recipe;

/* Parses a recipe. DATA: a malformed line or a duplicate key, with name and line. Keys are not
 * checked. */
graphss_status graphss_i_recipe_parse(graphss_ctx *ctx, graphss_i_recipe *out,
                                      const char *name, const char *bytes, size_t n);
/* INVALID: "recipe NAME: line N: what". */
graphss_status graphss_i_recipe_refuse(graphss_ctx *ctx, const graphss_i_recipe *recipe,
                                       size_t line, const char *what);
void graphss_i_recipe_destroy(graphss_ctx *ctx, graphss_i_recipe *recipe);
/* The value of a key for a dataset (NULL: none in particular), or NULL. */
const char *graphss_i_recipe_get(const graphss_i_recipe *recipe, const char *key,
                                 const char *dataset);
/* True if both are the same dataset. A path counts as the name of its file. */
bool graphss_i_same_dataset(const char *a, const char *b);

/* The recipes of the program, by number; false past the last. */
bool graphss_i_recipe_built_in(size_t i, const char **name, const char **bytes, size_t *n);

/* The next word of a list with spaces between, which is not ended by NUL: its length, *text
 * at its beginning; 0 at the end. */
size_t graphss_i_word(const char **text);
/* A list from the command line, "a,b", as words with spaces between; "synth:a=1,b=2" stays
 * one word. The caller releases it. NULL: no memory. */
char *graphss_i_words_of(graphss_ctx *ctx, const char *list);
bool graphss_i_word_in(const char *word, size_t n, const char *words);

#endif
