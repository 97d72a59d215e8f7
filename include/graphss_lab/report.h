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
    uint64_t reserved[4]; /* 0 */
} graphss_report_summary;

GRAPHSS_API void graphss_report_options_init(graphss_report_options *opt);

/* Reads records (a file, or a folder: its records.jsonl and those of folders in it) and writes
 * the report, completely or not at all. summary and opt may be NULL. Errors: INVALID (no known
 * ending), NOT_FOUND, DATA (a line that is no record: file, line and what was wanted), LIMIT,
 * IO, NOMEM. */
GRAPHSS_MUST_CHECK graphss_status graphss_report_write(graphss_ctx *ctx,
    graphss_report_summary *summary, const char *records, const char *path,
    const graphss_report_options *opt);

/* ---- a page about one snapshot, to send to a colleague ---- */

/* A line of a list: a name and its text. */
typedef struct graphss_page_line {
    const char *name, *text;
} graphss_page_line;

/* A suspicious node. */
typedef struct graphss_page_node {
    const char *name;
    double perturbed, p_value;  /* NaN: not known */
    const char *label, *before; /* its label, and the classifier's own where that differs; or
                                 * NULL */
    const char *const *reason;  /* [n_reasons] a sentence each; may be none */
    size_t n_reasons;
} graphss_page_node;

/* All texts are borrowed for the call, and may hold anything: the page shows them as they
 * are. */
typedef struct graphss_page {
    const char *title, *lead; /* lead: what was judged, and when; or NULL */
    const char *verdict;      /* in a sentence or two */
    const char *word;         /* before it; NULL: "alert" or "no alert" */
    bool alarming;            /* whether it is styled as an alert */
    const graphss_page_line *fact;
    size_t n_facts;
    const graphss_page_node *node;
    size_t n_nodes;        /* that are listed */
    size_t nodes_more;     /* that are not */
    const char *node_note; /* what the list is; or NULL */
    const graphss_page_line *change;
    size_t n_changes;
    const char *change_note;   /* shown instead of changes: why there are none; or NULL */
    const char *const *unseen; /* [n_unseen] what was not examined */
    size_t n_unseen;
    const graphss_page_line *setting;
    size_t n_settings;
} graphss_page;

/* Writes one page of HTML that needs nothing else, whole or not at all. IO, NOMEM. */
GRAPHSS_MUST_CHECK graphss_status graphss_page_write(
    graphss_ctx *ctx, const graphss_page *page, const char *path);

#ifdef __cplusplus
}
#endif
#endif
