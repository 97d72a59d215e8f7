/* events.c - a line of JSON to an event and back. Jansson checks syntax and UTF-8 and refuses
 * duplicate members; the members themselves are checked here. */
#include "base/base.h"
#include "base/json_fault.h"
#include <graphss/events.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const op_text[GRAPHSS_EVENT_OPS] = {
    "+link", "-link", "+node", "-node", "set", "label"};

const char *graphss_event_op_text(graphss_event_op op)
{
    return (size_t)op < GRAPHSS_EVENT_OPS ? op_text[op] : "?";
}

typedef struct fields {
    json_t *u, *v, *label, *features, *t, *source, *seq;
} fields;

static graphss_status bad(graphss_ctx *ctx, const char *member, const char *wanted)
{
    return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "member '%s': want %s", member, wanted);
}

/* A text of 1 to GRAPHSS_EVENT_NAME bytes. */
static bool is_name(const json_t *value)
{
    const size_t n = json_string_length(value);
    return json_is_string(value) && n > 0 && n <= GRAPHSS_EVENT_NAME;
}

static graphss_status sort_members(graphss_ctx *ctx, fields *f, graphss_event *e, json_t *line)
{
    const char *key, *op = NULL;
    json_t *value;
    if (!json_is_object(line))
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "found no object, want {\"op\": ...}");
    json_object_foreach(line, key, value)
    {
        const struct {
            const char *name;
            json_t **place;
        } member[] = {{"u", &f->u}, {"v", &f->v}, {"label", &f->label},
            {"features", &f->features}, {"t", &f->t}, {"source", &f->source},
            {"seq", &f->seq}};
        size_t i = 0;
        while (i < sizeof member / sizeof *member && strcmp(member[i].name, key))
            i++;
        if (i < sizeof member / sizeof *member)
            *member[i].place = value;
        else if (!strcmp(key, "op"))
            op = json_string_value(value);
        else
            return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                "member '%.40s': want op, u, v, features, label, t, source "
                "or seq",
                key);
    }
    for (size_t i = 0; i < GRAPHSS_EVENT_OPS && op; i++)
        if (!strcmp(op, op_text[i])) {
            e->op = (graphss_event_op)i;
            return GRAPHSS_OK;
        }
    return bad(ctx, "op", "+link, -link, +node, -node, set or label");
}

static graphss_status check_members(graphss_ctx *ctx, const fields *f, const graphss_event *e)
{
    const bool edge = e->op == GRAPHSS_EVENT_ADD_EDGE || e->op == GRAPHSS_EVENT_REMOVE_EDGE;
    const bool featured =
        e->op == GRAPHSS_EVENT_ADD_NODE || e->op == GRAPHSS_EVENT_SET_FEATURES;
    if (!is_name(f->u))
        return bad(ctx, "u", "the name of a node, of 1 to 1024 bytes");
    if (edge ? !is_name(f->v) : f->v != NULL)
        return bad(ctx, "v",
            edge ? "the name of a node, of 1 to 1024 bytes" : "none: only links have one");
    if (e->op == GRAPHSS_EVENT_SET_LABEL
            ? !f->label || (!is_name(f->label) && !json_is_null(f->label))
            : f->label != NULL)
        return bad(ctx, "label",
            e->op == GRAPHSS_EVENT_SET_LABEL ? "the name of a class, or null"
                                             : "none: only op label has one");
    if (f->features && (!featured || !json_is_object(f->features)))
        return bad(ctx, "features",
            featured ? "an object of numbers" : "none: only +node and set have them");
    if (!f->features && e->op == GRAPHSS_EVENT_SET_FEATURES)
        return bad(ctx, "features", "an object of numbers");
    if (f->source && !is_name(f->source))
        return bad(ctx, "source", "a text of 1 to 1024 bytes");
    if (f->seq && (!json_is_integer(f->seq) || json_integer_value(f->seq) < 0))
        return bad(ctx, "seq", "a whole number from 0 on");
    return GRAPHSS_OK;
}

static graphss_status take_time(graphss_ctx *ctx, graphss_event *e, const json_t *t)
{
    static const double latest = 4294967295.0; /* the year 2106 */
    e->t = NAN;
    if (!t)
        return GRAPHSS_OK;
    if (json_is_number(t))
        e->t = json_number_value(t);
    else if (!json_is_string(t) ||
             !graphss_time_parse(&e->t, json_string_value(t), json_string_length(t)))
        return bad(ctx, "t", "seconds since 1970, or a time such as 2026-11-18T04:00:00Z");
    return e->t >= 0 && e->t <= latest ? GRAPHSS_OK
                                       : bad(ctx, "t", "a time from 1970 to 2106");
}

