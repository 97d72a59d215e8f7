/* runs.c - reads the lines. A malformed line is an error that names it, except for a last line
 * without a newline: a killed run leaves such a line, and the next run repairs it. */
#include "lab/report/runs.h"
#include "base/json_fault.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab/experiment/records.h"

static const uint64_t largest_file = (uint64_t)1 << 30;

static const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* A text or a number, as text. */
static const char *any_text(graphss_i_arena *arena, const json_t *value)
{
    char text[64] = "";
    if (json_is_string(value))
        return json_string_value(value);
    if (json_is_integer(value))
        return graphss_i_arena_say(arena, "%lld", (long long)json_integer_value(value));
    if (json_is_real(value))
        graphss_i_double_text(text, sizeof text, json_real_value(value));
    else if (json_is_boolean(value))
        return json_is_true(value) ? "true" : "false";
    return graphss_i_arena_say(arena, "%s", text);
}

static graphss_status wrong(graphss_ctx *ctx, const char *where, size_t line, const char *what)
{
    return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s:%zu: %s", where, line, what);
}

/* Fields that name a cell must be texts, numbers must be numbers. */
static graphss_status check(
    graphss_ctx *ctx, const json_t *object, const char *where, size_t line)
{
    static const char *const texts[] = {
        "what", "mode", "setting", "dataset", "model", "method", "train", "task"};
    char text[160];
    if (!json_is_object(object))
        return wrong(ctx, where, line, "want a JSON object");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const json_t *field = json_object_get(object, texts[i]);
        if (field && !json_is_string(field)) {
            snprintf(text, sizeof text, "\"%s\" is no text", texts[i]);
            return wrong(ctx, where, line, text);
        }
    }
    if (!*text_at(object, "what"))
        return wrong(ctx, where, line, "no \"what\": want defence, alert, runtime ...");
    const json_t *seed = json_object_get(object, "seed");
    if (seed && !json_is_integer(seed))
        return wrong(ctx, where, line, "\"seed\" is no whole number");
    const json_t *metrics = json_object_get(object, "metrics");
    if (metrics && !json_is_object(metrics))
        return wrong(ctx, where, line, "\"metrics\" is no object");
    const json_t *format = json_object_get(object, "format");
    if (format && json_integer_value(format) != 1)
        return wrong(ctx, where, line, "\"format\" is not 1, the one this version reads");
    return GRAPHSS_OK;
}

static void add(graphss_i_runs *out, json_t *object, size_t line)
{
    graphss_i_arena *arena = &out->arena;
    graphss_i_run *list =
        graphss_i_arena_room(arena, out->record, out->n, &out->room, sizeof *list);
    if (!list)
        return;
    out->record = list;
    const json_t *value = json_object_get(object, "value");
    const json_t *seed = json_object_get(object, "seed");
    const json_t *error = json_object_get(object, "error");
    graphss_i_run *r = &list[out->n];
    *r = (graphss_i_run){
        .what = text_at(object, "what"),
        .mode = text_at(object, "mode"),
        .setting = text_at(object, "setting"),
        .dataset = text_at(object, "dataset"),
        .model = text_at(object, "model"),
        .method = text_at(object, "method"),
        .train = text_at(object, "train"),
        .task = text_at(object, "task"),
        .who = text_at(object, "who"),
        .parameter = any_text(arena, json_object_get(object, "parameter")),
        .set = any_text(arena, json_object_get(object, "set")),
        .value_text = any_text(arena, value),
        .value = json_is_number(value) ? json_number_value(value) : NAN,
        .seed = seed ? json_integer_value(seed) : -1,
        .json = object,
        .line = line,
    };
    if (error && !json_is_null(error)) {
        r->error = json_is_object(error) ? text_at(error, "message") : any_text(arena, error);
        r->error_code = json_integer_value(json_object_get(error, "code"));
    }
    out->n++;
}

/* Of two lines of one cell the later counts, in place of the first. */
static graphss_status drop_replaced(graphss_ctx *ctx, graphss_i_runs *out)
{
    json_t *index = json_object(); /* key of a cell -> its index */
    size_t kept = 0;
    bool bad = !index;
    for (size_t i = 0; i < out->n && !bad; i++) {
        char *key = graphss_i_record_key(out->record[i].json);
        const json_t *at = key ? json_object_get(index, key) : NULL;
        if (at) {
            out->record[json_integer_value(at)] = out->record[i];
            out->replaced++;
        } else {
            bad = !key || json_object_set_new(index, key, json_integer((json_int_t)kept)) != 0;
            out->record[kept++] = out->record[i];
        }
        free(key);
    }
    json_decref(index);
    out->n = kept;
    return bad ? graphss_i_nomem(ctx, sizeof(json_t)) : GRAPHSS_OK;
}

/* Adds the lines of one file. */
static graphss_status append(
    graphss_ctx *ctx, graphss_i_runs *out, const char *text, size_t n, const char *where)
{
    graphss_status st = GRAPHSS_OK;
    size_t line = 1;
    for (size_t at = 0; at < n && !st; line++) {
        const char *end = memchr(text + at, '\n', n - at);
        const size_t length = end ? (size_t)(end - text) - at : n - at;
        const char *start = text + at;
        at += length + 1;
        if (strspn(start, " \t\r") >= length)
            continue;
        json_error_t error;
        bool starved;
        json_t *object =
            graphss_i_json_load(start, length, JSON_REJECT_DUPLICATES, &error, &starved);
        if (starved)
            return graphss_i_nomem(ctx, length);
        if (!object && !end) {
            out->cut = true;
            break;
        }
        if (!object)
            return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s:%zu:%d: no JSON: %s", where, line,
                error.column, error.text);
        if (json_array_append_new(out->lines, object) != 0)
            return graphss_i_nomem(ctx, sizeof(json_t));
        st = check(ctx, object, where, line);
        if (!st) {
            add(out, object, line);
            st = out->arena.status;
        }
    }
    return st;
}

