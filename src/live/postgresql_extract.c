/* postgresql_extract.c - tables of PostgreSQL as a dataset, and the slot that begins there. */
#include "live/postgresql.h"
#include <string.h>

/* Is any feature of this name among those of tables before t? */
static bool seen_before(const graphss_i_map *map, size_t t, size_t column, const char *name)
{
    for (size_t i = 0; i <= t; i++)
        for (size_t c = 1 + map->table[i].label;
             c < (i < t ? map->table[i].n : column) && !map->table[i].links; c++)
            if (!strcmp(map->table[i].column[c], name))
                return true;
    return false;
}

/* The columns that are features of any table, in one order for all. */
static void add_features(
    graphss_i_sql *b, const graphss_i_map *map, const graphss_i_map_table *of)
{
    for (size_t t = 0; t < map->n && !map->table[t].links; t++)
        for (size_t c = 1 + map->table[t].label; c < map->table[t].n; c++) {
            const char *name = map->table[t].column[c];
            bool own = false;
            if (seen_before(map, t, c, name))
                continue;
            for (size_t j = 1 + of->label; j < of->n; j++)
                own = own || !strcmp(of->column[j], name);
            graphss_i_sql_add(b, ", ");
            if (own) {
                graphss_i_sql_add(b, "coalesce(case ");
                graphss_i_sql_quoted(b, name, true);
                graphss_i_sql_add(
                    b, "::text when 'true' then '1' when 'false' then '0' else ");
                graphss_i_sql_quoted(b, name, true);
                graphss_i_sql_add(b, "::text end, '0')");
            } else {
                graphss_i_sql_add(b, "'0'");
            }
            graphss_i_sql_add(b, " as ");
            graphss_i_sql_quoted(b, name, true);
        }
}

static void add_id(
    graphss_i_sql *b, const graphss_i_map_table *t, size_t column, const char *as)
{
    graphss_i_sql_quoted(b, t->prefix[t->links ? column : 0], false);
    graphss_i_sql_add(b, " || ");
    graphss_i_sql_quoted(b, t->column[column], true);
    graphss_i_sql_add(b, "::text as ");
    graphss_i_sql_add(b, as);
}

/* COPY of all nodes, or of all links. */
static void add_copy(graphss_i_sql *b, const graphss_i_map *map, bool links)
{
    bool any = false;
    graphss_i_sql_add(b, "copy (");
    for (size_t i = 0; i < map->n; i++) {
        const graphss_i_map_table *t = &map->table[i];
        if (t->links != links)
            continue;
        graphss_i_sql_add(b, any ? " union all select " : "select ");
        any = true;
        add_id(b, t, 0, links ? "src_id, " : "node_id, ");
        if (links) {
            add_id(b, t, 1, "dst_id");
        } else {
            if (t->label) {
                graphss_i_sql_quoted(b, t->column[1], true);
                graphss_i_sql_add(b, "::text as label");
            } else {
                graphss_i_sql_add(b, "null::text as label");
            }
            add_features(b, map, t);
        }
        graphss_i_sql_add(b, " from ");
        graphss_i_sql_table(b, t->name);
        graphss_i_sql_add(b, " where ");
        graphss_i_sql_quoted(b, t->column[0], true);
        graphss_i_sql_add(b, " is not null");
        if (links) {
            graphss_i_sql_add(b, " and ");
            graphss_i_sql_quoted(b, t->column[1], true);
            graphss_i_sql_add(b, " is not null");
        }
    }
    graphss_i_sql_add(b, " order by 1, 2) to stdout with (format csv, header)");
}

static graphss_status copy_to(
    graphss_ctx *ctx, graphss_i_pg *r, const char *folder, const char *file, bool links)
{
    graphss_i_sql b = {.ctx = ctx, .r = r};
    graphss_i_output out = {0};
    char *path = graphss_i_format(ctx, "%s/%s", folder, file);
    add_copy(&b, &r->map, links);
    graphss_status st = b.broken || !path ? GRAPHSS_ERR_NOMEM : GRAPHSS_OK;
    pg_result *result = st ? NULL : r->pq.exec(r->db, b.text);
    if (!st && (!result || r->pq.result(result) != COPY_OUT))
        st = graphss_i_pg_fail(ctx, r, result, file);
    r->pq.clear(result);
    if (!st)
        st = graphss_i_output_open(ctx, &out, path);
    for (int n = 1; !st && n > 0;) {
        char *bytes = NULL;
        n = r->pq.copy(r->db, &bytes, 0);
        if (n > 0)
            st = graphss_i_output_write(ctx, &out, bytes, (size_t)n);
        else if (n < -1)
            st = graphss_i_pg_fail(ctx, r, NULL, file);
        r->pq.release(bytes);
    }
    if (!st) { /* did the server end well? */
        result = r->pq.exec(r->db, "select 1");
        if (!result || r->pq.result(result) != TUPLES_OK)
            st = graphss_i_pg_fail(ctx, r, result, file);
        r->pq.clear(result);
    }
    if (!st)
        st = graphss_i_output_commit(ctx, &out);
    else
        graphss_i_output_abandon(ctx, &out);
    graphss_release(ctx, path);
    graphss_release(ctx, b.text);
    return st;
}

