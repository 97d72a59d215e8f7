#include "base/json_fault.h"
#include "data/build.h"
#include "data/shards/shard.h"
#include <stdlib.h>
#include <string.h>

static const char format_text[] = "graphss shards 1";

enum { LARGEST = 1 << 30 }; /* bytes of a manifest: names of columns are most of it */

/* ---- writing ---- */

static json_t *names_json(const graphss_names *names)
{
    json_t *list = json_array();
    for (size_t i = 0; i < names->count; i++)
        json_array_append_new(list, json_string(graphss_names_get(names, i)));
    return list;
}

static json_t *parts_json(const graphss_i_manifest *m)
{
    json_t *list = json_array();
    for (size_t p = 0; p < m->n_parts; p++) {
        const graphss_i_manifest_part *part = &m->part[p];
        json_array_append_new(
            list, json_pack("{s:I,s:I,s:I,s:s}", "nodes", (json_int_t)part->nodes, "entries",
                      (json_int_t)part->entries, "stored", (json_int_t)part->stored, "sha256",
                      part->sha256));
    }
    return list;
}

static json_t *manifest_json(const graphss_i_manifest *m)
{
    const graphss_cleaning *c = &m->cleaned;
    return json_pack("{s:s,s:s,s:s,s:s,s:I,s:I,s:I,s:I,s:I,s:s,s:b,s:b,s:b,s:b,"
                     "s:{s:I,s:I,s:I,s:I,s:I,s:I},s:o,s:o,s:o}",
        "format", format_text, "name", m->name, "read_from", m->format, "hash", m->hash,
        "nodes", (json_int_t)m->n_nodes, "entries", (json_int_t)m->entries, "cut",
        (json_int_t)m->cut, "features", (json_int_t)m->n_cols, "classes",
        (json_int_t)m->n_classes, "kind", graphss_feature_kind_text(m->kind), "dense",
        (int)m->dense, "labels", (int)m->labelled, "node_names", (int)m->named, "split",
        (int)m->has_split, "cleaned", "directed", (json_int_t)c->directed, "duplicates",
        (json_int_t)c->duplicates, "loops", (json_int_t)c->loops, "zeros",
        (json_int_t)c->zeros, "weighted", (json_int_t)c->weighted, "isolated",
        (json_int_t)c->isolated, "class_names", names_json(&m->class_names), "feature_names",
        names_json(&m->column_names), "parts", parts_json(m));
}

graphss_status graphss_i_manifest_write(
    graphss_ctx *ctx, const graphss_i_manifest *m, const char *folder)
{
    char path[GRAPHSS_I_SHARD_PATH];
    graphss_i_output out = {0};
    json_t *json = manifest_json(m);
    char *text = json ? json_dumps(json, JSON_INDENT(1)) : NULL;
    json_decref(json);
    if (!text)
        return graphss_i_nomem(ctx, m->n_parts * sizeof *m->part);
    snprintf(path, sizeof path, "%s/" GRAPHSS_I_MANIFEST_FILE, folder);
    graphss_status st = graphss_i_output_open(ctx, &out, path);
    if (!st) {
        st = graphss_i_output_write(ctx, &out, text, strlen(text));
        if (!st)
            st = graphss_i_output_write(ctx, &out, "\n", 1);
        if (!st)
            st = graphss_i_output_commit(ctx, &out);
        else
            graphss_i_output_abandon(ctx, &out);
    }
    free(text);
    return st;
}

/* ---- reading ---- */

/* The field being read, and the first fault. */
typedef struct source {
    graphss_ctx *ctx;
    const char *path;
    graphss_status status;
} source;

static void wrong(source *s, const char *key, const char *want)
{
    if (!s->status)
        s->status =
            graphss_i_fail(s->ctx, GRAPHSS_ERR_DATA, "%s: '%s': want %s", s->path, key, want);
}

static size_t take_count(source *s, const json_t *object, const char *key, uint64_t most)
{
    const json_t *value = json_object_get(object, key);
    char want[64];
    if (json_is_integer(value) && json_integer_value(value) >= 0 &&
        (uint64_t)json_integer_value(value) <= most)
        return (size_t)json_integer_value(value);
    snprintf(want, sizeof want, "a whole number from 0 to %llu", (unsigned long long)most);
    wrong(s, key, want);
    return 0;
}

static bool take_bool(source *s, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_boolean(value))
        wrong(s, key, "true or false");
    return json_is_true(value);
}

static void take_text(source *s, char *out, size_t size, const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    if (text && strlen(text) < size)
        snprintf(out, size, "%s", text);
    else
        wrong(s, key, "a short text");
}

static void take_digest(source *s, char out[65], const json_t *object, const char *key)
{
    take_text(s, out, 65, object, key);
    if (strlen(out) != 64 || strspn(out, "0123456789abcdef") != 64)
        wrong(s, key, "64 hexadecimal digits");
}

static void take_names(
    source *s, graphss_names *out, const json_t *object, const char *key, size_t want)
{
    const json_t *list = json_object_get(object, key);
    graphss_i_name_list names = {0};
    const size_t n = json_array_size(list);
    if (!json_is_array(list) || (n != 0 && n != want)) {
        wrong(s, key, "a list of as many names as there are, or none");
        return;
    }
    for (size_t i = 0; i < n && !s->status; i++) {
        const json_t *text = json_array_get(list, i);
        if (!json_is_string(text))
            wrong(s, key, "texts alone");
        else
            s->status = graphss_i_name_list_add(
                s->ctx, &names, json_string_value(text), json_string_length(text));
    }
    if (!s->status && n)
        s->status = graphss_i_name_list_finish(s->ctx, out, &names);
    graphss_i_name_list_destroy(s->ctx, &names);
}