static graphss_status begin(graphss_ctx *ctx, graphss_i_runs *out)
{
    *out = (graphss_i_runs){.arena = {.ctx = ctx}, .lines = json_array()};
    return out->lines ? GRAPHSS_OK : graphss_i_nomem(ctx, sizeof(json_t));
}

/* Hands over what was found, or frees it after an error. */
static graphss_status finish(graphss_i_runs *out, graphss_i_runs *found, graphss_status st)
{
    if (!st)
        st = drop_replaced(found->arena.ctx, found);
    if (st) {
        graphss_i_runs_destroy(found);
        return st;
    }
    *out = *found;
    return GRAPHSS_OK;
}

graphss_status graphss_i_runs_parse(
    graphss_ctx *ctx, graphss_i_runs *out, const char *text, size_t n, const char *where)
{
    graphss_i_runs found;
    graphss_status st = begin(ctx, &found);
    if (!st)
        st = append(ctx, &found, text, n, where);
    return finish(out, &found, st);
}

static graphss_status append_file(graphss_ctx *ctx, graphss_i_runs *out, const char *path)
{
    char *text = NULL;
    size_t n = 0;
    graphss_status st = graphss_i_file_read(ctx, &text, &n, path, largest_file);
    if (!st)
        st = append(ctx, out, text, n, path);
    graphss_release(ctx, text);
    return st;
}

/* By bytes: the order of the lines of a cell must not depend on the locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* FOLDER/records.jsonl, then FOLDER/NAME/records.jsonl by the order of the names. */
static graphss_status append_folder(graphss_ctx *ctx, graphss_i_runs *out, const char *folder)
{
    struct dirent **entry = NULL;
    size_t files = 0;
    graphss_status st = GRAPHSS_OK;
    const int n = scandir(folder, &entry, NULL, by_name);
    if (n < 0)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_IO, "%s: cannot read the folder: %s", folder, strerror(errno));
    for (int i = -1; i < n && !st; i++) { /* -1: the folder's own */
        if (i >= 0 && entry[i]->d_name[0] == '.')
            continue;
        char *path =
            i < 0 ? graphss_i_format(ctx, "%s/records.jsonl", folder)
                  : graphss_i_format(ctx, "%s/%s/records.jsonl", folder, entry[i]->d_name);
        if (!path)
            st = GRAPHSS_ERR_NOMEM;
        else if (access(path, F_OK) == 0) {
            st = append_file(ctx, out, path);
            files++;
        }
        graphss_release(ctx, path);
    }
    for (int i = 0; i < n; i++)
        free(entry[i]);
    free(entry);
    if (!st && files == 0)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_NOT_FOUND,
            "%s: no records.jsonl here nor in a folder below", folder);
    return st;
}

graphss_status graphss_i_runs_read(graphss_ctx *ctx, graphss_i_runs *out, const char *path)
{
    struct stat info;
    graphss_i_runs found;
    graphss_status st = begin(ctx, &found);
    if (!st && stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        st = append_folder(ctx, &found, path);
    else if (!st)
        st = append_file(ctx, &found, path);
    return finish(out, &found, st);
}

void graphss_i_runs_destroy(graphss_i_runs *records)
{
    json_decref(records->lines);
    graphss_i_arena_done(&records->arena);
    *records = (graphss_i_runs){0};
}

double graphss_i_metric(const graphss_i_run *record, const char *name)
{
    const json_t *value = json_object_get(json_object_get(record->json, "metrics"), name);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

const double *graphss_i_numbers(graphss_i_arena *arena, const graphss_i_run *record,
    const char *member, const char *name, size_t *n)
{
    const json_t *list = json_object_get(json_object_get(record->json, member), name);
    *n = 0;
    if (!json_is_array(list) || json_array_size(list) == 0)
        return NULL;
    double *out = graphss_i_arena_take(arena, json_array_size(list), sizeof *out);
    if (!out)
        return NULL;
    *n = json_array_size(list);
    for (size_t i = 0; i < *n; i++) {
        const json_t *value = json_array_get(list, i);
        out[i] = json_is_number(value) ? json_number_value(value) : NAN;
    }
    return out;
}

const double *graphss_i_counts(graphss_i_arena *arena, const graphss_i_run *record,
    const char *member, const char *name, size_t *k)
{
    enum { MOST = 64 };
    const json_t *rows = json_object_get(json_object_get(record->json, member), name);
    const size_t n = json_array_size(rows);
    *k = 0;
    if (n == 0 || n > MOST)
        return NULL;
    double *out = graphss_i_arena_take(arena, n * n, sizeof *out);
    if (!out)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        const json_t *row = json_array_get(rows, i);
        if (json_array_size(row) != n)
            return NULL;
        for (size_t j = 0; j < n; j++) {
            const json_t *value = json_array_get(row, j);
            out[i * n + j] = json_is_number(value) ? json_number_value(value) : NAN;
        }
    }
    *k = n;
    return out;
}

const char *graphss_i_text_of(
    const graphss_i_run *record, const char *member, const char *name)
{
    return text_at(json_object_get(record->json, member), name);
}
