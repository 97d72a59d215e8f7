/* report.c - records in, a file out. The ending of the file's name selects the format. */
#include <graphss_lab/report.h>

#include <string.h>

#include "lab/report/document.h"

void graphss_report_options_init(graphss_report_options *opt)
{
    *opt = (graphss_report_options){.struct_size = sizeof(graphss_report_options)};
}

static const char *extension(const char *path)
{
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    return dot && (!slash || dot > slash) ? dot : "";
}

void graphss_i_document_fill(
    graphss_i_document *d, graphss_i_runs *records, const char *folder)
{
    size_t errors = 0;
    d->arena = &records->arena;
    for (size_t i = 0; i < records->n; i++)
        errors += records->record[i].error != NULL;
    d->title = "GraphSS: attack, alert and recovery, measured";
    d->lead =
        "A classifier labels the nodes of a graph. An attacker changes a few links and "
        "features "
        "so that chosen nodes, the victims, get a wrong label. Below is how many victims are "
        "labelled correctly without a defence, by other defences and by GraphSS, how well "
        "graphss alert notices the attack, and where GraphSS fails.";
    graphss_i_sentence(d,
        graphss_i_arena_say(d->arena,
            "Made from %zu results%s of graphss reproduce. Accuracies are means over runs ± "
            "one standard deviation; n is the number of runs. Figures of the paper stand "
            "beside ours where it has them.",
            records->n - errors,
            errors ? graphss_i_arena_say(d->arena, " and %zu failures", errors) : ""));
    graphss_i_section_answers(d, records);
    graphss_i_section_findings(d, records);
    graphss_i_section_paper(d, records);
    graphss_i_section_defence(d, records);
    graphss_i_section_attackers(d, records);
    graphss_i_section_alert(d, records);
    graphss_i_section_runtime(d, records);
    graphss_i_section_ablation(d, records);
    graphss_i_section_sweeps(d, records);
    graphss_i_section_confusion(d, records);
    graphss_i_section_calibration(d, records);
    graphss_i_section_datasets(d, records);
    graphss_i_section_runs(d, records, folder);
}

/* Each panel of each figure as a file of its own. */
static graphss_status write_plots(
    graphss_ctx *ctx, const graphss_i_document *d, const char *folder)
{
    graphss_status st = graphss_i_folder_make(ctx, folder);
    for (size_t i = 0; i < d->n && !st; i++) {
        const graphss_i_figure *f = d->block[i].figure;
        if (d->block[i].kind != GRAPHSS_I_BLOCK_FIGURE)
            continue;
        for (size_t k = 0; k < f->n && !st; k++) {
            graphss_i_writer writer = {.ctx = ctx};
            char *path = graphss_i_format(
                ctx, "%s/%s-%zu.svg", folder, graphss_i_safe(f->id).text, k + 1);
            graphss_i_panel_svg(&writer, &f->panel[k], "p", true);
            st = path ? graphss_i_writer_save(&writer, path) : GRAPHSS_ERR_NOMEM;
            graphss_release(ctx, path);
            graphss_i_writer_done(&writer);
        }
    }
    return st;
}

/* The folder of the plots as the page sees it: below the page's own folder, without that. */
static const char *seen_from(const char *page, const char *plots)
{
    const char *slash = strrchr(page, '/');
    if (!plots || !slash)
        return plots;
    const size_t n = (size_t)(slash - page) + 1;
    return strncmp(page, plots, n) == 0 ? plots + n : plots;
}

graphss_status graphss_report_write(graphss_ctx *ctx, graphss_report_summary *summary,
    const char *folder, const char *path, const graphss_report_options *options)
{
    if (GRAPHSS_I_LACKS(ctx, {"records", folder}, {"path", path}))
        return GRAPHSS_ERR_INVALID;
    graphss_report_options opt;
    graphss_report_options_init(&opt);
    graphss_status st = GRAPHSS_I_TAKE(ctx, graphss_report_options, &opt, options);
    if (st)
        return st;
    const char *kind = extension(path);
    const bool html = !strcmp(kind, ".html") || !strcmp(kind, ".htm");
    if (!html && strcmp(kind, ".md") && strcmp(kind, ".tex") && strcmp(kind, ".csv"))
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "%s: want a name that ends in .html, .md, .tex or .csv", path);
    graphss_i_runs records = {0};
    st = graphss_i_runs_read(ctx, &records, folder);
    if (st)
        return st;
    graphss_i_document d = {0};
    graphss_i_writer writer = {.ctx = ctx};
    graphss_i_document_fill(&d, &records, folder);
    st = records.arena.status;
    if (!st && html)
        graphss_i_format_html(&writer, &d);
    else if (!st && !strcmp(kind, ".md"))
        graphss_i_format_markdown(&writer, &d, seen_from(path, opt.plots));
    else if (!st && !strcmp(kind, ".tex"))
        graphss_i_format_latex(&writer, &d);
    else if (!st)
        graphss_i_format_csv(&writer, &d);
    if (!st)
        st = records.arena.status;
    if (!st && opt.plots)
        st = write_plots(ctx, &d, opt.plots);
    if (!st)
        st = graphss_i_writer_save(&writer, path);
    if (!st && summary) {
        *summary = (graphss_report_summary){
            .cells = records.n, .tables = d.n_tables, .plots = d.n_panels};
        for (size_t i = 0; i < records.n; i++)
            summary->errors += records.record[i].error != NULL;
    }
    graphss_i_writer_done(&writer);
    graphss_i_runs_destroy(&records);
    return st;
}
