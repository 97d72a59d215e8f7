/* graphss_lab/report.h - tables and plots from the records of `graphss reproduce`.
 *
 *     graphss_report_write(ctx, NULL, "results", "report.html", NULL);
 *
 * The records are lines of JSON (docs/records.md); the end of the file's name chooses the
 * format: .html is one page that needs nothing else, .md the same for a repository, .tex the
 * tables for LaTeX (booktabs), .csv all their numbers. The figures of the paper stand beside
 * ours, and what was not run is said. */
#ifndef GRAPHSS_LAB_REPORT_H
#define GRAPHSS_LAB_REPORT_H

#include <graphss/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct graphss_report_options {
    uint32_t struct_size; /* sizeof(graphss_report_options) */
    const char *plots;    /* folder for plots as SVG files, created if missing; NULL: none */
} graphss_report_options;

typedef struct graphss_report_summary {
    size_t cells, errors; /* records read, and how many of them are failures */
    size_t tables, plots;
} graphss_report_summary;

GRAPHSS_API void graphss_report_options_init(graphss_report_options *opt);

/* Reads records (a file, or a folder: its records.jsonl and those of folders in it) and writes
 * the report, completely or not at all. summary and opt may be NULL. Errors: INVALID (no known
 * ending), NOT_FOUND, DATA (a line that is no record: file, line and what was wanted), LIMIT,
 * IO, NOMEM. */
GRAPHSS_MUST_CHECK graphss_status graphss_report_write(graphss_ctx *ctx,
                                                       graphss_report_summary *summary,
                                                       const char *records, const char *path,
                                                       const graphss_report_options *opt);

#ifdef __cplusplus
}
#endif
#endif
