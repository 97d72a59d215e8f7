/* labels.c - labels of nodes as a table that a spreadsheet opens: FILE.csv or FILE.tsv. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

bool cli_is_table(const char *path)
{
    return cli_has_extension(path, ".csv") || cli_has_extension(path, ".tsv");
}

graphss_status cli_check_labels(cli *app, const char *path)
{
    if (cli_has_extension(path, ".npz") || cli_is_table(path))
        return GRAPHSS_OK;
    return cli_usage(
        app, "%s: %s: want a name that ends in .npz, .csv or .tsv", app->command->name, path);
}

const char *cli_name_at(const graphss_names *names, size_t i, char buffer[24])
{
    if (names->count)
        return graphss_names_get(names, i);
    snprintf(buffer, 24, "%zu", i);
    return buffer;
}

/* Quotes as in RFC 4180, also for text that begins or ends with a blank. */
static void put_quoted(FILE *out, const char *text)
{
    const size_t n = strlen(text);
    const char *guard = graphss_name_guard(text);
    if (n && !*guard && text[0] != ' ' && text[n - 1] != ' ' &&
        !text[strcspn(text, ",;\"\t\r\n")]) {
        fputs(text, out);
        return;
    }
    fprintf(out, "\"%s", guard);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

void cli_put_name(FILE *out, bool tabs, const graphss_names *names, size_t i)
{
    char buffer[24];
    const char *name = cli_name_at(names, i, buffer);
    if (!tabs) {
        put_quoted(out, name);
        return;
    }
    fputs(graphss_name_guard(name), out);
    char *escaped = cli_alloc(2 * strlen(name) + 1, 1);
    graphss_name_escape(escaped, name);
    fputs(escaped, out);
    free(escaped);
}

double cli_label_chance(const graphss_predictions *p, size_t node)
{
    const size_t at = node * p->n_classes + (size_t)p->label[node];
    return p->posterior ? p->posterior[at] : (double)p->prob[at];
}

graphss_status cli_write_labels(
    cli *app, const graphss_predictions *p, const int32_t *own, const char *path)
{
    if (!cli_is_table(path))
        return graphss_predictions_write(app->ctx, p, path);
    const bool tabs = cli_has_extension(path, ".tsv");
    const char between = tabs ? '\t' : ',';
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return cli_fail(app, GRAPHSS_ERR_NOMEM, "no memory for %s", path);
    fprintf(out, "node%clabel%cprobability", between, between);
    if (own)
        fprintf(out, "%cclassifier_label%cperturbed", between, between);
    fputc('\n', out);
    for (size_t i = 0; i < p->n_nodes; i++) {
        cli_put_name(out, tabs, &p->node_names, i);
        fputc(between, out);
        if (p->label[i] >= 0) { /* withheld: both are empty */
            cli_put_name(out, tabs, &p->class_names, (size_t)p->label[i]);
            fprintf(out, "%c%.9g", between, cli_label_chance(p, i));
        } else {
            fputc(between, out);
        }
        if (own) {
            fputc(between, out);
            cli_put_name(out, tabs, &p->class_names, (size_t)own[i]);
            fprintf(out, "%c%.9g", between, p->perturbed[i]);
        }
        fputc('\n', out);
    }
    const bool bad = ferror(out) != 0;
    const graphss_status st = fclose(out) != 0 || bad
                                  ? cli_fail(app, GRAPHSS_ERR_NOMEM, "no memory for %s", path)
                                  : cli_write_file(app, path, text, size);
    free(text);
    return st;
}