/* Creates the publication if it does not exist. */
static graphss_status publish(graphss_ctx *ctx, graphss_i_pg *r)
{
    graphss_i_sql b = {.ctx = ctx, .r = r};
    graphss_i_sql_add(&b, "select 1 from pg_publication where pubname = ");
    graphss_i_sql_quoted(&b, r->publication, false);
    pg_result *result = b.broken ? NULL : r->pq.exec(r->db, b.text);
    graphss_status st = b.broken ? GRAPHSS_ERR_NOMEM
                        : result && r->pq.result(result) == TUPLES_OK
                            ? GRAPHSS_OK
                            : graphss_i_pg_fail(ctx, r, result, "publication");
    const bool there = !st && r->pq.rows(result);
    r->pq.clear(result);
    b.n = 0;
    if (!st && !there) {
        graphss_i_sql_add(&b, "create publication ");
        graphss_i_sql_quoted(&b, r->publication, true);
        for (size_t i = 0; i < r->map.n; i++) {
            graphss_i_sql_add(&b, i ? ", " : " for table ");
            graphss_i_sql_table(&b, r->map.table[i].name);
        }
        st = b.broken ? GRAPHSS_ERR_NOMEM : graphss_i_pg_run(ctx, r, b.text);
    }
    graphss_release(ctx, b.text);
    return st;
}

/* Creates the slot, whose snapshot the open transaction then uses; drops it on errors. */
static graphss_status slot(graphss_ctx *ctx, graphss_i_pg *r, bool make)
{
    graphss_i_sql b = {.ctx = ctx, .r = r};
    graphss_i_sql_add(&b, make ? "CREATE_REPLICATION_SLOT " : "DROP_REPLICATION_SLOT ");
    graphss_i_sql_quoted(&b, r->slot, true);
    graphss_i_sql_add(&b, make ? " LOGICAL pgoutput USE_SNAPSHOT" : "");
    const graphss_status st = b.broken ? GRAPHSS_ERR_NOMEM : graphss_i_pg_run(ctx, r, b.text);
    graphss_release(ctx, b.text);
    return st;
}

graphss_status graphss_event_source_extract(
    graphss_ctx *ctx, const char *where, const char *folder, bool start)
{
    static const char prefix[] = "postgresql:";
    graphss_i_pg *r = NULL;
    bool made = false;
    if (GRAPHSS_I_LACKS(ctx, {"source", where}, {"folder", folder}))
        return GRAPHSS_ERR_INVALID;
    if (strncmp(where, prefix, sizeof prefix - 1) != 0)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_INVALID, "%s: tables are read from postgresql:MAP.json", where);
    graphss_status st = graphss_i_pg_open(ctx, &r, where + sizeof prefix - 1, start);
    if (st)
        return st;
    if (start)
        st = publish(ctx, r);
    if (!st)
        st = graphss_i_pg_check_tables(ctx, r, start);
    if (!st)
        st = graphss_i_pg_run(ctx, r, "begin isolation level repeatable read read only");
    if (!st && start) {
        st = slot(ctx, r, true);
        made = !st;
    }
    if (!st)
        st = graphss_i_folder_make(ctx, folder);
    if (!st)
        st = copy_to(ctx, r, folder, "nodes.csv", false);
    if (!st)
        st = copy_to(ctx, r, folder, "edges.csv", true);
    if (!st)
        st = graphss_i_pg_run(ctx, r, "commit");
    if (st && made) { /* the first error is kept */
        char *said = graphss_i_strdup(ctx, graphss_ctx_error(ctx));
        (void)graphss_i_pg_run(ctx, r, "rollback");
        (void)slot(ctx, r, false);
        if (said)
            (void)graphss_i_fail(ctx, st, "%s", said);
        graphss_release(ctx, said);
    }
    graphss_i_pg_free(ctx, r);
    return st;
}
