/* help.c - --help from the command and option tables: examples first, then the description,
 * then the options with their defaults. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

enum { NARROWEST = 40, WIDEST = 100 };

/* Columns of a line: those of the terminal, or COLUMNS. */
static size_t line_width(void)
{
    const char *columns = getenv("COLUMNS");
    char *end = NULL;
    long width = columns ? strtol(columns, &end, 10) : 0;
    if (!columns || end == columns || *end || width <= 0)
        width = terminal_width(STDOUT_FILENO);
    return (size_t)(width < NARROWEST ? NARROWEST : width > WIDEST ? WIDEST : width);
}

/* Where the texts of a list begin; on a narrow terminal they stand below the names. */
static size_t text_column(size_t wanted)
{
    return line_width() < 2 * wanted ? 8 : wanted;
}

/* Prints text from column on, broken between words. */
void cli_wrap(FILE *out, const char *text, size_t column, size_t at)
{
    const size_t width = line_width();
    while (*text) {
        const size_t word = strcspn(text, " \n");
        if (at > column && at + 1 + word > width) {
            fprintf(out, "\n%*s", (int)column, "");
            at = column;
        } else if (at > column) {
            fputc(' ', out);
            at++;
        }
        fwrite(text, 1, word, out);
        at += word;
        text += word;
        text += strspn(text, " \n");
    }
    fputc('\n', out);
}

/* A name and, from `column` on, its meaning. */
static void list_entry(FILE *out, const char *name, const char *text, size_t column)
{
    column = text_column(column);
    size_t at = (size_t)fprintf(out, "%s", name);
    if (at + 2 > column) {
        fputc('\n', out);
        at = 0;
    }
    fprintf(out, "%*s", (int)(column - at), "");
    cli_wrap(out, text, column, column);
}

/* defaults NULL: they are not shown. */
static void option_help(
    FILE *out, const cli_group *group, const graphss_option *row, const void *defaults)
{
    char left[128], right[2048], text[64] = "";
    char letter[8] = "    ";
    if (row->letter)
        snprintf(letter, sizeof letter, "-%c, ", row->letter);
    int used = snprintf(left, sizeof left, "  %s--%s", letter, row->name);
    if (row->type != GRAPHSS_OPTION_BOOL)
        snprintf(
            left + used, sizeof left - (size_t)used, " %s", row->value ? row->value : "VALUE");

    used = snprintf(right, sizeof right, "%s", row->help);
    for (size_t i = 0; cli_value_at(group, row, i) && (size_t)used < sizeof right; i++)
        used += snprintf(right + used, sizeof right - (size_t)used, "%s%s",
            i ? ", " : "; one of ", cli_value_at(group, row, i));
    used = (size_t)used < sizeof right ? used : (int)sizeof right - 1;
    const bool on = defaults && row->type == GRAPHSS_OPTION_BOOL &&
                    *(const bool *)((const char *)defaults + row->offset);
    if (defaults && row->type != GRAPHSS_OPTION_BOOL)
        graphss_option_text(text, sizeof text, defaults, row);
    if (on)
        snprintf(
            right + used, sizeof right - (size_t)used, " (default yes; --no-%s)", row->name);
    else if (*text && !strstr(row->help, "default"))
        snprintf(right + used, sizeof right - (size_t)used, " (default %s)", text);

    list_entry(out, left, right, 30);
}

static void group_help(FILE *out, const cli_command *command, int g)
{
    const cli_group *group = g < 0 ? &cli_global_group : &command->group[g];
    void *defaults = cli_alloc(1, group->size);
    group->defaults(defaults);
    fprintf(out, "\n%s:\n", group->title);
    bool (*settled)(const graphss_option *) = g < 0 ? NULL : command->settled;
    for (const graphss_option *row = group->table(); row->name; row++)
        if (row->help && !cli_row_hidden(command, g, row))
            option_help(out, group, row, !settled || settled(row) ? defaults : NULL);
    free(defaults);
}

/* A long command is continued in the next line with a backslash, so that it can be pasted. */
static void example(FILE *out, const char *text, size_t length)
{
    const size_t width = line_width();
    size_t at = (size_t)fprintf(out, "  graphss");
    while (length > 0) {
        const size_t gap = strspn(text, " ");
        size_t word = gap < length ? strcspn(text + gap, " \n") : 0;
        word = gap + word > length ? length - gap : word;
        if (word == 0)
            break;
        if (at + 1 + word + 2 > width && at > 9) {
            fputs(" \\\n     ", out);
            at = 5;
        }
        at += (size_t)fprintf(out, " %.*s", (int)word, text + gap);
        text += gap + word;
        length -= gap + word;
    }
    fputc('\n', out);
}

static void examples_help(FILE *out, const char *examples)
{
    fputs("Examples:\n", out);
    while (*examples) {
        const size_t length = strcspn(examples, "\n");
        example(out, examples, length);
        examples += length + (examples[length] == '\n');
    }
}

static void overview(FILE *out)
{
    examples_help(out, "demo\n"
                       "fetch cora\n"
                       "train cora --model gcn -o cora.model\n"
                       "train my_folder/ --model gcn -o my.model\n");
    fputc('\n', out);
    cli_wrap(out, "Usage: graphss [global options] COMMAND [arguments]", 0, 0);
    fputc('\n', out);
    cli_wrap(out, "Node classifiers on graphs that change.", 0, 0);
    fputs("\nCommands:\n", out);
    for (size_t i = 0; cli_command_at(i); i++) {
        char *name = cli_format("  %s", cli_command_at(i)->name);
        list_entry(out, name, cli_command_at(i)->summary, 14);
        free(name);
    }
    group_help(out, NULL, -1);
    fputc('\n', out);
    cli_wrap(out,
        "A DATASET is a name (cora, citeseer, pubmed, amazon_photo, coauthor_cs), a file "
        "(.npz, edge list), a Planetoid prefix (dir/ind.cora), a folder with nodes.csv "
        "and edges.csv, or synth:nodes=1000,degree=5,... for a generated graph.",
        0, 0);
    fputc('\n', out);
    cli_wrap(out,
        "See `graphss help COMMAND`. Exit codes: 0 done, 1 alert raised an alert, 2 wrong "
        "usage, 3 bad input, 4 memory, disk or output, 5 network or checksum, 70 a bug of "
        "ours, 130 interrupted.",
        0, 0);
}

void cli_help(FILE *out, const cli_command *command)
{
    if (!command) {
        overview(out);
        return;
    }
    examples_help(out, command->examples);
    char *usage = cli_format("Usage: graphss %s %s", command->name, command->arguments);
    fputc('\n', out);
    cli_wrap(out, usage, 0, 0);
    fputc('\n', out);
    free(usage);
    cli_wrap(out, command->summary, 0, 0);
    for (const char *about = command->about; about && *about;) {
        const size_t length = strcspn(about, "\n");
        char *paragraph = cli_format("%.*s", (int)length, about);
        fputc('\n', out);
        cli_wrap(out, paragraph, 0, 0);
        free(paragraph);
        about += length + (about[length] == '\n');
    }
    for (int g = 0; g < CLI_MAX_GROUPS && command->group[g].table; g++)
        group_help(out, command, g);
    group_help(out, command, -1);
}
