/* help.c - --help from the command and option tables: examples first, then what, then the
 * options with their defaults. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

enum { HELP_COLUMN = 30, HELP_WIDTH = 80 };

/* Prints text from column on, broken between words. */
void cli_wrap(FILE *out, const char *text, size_t column, size_t at)
{
    while (*text) {
        const size_t word = strcspn(text, " \n");
        if (at > column && at + 1 + word > HELP_WIDTH) {
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

/* defaults NULL: nothing is said of them. */
static void option_help(FILE *out, const cli_group *group, const graphss_option *row,
                        const void *defaults)
{
    char left[128], right[2048], text[64] = "";
    char letter[8] = "    ";
    if (row->letter)
        snprintf(letter, sizeof letter, "-%c, ", row->letter);
    int used = snprintf(left, sizeof left, "  %s--%s", letter, row->name);
    if (row->type != GRAPHSS_OPTION_BOOL)
        snprintf(left + used, sizeof left - (size_t)used, " %s",
                 row->value ? row->value : "VALUE");

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
        snprintf(right + used, sizeof right - (size_t)used, " (default yes; --no-%s)",
                 row->name);
    else if (*text && !strstr(row->help, "default"))
        snprintf(right + used, sizeof right - (size_t)used, " (default %s)", text);

    size_t at = (size_t)fprintf(out, "%s", left);
    if (at + 2 > HELP_COLUMN) {
        fputc('\n', out);
        at = 0;
    }
    fprintf(out, "%*s", HELP_COLUMN - (int)at, "");
    cli_wrap(out, right, HELP_COLUMN, HELP_COLUMN);
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

static void examples_help(FILE *out, const char *examples)
{
    fputs("Examples:\n", out);
    while (*examples) {
        const size_t length = strcspn(examples, "\n");
        fprintf(out, "  graphss %.*s\n", (int)length, examples);
        examples += length + (examples[length] == '\n');
    }
}

static void overview(FILE *out)
{
    examples_help(out, "demo\n"
                       "fetch cora\n"
                       "train cora --model gcn -o cora.model\n"
                       "train my_folder/ --model gcn -o my.model\n");
    fputs("\nUsage: graphss [global options] COMMAND [arguments]\n\n"
          "Node classifiers on graphs that change.\n\nCommands:\n",
          out);
    for (size_t i = 0; cli_command_at(i); i++)
        fprintf(out, "  %-10s  %s\n", cli_command_at(i)->name, cli_command_at(i)->summary);
    group_help(out, NULL, -1);
    fputs("\nA DATASET is a name (cora, citeseer, pubmed, amazon_photo, coauthor_cs), a file\n"
          "(.npz, edge list), a Planetoid prefix (dir/ind.cora), a folder with nodes.csv and\n"
          "edges.csv, or synth:nodes=1000,degree=5,... for a generated graph.\n"
          "\n`graphss help COMMAND` tells more. Exit codes: 0 done, 1 alert raised an alert,\n"
          "2 wrong usage, 3 bad input, 4 memory, disk or output, 5 network or checksum,\n"
          "70 a bug of ours, 130 interrupted.\n",
          out);
}

void cli_help(FILE *out, const cli_command *command)
{
    if (!command) {
        overview(out);
        return;
    }
    examples_help(out, command->examples);
    fprintf(out, "\nUsage: graphss %s%s%s\n\n", command->name, *command->arguments ? " " : "",
            command->arguments);
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
