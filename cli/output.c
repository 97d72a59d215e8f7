/* output.c - results as JSON, errors, and the exit code. One document on stdout with
 * --json, also when the run failed; messages for people on stderr always. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

static void end_without_memory(void)
{
    fputs("graphss: out of memory\n", stderr);
    exit(graphss_status_exit_code(GRAPHSS_ERR_NOMEM));
}

graphss_status cli_fail(cli *app, graphss_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(app->error, sizeof app->error, format, args);
    va_end(args);
    return status;
}

graphss_status cli_usage(cli *app, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int used = vsnprintf(app->error, sizeof app->error, format, args);
    va_end(args);
    if (used > 0 && (size_t)used < sizeof app->error)
        snprintf(app->error + used, sizeof app->error - (size_t)used,
            " (see: graphss%s%s --help)", app->command ? " " : "",
            app->command ? app->command->name : "");
    return GRAPHSS_ERR_INVALID;
}

void cli_note(cli *app, const char *format, ...)
{
    if (app->global.quiet)
        return;
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    terminal_clear(&app->term);
    terminal_text(&app->term, stderr, line, 0);
    fputc('\n', stderr);
}

/* A warning is printed once. */
static bool was_said(const cli *app, const char *line)
{
    for (size_t i = 0; i < json_array_size(app->warnings); i++)
        if (!strcmp(json_string_value(json_array_get(app->warnings, i)), line))
            return true;
    return false;
}

static void warn(cli *app, const char *line, bool silent)
{
    if (was_said(app, line))
        return;
    if (!silent && cli_leads(app)) {
        terminal_clear(&app->term);
        fprintf(stderr, "%swarning: %s", terminal_begin(&app->term, stderr, TERMINAL_YELLOW),
            terminal_end(&app->term, stderr));
        terminal_text(&app->term, stderr, line, 0);
        fputc('\n', stderr);
    }
    if (!app->warnings)
        app->warnings = json_array();
    if (json_array_append_new(app->warnings, cli_json_text(line)))
        end_without_memory();
}

void cli_warn(cli *app, const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    warn(app, line, false);
}

void cli_notice(cli *app, const char *line)
{
    if (!app->notices)
        app->notices = json_array();
    if (!(app->command && app->command->judges_data) &&
        json_array_append_new(app->notices, cli_json_text(line)))
        end_without_memory();
    if (app->command && app->command->judges_data)
        warn(app, line, app->global.quiet);
    else if (app->global.verbose)
        cli_note(app, "%s", line);
}

int cli_report_error(cli *app, graphss_status status)
{
    const int code = graphss_status_exit_code(status);
    const char *text = app->error;
    if (!*text && app->ctx)
        text = graphss_ctx_error(app->ctx);
    if (!*text)
        text = graphss_status_text(status);
    if (app->reader_left || !cli_leads(app))
        return code;
    terminal_clear(&app->term);
    fprintf(stderr, "%sgraphss: %s", terminal_begin(&app->term, stderr, TERMINAL_RED),
        terminal_end(&app->term, stderr));
    terminal_text(&app->term, stderr, text, 0);
    fputc('\n', stderr);
    if (!app->global.json)
        return code;

    json_decref(app->json);
    app->json = json_object();
    json_t *error = json_object();
    cli_json_set(error, "code", json_integer(code));
    cli_json_set(error, "message", cli_json_text(text));
    cli_json_set(app->json, "error", error);
    return cli_finish(app) ? graphss_status_exit_code(GRAPHSS_ERR_IO) : code;
}

/* True if standard output is a pipe whose other end is closed. The errno of an earlier write
 * may be lost. */
static bool nobody_reads(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO};
    return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

graphss_status cli_finish(cli *app)
{
    if (app->json) {
        if (app->warnings && !json_object_get(app->json, "error"))
            cli_json_set(app->json, "warnings", json_incref(app->warnings));
        /* Names are not to act on a screen; programs get the letters as they are. */
        json_dumpf(app->json, stdout,
            JSON_INDENT(2) | JSON_REAL_PRECISION(15) |
                (isatty(STDOUT_FILENO) ? JSON_ENSURE_ASCII : 0));
        fputc('\n', stdout);
        json_decref(app->json);
        app->json = NULL;
    }
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return GRAPHSS_OK;
    app->reader_left = errno == EPIPE || nobody_reads();
    return cli_fail(app, GRAPHSS_ERR_IO, "cannot write to standard output: %s",
        errno ? strerror(errno) : "write error");
}

void *cli_alloc(size_t count, size_t size)
{
    void *block = calloc(count ? count : 1, size ? size : 1);
    if (!block)
        end_without_memory();
    return block;
}