/* Copies a text to *at, which advances. NULL for other values. */
static const char *keep(char **at, const char *text)
{
    if (!text)
        return NULL;
    const size_t n = strlen(text) + 1;
    const char *kept = memcpy(*at, text, n);
    *at += n;
    return kept;
}

/* One block: pointers to names, values, texts. */
static graphss_status take_members(graphss_ctx *ctx, graphss_event *e, const fields *f)
{
    const char *const text[] = {json_string_value(f->u), json_string_value(f->v),
        json_string_value(f->label), json_string_value(f->source)};
    const char *name;
    json_t *value;
    size_t bytes = 0, n = json_object_size(f->features);
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        bytes += text[i] ? strlen(text[i]) + 1 : 0;
    json_object_foreach(f->features, name, value)
    {
        const double number = json_number_value(value);
        if (!json_is_number(value) || !isfinite((float)number))
            return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                "feature '%.40s': want a number within the range of float", name);
        if (!*name || strlen(name) > GRAPHSS_EVENT_NAME)
            return bad(ctx, "features", "names of 1 to 1024 bytes");
        bytes += strlen(name) + 1;
    }
    const size_t head = n * (sizeof(char *) + sizeof(float));
    char *block = graphss_i_alloc(ctx, head + bytes, 1);
    if (!block)
        return GRAPHSS_ERR_NOMEM;
    const char **feature = (const char **)(void *)block;
    float *x = (float *)(void *)(block + n * sizeof *feature);
    char *at = block + head;
    e->block = block;
    e->u = keep(&at, text[0]);
    e->v = keep(&at, text[1]);
    e->label = keep(&at, text[2]);
    e->source = keep(&at, text[3]);
    e->feature = feature;
    e->value = x;
    json_object_foreach(f->features, name, value)
    {
        feature[e->n_features] = keep(&at, name);
        x[e->n_features++] = (float)json_number_value(value);
    }
    e->seq = f->seq ? json_integer_value(f->seq) : -1;
    return GRAPHSS_OK;
}

graphss_status graphss_event_parse(
    graphss_ctx *ctx, graphss_event *out, const char *line, size_t n)
{
    if (GRAPHSS_I_LACKS(ctx, {"line", line}, {"place for the event", out}))
        return GRAPHSS_ERR_INVALID;
    if (n >= GRAPHSS_EVENT_BYTES)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "a line of %zu bytes, want less than %d",
            n, (int)GRAPHSS_EVENT_BYTES);
    json_error_t error;
    bool starved = false;
    json_t *value = graphss_i_json_load(line, n, JSON_REJECT_DUPLICATES, &error, &starved);
    if (!value)
        return starved ? graphss_i_nomem(ctx, n)
                       : graphss_i_fail(
                             ctx, GRAPHSS_ERR_DATA, "column %d: %s", error.column, error.text);
    graphss_event e = {0};
    fields f = {0};
    graphss_status st = sort_members(ctx, &f, &e, value);
    if (!st)
        st = check_members(ctx, &f, &e);
    if (!st)
        st = take_time(ctx, &e, f.t);
    if (!st)
        st = take_members(ctx, &e, &f);
    json_decref(value);
    if (!st)
        *out = e;
    return st;
}

void graphss_event_destroy(graphss_ctx *ctx, graphss_event *event)
{
    graphss_release(ctx, event->block);
    *event = (graphss_event){.t = NAN, .seq = -1};
}

/* ---- writing ---- */

static bool set_new(json_t *object, const char *name, json_t *value)
{
    return json_object_set_new(object, name, value) == 0;
}

