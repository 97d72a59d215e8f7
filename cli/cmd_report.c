/* cmd_report.c - tables and plots from the records of reproduce. */
#include <stddef.h>

#include "cli.h"

typedef struct report_arguments {
    const char *output, *plots;
} report_arguments;

#define FIELD(name) offsetof(report_arguments, name)
static const graphss_option rows[] = {
    {"output", GRAPHSS_OPTION_STRING, FIELD(output), 0, 0, NULL, "FILE",
        "where to write: .html, .md, .tex or .csv", 'o'},
    {"plots", GRAPHSS_OPTION_STRING, FIELD(plots), 0, 0, NULL, "DIR",
        "also write each plot as an SVG file into this folder", 0},
    {0},
};

static const graphss_option *table_of(void)
{
    return rows;
}

static void defaults(void *options)
{
    *(report_arguments *)options = (report_arguments){0};
}

static graphss_status run(cli *app)
{
    report_arguments own = {0};
    graphss_report_summary made = {0};
    graphss_status st = cli_apply(app, 0, &own);
    if (st)
        return st;
    if (!own.output)
        return cli_usage(app, "report: want -o FILE");
    if (!cli_has_extension(own.output, ".html") && !cli_has_extension(own.output, ".htm") &&
        !cli_has_extension(own.output, ".md") && !cli_has_extension(own.output, ".tex") &&
        !cli_has_extension(own.output, ".csv"))
        return cli_usage(
            app, "report: %s: want a name that ends in .html, .md, .tex or .csv", own.output);
    st = cli_check_output(app, own.output, app->argument, 1);
    if (st)
        return st;
    graphss_report_options opt;
    graphss_report_options_init(&opt);
    opt.plots = own.plots;
    st = graphss_report_write(app->ctx, &made, app->argument[0], own.output, &opt);
    if (st)
        return st;
    if (app->json) {
        cli_json_set(app->json, "path", cli_json_text(own.output));
        cli_json_set(app->json, "records", json_integer((json_int_t)made.cells));
        cli_json_set(app->json, "errors", json_integer((json_int_t)made.errors));
        cli_json_set(app->json, "tables", json_integer((json_int_t)made.tables));
        cli_json_set(app->json, "plots", json_integer((json_int_t)made.plots));
        return GRAPHSS_OK;
    }
    printf("Records  %zu", made.cells);
    if (made.errors)
        printf(", %zu of them failures", made.errors);
    printf("\nMade     %zu tables, %zu plots\nWritten  ", made.tables, made.plots);
    terminal_text(&app->term, stdout, own.output, 0);
    printf("\n");
    return GRAPHSS_OK;
}

const cli_command cli_report = {
    .name = "report",
    .arguments = "DIR -o FILE",
    .summary = "Tables and plots from the records of reproduce",
    .about =
        "DIR holds records.jsonl, or folders that do. The ending of FILE chooses the format: "
        ".html is one self-contained page, .md the same as Markdown, .tex the tables for "
        "LaTeX, .csv all their numbers. Experiments that were not run are listed.\n",
    .examples = "report results -o report.html\n"
                "report results -o report.md --plots plots\n"
                "report results -o tables.csv\n",
    .min_arguments = 1,
    .max_arguments = 1,
    .group = {{"Options", table_of, sizeof(report_arguments), defaults}},
    .run = run,
};
