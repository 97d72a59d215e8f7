/* records.c - see records.h. A line is written with one call and synced before the next cell
 * counts as finished, so that whatever ends the program leaves at most one torn line, the
 * last.
 */
#include "lab/experiment/records.h"
#include "base/json_fault.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 30, MOST_LINE = 1 << 26 };

const char *const graphss_i_identity[] = {"what", "mode", "setting", "dataset", "model",
    "method", "train", "seed", "set", "parameter", "value", "task", NULL};

char *graphss_i_record_key(const json_t *record)
{
    json_t *key = json_array();
    bool bad = !key;
    for (size_t i = 0; graphss_i_identity[i] && !bad; i++) {
        json_t *value = json_object_get(record, graphss_i_identity[i]);
        bad |= json_array_append_new(key, value ? json_deep_copy(value) : json_null()) != 0;
    }
    char *text = bad ? NULL : json_dumps(key, JSON_COMPACT | JSON_REAL_PRECISION(12));
    json_decref(key);
    return text;
}

json_t *graphss_i_records_find(const graphss_i_records *records, const json_t *identity)
{
    char *key = graphss_i_record_key(identity);
    json_t *found = key ? json_object_get(records->index, key) : NULL;
    free(key);
    return found;
}

static graphss_status keep(graphss_ctx *ctx, json_t *index, json_t *record)
{
    char *key = graphss_i_record_key(record);
    const bool bad = !key || json_object_set(index, key, record) != 0;
    free(key);
    return bad ? graphss_i_nomem(ctx, 0) : GRAPHSS_OK;
}

graphss_status graphss_i_records_parse(graphss_ctx *ctx, json_t *index, size_t *lines,
    size_t *whole, const char *bytes, size_t n, const char *name)
{
    *lines = 0;
    *whole = 0;
    for (const char *end; *whole < n; *whole = (size_t)(end - bytes) + 1) {
        const char *line = bytes + *whole;
        end = memchr(line, '\n', n - *whole);
        if (!end)
            break;
        ++*lines;
        if (end - line > MOST_LINE)
            return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: line %zu has %zu bytes", name,
                *lines, (size_t)(end - line));
        json_error_t problem;
        bool starved;
        json_t *record = graphss_i_json_load(
            line, (size_t)(end - line), JSON_REJECT_DUPLICATES, &problem, &starved);
        if (starved)
            return graphss_i_nomem(ctx, (size_t)(end - line));
        if (!json_is_object(record) || !json_is_string(json_object_get(record, "what"))) {
            const graphss_status st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                "%s: line %zu: want a record, an object with \"what\"%s%s; remove the line to "
                "run its cell again",
                name, *lines, record ? "" : ": ", record ? "" : problem.text);
            json_decref(record);
            return st;
        }
        const graphss_status st = keep(ctx, index, record);
        json_decref(record);
        if (st)
            return st;
    }
    return GRAPHSS_OK;
}

static graphss_status fail_io(graphss_ctx *ctx, const char *path)
{
    return graphss_i_fail(ctx, errno == ENOENT ? GRAPHSS_ERR_NOT_FOUND : GRAPHSS_ERR_IO,
        "%s: %s", path, strerror(errno));
}

graphss_status graphss_i_records_open(
    graphss_ctx *ctx, graphss_i_records *out, const char *path)
{
    graphss_i_records r = {.path = graphss_i_strdup(ctx, path), .fd = -1};
    char *bytes = NULL;
    size_t n = 0, whole = 0;
    if (!r.path)
        return GRAPHSS_ERR_NOMEM;
    graphss_status st = GRAPHSS_OK;
    r.fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (r.fd < 0)
        st = fail_io(ctx, path);
    else if (flock(r.fd, LOCK_EX | LOCK_NB) != 0)
        st = errno == EWOULDBLOCK
                 ? graphss_i_fail(ctx, GRAPHSS_ERR_LIMIT, "%s: another run writes to it", path)
                 : fail_io(ctx, path);
    if (!st)
        st = graphss_i_file_read(ctx, &bytes, &n, path, MOST_BYTES);
    if (!st && !(r.index = json_object()))
        st = graphss_i_nomem(ctx, 0);
    if (!st)
        st = graphss_i_records_parse(ctx, r.index, &r.lines, &whole, bytes, n, path);
    if (!st && whole < n) {
        r.cut = n - whole;
        if (ftruncate(r.fd, (off_t)whole) != 0)
            st = fail_io(ctx, path);
    }
    graphss_release(ctx, bytes);
    if (st)
        graphss_i_records_close(ctx, &r);
    else
        *out = r;
    return st;
}