static void take_parts(source *s, graphss_i_manifest *m, const json_t *object)
{
    const json_t *list = json_object_get(object, "parts");
    size_t nodes = 0, entries = 0;
    m->n_parts = json_array_size(list);
    if (m->n_parts == 0 || m->n_parts > GRAPHSS_I_PARTS_MOST) {
        m->n_parts = 0;
        wrong(s, "parts", "a list of 1 to 65536 parts");
        return;
    }
    m->part = graphss_i_calloc(s->ctx, m->n_parts, sizeof *m->part);
    if (!m->part)
        s->status = GRAPHSS_ERR_NOMEM;
    for (size_t p = 0; p < m->n_parts && !s->status; p++) {
        const json_t *one = json_array_get(list, p);
        m->part[p].nodes = take_count(s, one, "nodes", m->n_nodes);
        m->part[p].entries = take_count(s, one, "entries", m->entries);
        m->part[p].stored = take_count(s, one, "stored", INT64_MAX / 64);
        take_digest(s, m->part[p].sha256, one, "sha256");
        nodes += m->part[p].nodes;
        entries += m->part[p].entries;
    }
    if (!s->status && (nodes != m->n_nodes || entries != m->entries))
        wrong(s, "parts", "parts whose nodes and entries add up to those of the whole");
}

static void take_kind(source *s, graphss_i_manifest *m, const json_t *object)
{
    const char *text = json_string_value(json_object_get(object, "kind"));
    for (int kind = GRAPHSS_FEATURES_NONE; text && kind <= GRAPHSS_FEATURES_REAL; kind++)
        if (strcmp(text, graphss_feature_kind_text((graphss_feature_kind)kind)) == 0) {
            m->kind = (graphss_feature_kind)kind;
            return;
        }
    wrong(s, "kind", "none, binary, counts or real");
}

static void take_all(source *s, graphss_i_manifest *m, const json_t *json)
{
    /* the largest integer that all JSON readers agree on */
    const uint64_t most = (uint64_t)1 << 53;
    const json_t *cleaned = json_object_get(json, "cleaned");
    take_text(s, m->name, sizeof m->name, json, "name");
    take_text(s, m->format, sizeof m->format, json, "read_from");
    take_digest(s, m->hash, json, "hash");
    m->n_nodes = take_count(s, json, "nodes", most);
    m->entries = take_count(s, json, "entries", most);
    m->cut = take_count(s, json, "cut", most);
    m->n_cols = take_count(s, json, "features", INT32_MAX);
    m->n_classes = take_count(s, json, "classes", INT32_MAX);
    take_kind(s, m, json);
    m->dense = take_bool(s, json, "dense");
    m->labelled = take_bool(s, json, "labels");
    m->named = take_bool(s, json, "node_names");
    m->has_split = take_bool(s, json, "split");
    const struct {
        const char *key;
        int64_t *value;
    } count[] = {{"directed", &m->cleaned.directed}, {"duplicates", &m->cleaned.duplicates},
        {"loops", &m->cleaned.loops}, {"zeros", &m->cleaned.zeros},
        {"weighted", &m->cleaned.weighted}, {"isolated", &m->cleaned.isolated}};
    for (size_t i = 0; i < sizeof count / sizeof *count; i++)
        *count[i].value = (int64_t)take_count(s, cleaned, count[i].key, most);
    if (!s->status && m->n_nodes == 0)
        wrong(s, "nodes", "at least one");
    if (!s->status)
        take_parts(s, m, json);
    if (!s->status)
        take_names(s, &m->class_names, json, "class_names", m->n_classes);
    if (!s->status)
        take_names(s, &m->column_names, json, "feature_names", m->n_cols);
}

graphss_status graphss_i_manifest_read(
    graphss_ctx *ctx, graphss_i_manifest *out, const char *folder)
{
    char path[GRAPHSS_I_SHARD_PATH], *text = NULL;
    size_t n = 0;
    graphss_i_manifest m = {0};
    json_error_t error;
    bool starved;
    snprintf(path, sizeof path, "%s/" GRAPHSS_I_MANIFEST_FILE, folder);
    source s = {ctx, path, graphss_i_file_read(ctx, &text, &n, path, LARGEST)};
    if (s.status)
        return s.status;
    json_t *json = graphss_i_json_load(text, n, JSON_REJECT_DUPLICATES, &error, &starved);
    graphss_release(ctx, text);
    if (!json)
        return starved ? graphss_i_nomem(ctx, n)
                       : graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s:%d:%d: %s", path,
                             error.line, error.column, error.text);
    const char *format = json_string_value(json_object_get(json, "format"));
    if (!format || strcmp(format, format_text) != 0)
        wrong(&s, "format",
            "\"graphss shards 1\": it is not a manifest of shards, or a later "
            "version wrote it");
    else
        take_all(&s, &m, json);
    json_decref(json);
    if (s.status)
        graphss_i_manifest_destroy(ctx, &m);
    else
        *out = m;
    return s.status;
}

void graphss_i_manifest_destroy(graphss_ctx *ctx, graphss_i_manifest *m)
{
    graphss_names_destroy(ctx, &m->class_names);
    graphss_names_destroy(ctx, &m->column_names);
    graphss_release(ctx, m->part);
    *m = (graphss_i_manifest){0};
}