graphss_status graphss_event_text(graphss_ctx *ctx, char **line, const graphss_event *e)
{
    if (GRAPHSS_I_LACKS(ctx, {"event", e}, {"place for the line", line}))
        return GRAPHSS_ERR_INVALID;
    json_t *o = json_object(), *features = NULL;
    bool good = o && set_new(o, "op", json_string(graphss_event_op_text(e->op))) &&
                set_new(o, "u", json_string(e->u));
    if (good && e->v)
        good = set_new(o, "v", json_string(e->v));
    if (good && e->op == GRAPHSS_EVENT_SET_LABEL)
        good = set_new(o, "label", e->label ? json_string(e->label) : json_null());
    if (good && (e->n_features || e->op == GRAPHSS_EVENT_SET_FEATURES)) {
        features = json_object();
        good = features && json_object_set_new(o, "features", features) == 0;
        for (size_t j = 0; j < e->n_features && good; j++)
            good = set_new(features, e->feature[j], json_real((double)e->value[j]));
    }
    if (good && !isnan(e->t))
        good = set_new(o, "t", json_real(e->t));
    if (good && e->source)
        good = set_new(o, "source", json_string(e->source));
    if (good && e->seq >= 0)
        good = set_new(o, "seq", json_integer(e->seq));
    char *text = good ? json_dumps(o, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
    char *copy = text ? graphss_i_strdup(ctx, text) : NULL;
    free(text);
    json_decref(o);
    if (!copy)
        return text ? GRAPHSS_ERR_NOMEM : graphss_i_nomem(ctx, 1);
    *line = copy;
    return GRAPHSS_OK;
}

/* ---- times and durations: UTC only; leap seconds do not exist, as in POSIX ---- */

/* Days since 1970-01-01 of a date in the Gregorian calendar (years are counted from March, so
 * that the leap day is the last). */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2;
    const int64_t era = year / 400, of_era = year - era * 400;
    const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static bool digits(int64_t *out, const char *text, size_t n)
{
    *out = 0;
    for (size_t i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        *out = 10 * *out + (text[i] - '0');
    }
    return true;
}

static int64_t days_in(int64_t year, int64_t month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

bool graphss_time_parse(double *seconds, const char *text, size_t n)
{
    enum { PLAIN = 20 }; /* 2026-11-18T04:00:00Z */
    int64_t year, month, day, hour, minute, second, fraction = 0;
    if (n < PLAIN || n > PLAIN + 10 || text[n - 1] != 'Z' || text[4] != '-' ||
        text[7] != '-' || (text[10] != 'T' && text[10] != ' ') || text[13] != ':' ||
        text[16] != ':' || !digits(&year, text, 4) || !digits(&month, text + 5, 2) ||
        !digits(&day, text + 8, 2) || !digits(&hour, text + 11, 2) ||
        !digits(&minute, text + 14, 2) || !digits(&second, text + 17, 2))
        return false;
    if (n > PLAIN &&
        (text[19] != '.' || n < PLAIN + 2 || !digits(&fraction, text + PLAIN, n - PLAIN - 1)))
        return false;
    if (year < 1970 || month < 1 || month > 12 || day < 1 || day > days_in(year, month) ||
        hour > 23 || minute > 59 || second > 59)
        return false;
    double part = (double)fraction;
    for (size_t i = PLAIN + 1; i < n; i++)
        part /= 10;
    *seconds =
        (double)(days_of(year, month, day) * 86400 + hour * 3600 + minute * 60 + second) +
        part;
    return true;
}

void graphss_time_text(char *out, double seconds)
{
    out[0] = 0;
    if (!(seconds >= 0) || seconds >= 253402300800.0) /* the year 10000 */
        return;
    const int64_t whole = (int64_t)floor(seconds), left = whole % 86400;
    int64_t days = whole / 86400 + 719468;
    const int64_t era = days / 146097, of_era = days - era * 146097;
    const int64_t y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    days = of_era - (365 * y + y / 4 - y / 100);
    const int64_t m = (5 * days + 2) / 153, day = days - (153 * m + 2) / 5 + 1;
    const int64_t month = m < 10 ? m + 3 : m - 9, year = y + era * 400 + (month <= 2);
    snprintf(out, GRAPHSS_TIME_TEXT, "%04d-%02d-%02dT%02d:%02d:%02dZ",
        (int)((unsigned)year % 10000), (int)((unsigned)month % 100),
        (int)((unsigned)day % 100), (int)((unsigned)left / 3600 % 24),
        (int)((unsigned)left / 60 % 60), (int)((unsigned)left % 60));
}

bool graphss_duration_parse(double *seconds, const char *text)
{
    static const struct {
        char letter;
        double seconds;
    } unit[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 604800}};
    size_t n = text ? strlen(text) : 0;
    double factor = 1, count;
    for (size_t i = 0; i < sizeof unit / sizeof *unit && n; i++)
        if (text[n - 1] == unit[i].letter) {
            factor = unit[i].seconds;
            n--;
            break;
        }
    if (n == 0 || !graphss_i_parse_double(&count, text, n) || !(count >= 0) ||
        !(count <= 1e12))
        return false;
    *seconds = count * factor;
    return true;
}