graphss_status cli_alloc_large(cli *app, void *out, size_t count, size_t size)
{
    void *block = calloc(count ? count : 1, size ? size : 1);
    if (!block)
        return cli_fail(app, GRAPHSS_ERR_NOMEM, "no memory for %zu x %zu bytes", count, size);
    memcpy(out, &block, sizeof block);
    return GRAPHSS_OK;
}

char *cli_format(const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    const int length = vasprintf(&text, format, args);
    va_end(args);
    if (length < 0)
        end_without_memory();
    return text;
}

void cli_json_set(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0)
        end_without_memory();
}

json_t *cli_json_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* Bytes of the UTF-8 character at text, 0 when it is none. */
static size_t utf8_length(const unsigned char *text)
{
    const unsigned char c = text[0];
    const size_t n = c < 0x80                ? 1
                     : c >= 0xc2 && c < 0xe0 ? 2
                     : (c & 0xf0) == 0xe0    ? 3
                     : c >= 0xf0 && c < 0xf5 ? 4
                                             : 0;
    for (size_t i = 1; i < n; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    if ((c == 0xe0 && text[1] < 0xa0) || (c == 0xed && text[1] >= 0xa0) ||
        (c == 0xf0 && text[1] < 0x90) || (c == 0xf4 && text[1] >= 0x90))
        return 0;
    return n;
}

json_t *cli_json_text(const char *text)
{
    if (!text)
        return json_null();
    char *clean = cli_alloc(strlen(text) + 1, 1);
    size_t used = 0;
    while (*text) {
        const size_t n = utf8_length((const unsigned char *)text);
        if (n == 0) {
            clean[used++] = '?';
            text++;
            continue;
        }
        memcpy(clean + used, text, n);
        used += n;
        text += n;
    }
    json_t *value = json_string(clean);
    free(clean);
    return value;
}

json_t *cli_json_options(const void *options, const graphss_option *table)
{
    json_t *object = json_object();
    for (const graphss_option *row = table; row->name; row++) {
        const void *at = (const char *)options + row->offset;
        json_t *value = NULL;
        char amount[40];
        switch (row->type) {
        case GRAPHSS_OPTION_BOOL:
            value = json_boolean(*(const bool *)at);
            break;
        case GRAPHSS_OPTION_INT:
            value = json_integer(*(const int64_t *)at);
            break;
        case GRAPHSS_OPTION_AMOUNT:
            graphss_option_text(amount, sizeof amount, options, row);
            value = strchr(amount, '%') ? cli_json_text(amount)
                                        : json_integer(*(const int64_t *)at);
            break;
        case GRAPHSS_OPTION_REAL:
            value = cli_json_real(*(const double *)at);
            break;
        case GRAPHSS_OPTION_CHOICE:
            value = cli_json_text(row->choices[*(const int *)at]);
            break;
        case GRAPHSS_OPTION_STRING:
            value = cli_json_text(*(const char *const *)at);
            break;
        }
        cli_json_set(object, row->name, value);
    }
    return object;
}

json_t *cli_json_confusion(const int64_t *confusion, size_t n_classes)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < n_classes; i++) {
        json_t *row = json_array();
        for (size_t j = 0; j < n_classes; j++)
            if (json_array_append_new(row, json_integer(confusion[i * n_classes + j])))
                end_without_memory();
        if (json_array_append_new(rows, row))
            end_without_memory();
    }
    return rows;
}

json_t *cli_json_dataset(const graphss_dataset *data)
{
    json_t *object = json_object();
    cli_json_set(object, "name", cli_json_text(data->name));
    cli_json_set(object, "format", cli_json_text(data->format));
    cli_json_set(object, "hash", cli_json_text(data->hash));
    cli_json_set(object, "nodes", json_integer((json_int_t)data->graph.n_nodes));
    cli_json_set(object, "edges", json_integer((json_int_t)graphss_graph_edges(&data->graph)));
    cli_json_set(object, "features", json_integer((json_int_t)data->features.n_cols));
    cli_json_set(object, "classes", json_integer((json_int_t)data->n_classes));
    return object;
}

void cli_json_run(cli *app, json_t *object)
{
    cli_json_set(object, "seed", json_integer(app->global.seed));
    cli_json_set(object, "threads", json_integer((json_int_t)graphss_ctx_threads(app->ctx)));
    cli_json_set(object, "peak_memory_bytes", json_integer((json_int_t)cli_peak_memory()));
    cli_json_set(object, "version", cli_json_text(graphss_version()));
    if (app->predictor)
        cli_json_set(
            object, "predictor_calls", json_integer((json_int_t)app->predictor_calls));
}

uint64_t cli_peak_memory(void)
{
    struct rusage usage = {0};
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss * 1024;
}

double cli_seconds(void)
{
    struct timespec t = {0};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