graphss_status graphss_i_records_add(
    graphss_ctx *ctx, graphss_i_records *records, json_t *record)
{
    char *text = json_dumps(record, JSON_COMPACT);
    if (!text)
        return graphss_i_nomem(ctx, 0);
    const size_t n = strlen(text);
    text[n] = '\n'; /* in place of the NUL: one call, one line */
    struct stat before;
    graphss_status st = GRAPHSS_OK;
    errno = 0; /* a line that was written in part sets none */
    if (fstat(records->fd, &before) != 0)
        st = fail_io(ctx, records->path);
    else if (write(records->fd, text, n + 1) != (ssize_t)(n + 1)) {
        st = graphss_i_fail(ctx, GRAPHSS_ERR_IO, "%s: cannot write a line: %s", records->path,
            errno ? strerror(errno) : "disk full");
        if (ftruncate(records->fd, before.st_size) != 0)
            errno = 0; /* the torn line is cut off by the next run */
    } else if (fdatasync(records->fd) != 0 && errno != EINVAL && errno != EROFS)
        st = fail_io(ctx, records->path);
    free(text);
    if (!st) {
        records->lines++;
        st = keep(ctx, records->index, record);
    }
    return st;
}

void graphss_i_records_close(graphss_ctx *ctx, graphss_i_records *records)
{
    if (records->path && records->fd >= 0)
        close(records->fd);
    json_decref(records->index);
    graphss_release(ctx, records->path);
    *records = (graphss_i_records){0};
}

json_t *graphss_i_json_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *graphss_i_json_text(const char *text)
{
    if (!text)
        return json_null();
    json_t *value = json_string(text);
    if (value)
        return value;
    char *copy = strdup(text);
    if (!copy)
        return NULL;
    graphss_i_utf8_mend(copy);
    value = json_string(copy);
    free(copy);
    return value;
}

const char *graphss_i_record_mode(int mode)
{
    return mode == GRAPHSS_MODE_PAPER ? "paper" : "honest";
}

json_t *graphss_i_json_options(
    const void *options, const graphss_option *table, const char *method)
{
    json_t *object = json_object();
    bool bad = !object;
    if (method)
        bad = json_object_set_new(object, "method", json_string(method));
    for (const graphss_option *row = table; row->name && !bad; row++) {
        const void *at = (const char *)options + row->offset;
        json_t *value = NULL;
        char amount[40];
        if (graphss_i_option_unsaid(options, row)) /* lines of before are of the same cell */
            continue;
        switch (row->type) {
        case GRAPHSS_OPTION_BOOL:
            value = json_boolean(*(const bool *)at);
            break;
        case GRAPHSS_OPTION_INT:
            value = json_integer(*(const int64_t *)at);
            break;
        case GRAPHSS_OPTION_AMOUNT:
            graphss_option_text(amount, sizeof amount, options, row);
            value =
                strchr(amount, '%') ? json_string(amount) : json_integer(*(const int64_t *)at);
            break;
        case GRAPHSS_OPTION_REAL:
            value = graphss_i_json_real(*(const double *)at);
            break;
        case GRAPHSS_OPTION_CHOICE:
            value = !strcmp(row->name, "mode")
                        ? json_string(graphss_i_record_mode(*(const int *)at))
                        : json_string(row->choices[*(const int *)at]);
            break;
        case GRAPHSS_OPTION_STRING:
            value = graphss_i_json_text(*(const char *const *)at);
            break;
        }
        bad = json_object_set_new(object, row->name, value) != 0;
    }
    if (bad) {
        json_decref(object);
        object = NULL;
    }
    return object;
}
