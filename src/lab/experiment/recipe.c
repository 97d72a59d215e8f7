/* recipe.c - see plan.h. */
#include "lab/experiment/plan.h"

#include <string.h>

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Takes blanks off both ends, writing a NUL; text [from, to) of a block that may be written.
 */
static char *trimmed(char *from, char *to)
{
    while (from < to && blank(*from))
        from++;
    while (to > from && blank(to[-1]))
        to--;
    *to = '\0';
    return from;
}

static graphss_status parse_line(
    graphss_ctx *ctx, graphss_i_recipe *r, char *from, char *to, size_t number)
{
    char *equals = memchr(from, '=', (size_t)(to - from));
    char *key = trimmed(from, equals ? equals : to);
    if (!*key && !equals)
        return GRAPHSS_OK;
    if (!equals || !*key)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "recipe %s: line %zu: found '%.60s', want 'key = value'", r->name, number, key);
    graphss_i_recipe_line line = {
        .key = key, .value = trimmed(equals + 1, to), .number = number};
    char *at = strchr(key, '@');
    if (at) {
        *at = '\0';
        line.at = at + 1;
    }
    for (size_t i = 0; i < r->n_lines; i++) {
        const graphss_i_recipe_line *old = &r->line[i];
        if (!strcmp(old->key, key) && !old->at == !line.at &&
            (!line.at || !strcmp(old->at, line.at)))
            return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                "recipe %s: line %zu: '%.60s' stands in line %zu already", r->name, number,
                key, old->number);
    }
    r->line[r->n_lines++] = line;
    return GRAPHSS_OK;
}

graphss_status graphss_i_recipe_parse(
    graphss_ctx *ctx, graphss_i_recipe *out, const char *name, const char *bytes, size_t n)
{
    graphss_i_recipe r = {0};
    const size_t n_name = strlen(name) + 1;
    size_t lines = 1;
    graphss_status st = GRAPHSS_OK;
    if (memchr(bytes, '\0', n) || !graphss_i_is_utf8((const unsigned char *)bytes, n))
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "recipe %s: want UTF-8 text", name);
    for (size_t i = 0; i < n; i++)
        lines += bytes[i] == '\n';
    r.text = graphss_i_alloc(ctx, n + n_name + 1, 1);
    r.line = graphss_i_calloc(ctx, lines, sizeof *r.line);
    if (!r.text || !r.line) {
        st = GRAPHSS_ERR_NOMEM;
        goto done;
    }
    memcpy(r.text, name, n_name);
    r.name = r.text;
    char *at = r.text + n_name, *const end = at + n;
    memcpy(at, bytes, n);
    *end = '\0';
    for (size_t number = 1; at < end && !st; number++) {
        char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop)
            stop = end;
        char *remark = memchr(at, '#', (size_t)(stop - at));
        st = parse_line(ctx, &r, at, remark ? remark : stop, number);
        at = stop + 1;
    }
done:
    if (st)
        graphss_i_recipe_destroy(ctx, &r);
    else
        *out = r;
    return st;
}

graphss_status graphss_i_recipe_refuse(
    graphss_ctx *ctx, const graphss_i_recipe *recipe, size_t line, const char *what)
{
    return graphss_i_fail(
        ctx, GRAPHSS_ERR_INVALID, "recipe %s: line %zu: %s", recipe->name, line, what);
}

void graphss_i_recipe_destroy(graphss_ctx *ctx, graphss_i_recipe *recipe)
{
    graphss_release(ctx, recipe->text);
    graphss_release(ctx, recipe->line);
    *recipe = (graphss_i_recipe){0};
}

static const char *base_name(const char *path, size_t *n)
{
    *n = strlen(path);
    if (!strncmp(path, "synth:", 6))
        return path;
    while (*n > 1 && path[*n - 1] == '/')
        --*n;
    size_t from = *n;
    while (from > 0 && path[from - 1] != '/')
        from--;
    *n -= from;
    if (*n > 4 && !strncmp(path + from + *n - 4, ".npz", 4))
        *n -= 4;
    return path + from;
}

bool graphss_i_same_dataset(const char *a, const char *b)
{
    size_t n, m;
    a = base_name(a, &n);
    b = base_name(b, &m);
    return n == m && !memcmp(a, b, n);
}

const char *graphss_i_recipe_get(
    const graphss_i_recipe *recipe, const char *key, const char *dataset)
{
    const char *found = NULL;
    for (size_t i = 0; i < recipe->n_lines; i++) {
        const graphss_i_recipe_line *line = &recipe->line[i];
        if (strcmp(line->key, key) != 0)
            continue;
        if (line->at && dataset && graphss_i_same_dataset(line->at, dataset))
            return line->value;
        if (!line->at)
            found = line->value;
    }
    return found;
}

size_t graphss_i_word(const char **text)
{
    while (blank(**text))
        ++*text;
    size_t n = 0;
    while ((*text)[n] && !blank((*text)[n]))
        n++;
    return n;
}

bool graphss_i_word_in(const char *word, size_t n, const char *words)
{
    for (size_t m; (m = graphss_i_word(&words)) > 0; words += m)
        if (m == n && !memcmp(word, words, n))
            return true;
    return false;
}

char *graphss_i_words_of(graphss_ctx *ctx, const char *list)
{
    char *words = graphss_i_strdup(ctx, list);
    bool synth = false;
    for (char *at = words; at && *at;) {
        const size_t n = strcspn(at, ",");
        char *next = at + n;
        synth = !strncmp(at, "synth:", 6) || (synth && memchr(at, '=', n));
        /* True if the next piece continues the options of a generated graph. */
        const size_t m = *next ? strcspn(next + 1, ",") : 0;
        const bool goes_on =
            synth && *next && memchr(next + 1, '=', m) && strncmp(next + 1, "synth:", 6) != 0;
        if (*next) {
            if (!goes_on)
                *next = ' ';
            next++;
        }
        at = next;
    }
    return words;
}

static const struct {
    const char *name;
    const unsigned char *bytes;
    size_t n;
} built_in[] = {
#include "recipe_rows.h"
};

bool graphss_i_recipe_built_in(size_t i, const char **name, const char **bytes, size_t *n)
{
    if (i >= sizeof built_in / sizeof *built_in)
        return false;
    *name = built_in[i].name;
    *bytes = (const char *)built_in[i].bytes;
    *n = built_in[i].n;
    return true;
}
