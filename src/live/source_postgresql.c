/* source_postgresql.c - changes of tables of PostgreSQL, from a logical slot.
 *
 * An ordinary query reads the slot (peek, plugin pgoutput), and another one advances it once
 * the events are stored. A line's offset is the place in the server's log behind the
 * transaction it is of. Lines of one transaction go into one batch, and the offset is stored
 * with it: so each transaction is applied once and whole, whichever side crashes. A connection
 * that is lost is tried again every second. */
#include "live/postgresql.h"
#include <math.h>
#include <string.h>
#include <time.h>

enum { CHANGES = 2000, COLUMNS_MOST = 1664 };
static const double PAUSE = 0.2, RETRY = 1, IDLE = 10; /* seconds */
static const double SINCE_1970 = 946684800;            /* of the server's year 2000 */

/* ---- pgoutput ---- */

typedef struct cursor {
    const unsigned char *at, *end;
    bool broken;
} cursor;

static uint64_t take_number(cursor *c, size_t bytes)
{
    uint64_t x = 0;
    if (c->broken || (size_t)(c->end - c->at) < bytes) {
        c->broken = true;
        return 0;
    }
    for (size_t i = 0; i < bytes; i++)
        x = x << 8 | c->at[i];
    c->at += bytes;
    return x;
}

static const char *take_text(cursor *c)
{
    const unsigned char *end =
        c->broken ? NULL : memchr(c->at, '\0', (size_t)(c->end - c->at));
    const char *text = (const char *)c->at;
    if (!end) {
        c->broken = true;
        return "";
    }
    c->at = end + 1;
    return text;
}

static graphss_i_pg_relation *find_relation(const graphss_i_pg *r, uint32_t oid)
{
    for (size_t i = 0; i < r->n_relations; i++)
        if (r->relation[i].oid == oid)
            return &r->relation[i];
    return NULL;
}

/* 'R': oid, schema, name, identity, columns (flags, name, type, modifier). */
static graphss_status take_relation(graphss_ctx *ctx, graphss_i_pg *r, cursor *c)
{
    const uint32_t oid = (uint32_t)take_number(c, 4);
    const char *schema = take_text(c), *name = take_text(c);
    char *full = graphss_i_format(ctx, "%s.%s", schema, name);
    if (!full)
        return GRAPHSS_ERR_NOMEM;
    const graphss_i_map_table *t = graphss_i_map_find(&r->map, full);
    graphss_release(ctx, full);
    graphss_i_pg_relation *known = find_relation(r, oid);
    if (!known) {
        graphss_i_pg_relation *more =
            graphss_i_grow(ctx, r->relation, r->n_relations, r->n_relations + 1, sizeof *more);
        if (!more)
            return GRAPHSS_ERR_NOMEM;
        r->relation = more;
        known = &r->relation[r->n_relations++];
        *known = (graphss_i_pg_relation){.oid = oid};
    }
    graphss_release(ctx, known->place);
    known->table = t;
    known->place = graphss_i_alloc(ctx, t ? t->n : 0, sizeof *known->place);
    if (!known->place)
        return GRAPHSS_ERR_NOMEM;
    for (size_t j = 0; t && j < t->n; j++)
        known->place[j] = -1;
    (void)take_number(c, 1);
    const int n = (int)take_number(c, 2);
    for (int i = 0; i < n && !c->broken; i++) {
        (void)take_number(c, 1);
        const char *column = take_text(c);
        (void)take_number(c, 8);
        for (size_t j = 0; t && j < t->n; j++)
            if (!strcmp(t->column[j], column))
                known->place[j] = i;
    }
    for (size_t j = 0; t && j < t->n; j++)
        if (known->place[j] < 0)
            return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                "postgresql: table %s has lost its column '%s'", t->name, t->column[j]);
    return GRAPHSS_OK;
}

/* A row of the table; key: other columns are sent as null, and are absent. */
static void take_row(graphss_i_cell *out, cursor *c, const graphss_i_pg_relation *of, bool key)
{
    graphss_i_cell cell[COLUMNS_MOST];
    const size_t n = (size_t)take_number(c, 2);
    if (n > COLUMNS_MOST)
        c->broken = true;
    for (size_t i = 0; i < n && !c->broken; i++) {
        const char kind = (char)take_number(c, 1);
        cell[i] = (graphss_i_cell){.there = kind == 't' || (kind == 'n' && !key)};
        if (kind != 't')
            continue;
        const size_t bytes = (size_t)take_number(c, 4);
        if (c->broken || bytes > (size_t)(c->end - c->at)) {
            c->broken = true;
            break;
        }
        cell[i].text = (const char *)c->at;
        cell[i].n = bytes;
        c->at += bytes;
    }
    for (size_t j = 0; of->table && j < of->table->n && !c->broken; j++) {
        const size_t at = (size_t)of->place[j];
        out[j] = at < n ? cell[at] : (graphss_i_cell){0};
    }
}

typedef struct put_line {
    graphss_ctx *ctx;
    graphss_i_pg *r;
} put_line;

static graphss_status put(void *user, const char *line, size_t n)
{
    const put_line *p = user;
    p->r->lines++;
    return graphss_i_source_put(p->ctx, p->r->source, line, n, p->r->given, true);
}

/* 'I', 'U', 'D': oid, then rows marked 'K' (its key), 'O' (old) or 'N' (new). */
static graphss_status take_change(graphss_ctx *ctx, graphss_i_pg *r, cursor *c)
{
    const graphss_i_pg_relation *of = find_relation(r, (uint32_t)take_number(c, 4));
    if (!of)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "postgresql: a row of an unknown table");
    if (!of->table || r->skip)
        return GRAPHSS_OK;
    graphss_i_cell *cell = graphss_i_calloc(ctx, 2 * of->table->n, sizeof *cell);
    if (!cell)
        return GRAPHSS_ERR_NOMEM;
    graphss_i_row_change change = {.table = of->table, .t = r->t, .seq = -1};
    while (c->at < c->end && !c->broken) {
        const char kind = (char)take_number(c, 1);
        graphss_i_cell *to = cell + (kind == 'N' ? of->table->n : 0);
        take_row(to, c, of, kind == 'K');
        if (kind == 'N')
            change.after = to;
        else
            change.before = to;
    }
    put_line p = {ctx, r};
    const graphss_status st =
        c->broken ? graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                        "postgresql: a change of %s that ends early", of->table->name)
                  : graphss_i_map_row(ctx, &change, put, &p);
    graphss_release(ctx, cell);
    return st;
}

static graphss_status take_truncate(graphss_ctx *ctx, const graphss_i_pg *r, cursor *c)
{
    const size_t n = (size_t)take_number(c, 4);
    (void)take_number(c, 1);
    for (size_t i = 0; i < n && !c->broken && !r->skip; i++) {
        const graphss_i_pg_relation *of = find_relation(r, (uint32_t)take_number(c, 4));
        if (of && of->table)
            return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                "postgresql: table %s was truncated, and its rows are not "
                "told: extract it again and begin a new store",
                of->table->name);
    }
    return GRAPHSS_OK;
}

/* The transaction ends at `end`: its last line closes the batch. */
static void commit(graphss_i_pg *r, uint64_t end)
{
    if (r->skip)
        return;
    r->given = end;
    if (r->lines) {
        graphss_i_source_line *last = &r->source->line[r->source->n_lines - 1];
        last->part = false;
        last->offset = end;
    }
}

static graphss_status take_message(graphss_ctx *ctx, graphss_i_pg *r, cursor *c)
{
    switch ((char)take_number(c, 1)) {
    case 'B': {
        const uint64_t final = take_number(c, 8);
        r->t = (double)(int64_t)take_number(c, 8) / 1e6 + SINCE_1970;
        r->skip = final < r->given;
        r->lines = 0;
        return GRAPHSS_OK;
    }
    case 'C':
        (void)take_number(c, 9); /* flags, and where the commit is; where it ends: */
        commit(r, take_number(c, 8));
        return GRAPHSS_OK;
    case 'R':
        return take_relation(ctx, r, c);
    case 'I':
    case 'U':
    case 'D':
        return take_change(ctx, r, c);
    case 'T':
        return take_truncate(ctx, r, c);
    default: /* types, origins, messages */
        return GRAPHSS_OK;
    }
}

/* ---- the slot ---- */

static void log_place(char out[32], uint64_t place)
{
    snprintf(out, 32, "%X/%X", (unsigned)(place >> 32), (unsigned)place);
}

/* Advances the slot, which drops everything before a position. */
static graphss_status forget(graphss_ctx *ctx, graphss_i_pg *r, uint64_t place)
{
    char text[32];
    log_place(text, place);
    const char *const value[] = {r->slot, text};
    pg_result *result = r->pq.ask(r->db,
        "select pg_replication_slot_advance(slot_name, $2::pg_lsn) from "
        "pg_replication_slots where slot_name = $1 and confirmed_flush_lsn < "
        "$2::pg_lsn",
        2, NULL, value, NULL, NULL, 0);
    const bool good = result && r->pq.result(result) == TUPLES_OK;
    const graphss_status st =
        good ? GRAPHSS_OK : graphss_i_pg_fail(ctx, r, result, "the slot");
    r->pq.clear(result);
    return st;
}

/* Appends the changes after the slot's position to lines. */
static graphss_status peek(graphss_ctx *ctx, graphss_i_pg *r)
{
    char number[16];
    char *quoted = r->pq.identifier(r->db, r->publication, strlen(r->publication));
    const char *const value[] = {r->slot, number, quoted};
    snprintf(number, sizeof number, "%d", r->changes);
    if (!quoted)
        return graphss_i_nomem(ctx, 0);
    pg_result *result = r->pq.ask(r->db,
        "select data from pg_logical_slot_peek_binary_changes($1, "
        "null, $2, 'proto_version', '1', 'publication_names', $3)",
        3, NULL, value, NULL, NULL, 1);
    graphss_status st = GRAPHSS_OK;
    if (!result || r->pq.result(result) != TUPLES_OK) {
        st = graphss_i_pg_fail(ctx, r, result, "the slot");
        if (graphss_i_pg_state_is(r, result, "42704"))
            st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                "postgresql: no slot '%s': graphss extract --start makes it, "
                "with the dataset it begins at",
                r->slot);
    }
    const int n = st ? 0 : r->pq.rows(result);
    for (int i = 0; i < n && !st; i++) {
        const unsigned char *at = (const unsigned char *)r->pq.value(result, i, 0);
        cursor c = {at, at + r->pq.length(result, i, 0), false};
        st = take_message(ctx, r, &c);
        if (!st && c.broken)
            st =
                graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "postgresql: a message that ends early");
    }
    r->pq.clear(result);
    r->pq.release(quoted);
    /* All of it was passed on and is not stored yet: read beyond it. */
    if (!st && n && !r->source->n_lines && r->changes < 1 << 28)
        r->changes *= 2;
    else if (!st)
        r->changes = CHANGES;
    return st;
}

/* The end of the server's log, before a read that finds nothing: the slot may drop other
 * tables' changes up to there. */
static graphss_status log_end(graphss_ctx *ctx, graphss_i_pg *r, uint64_t *out)
{
    pg_result *result = r->pq.exec(r->db, "select pg_current_wal_lsn() - '0/0'::pg_lsn");
    double place = 0;
    const bool good = result && r->pq.result(result) == TUPLES_OK && r->pq.rows(result) == 1 &&
                      graphss_i_parse_double(&place, r->pq.value(result, 0, 0),
                          (size_t)r->pq.length(result, 0, 0));
    const graphss_status st = good ? GRAPHSS_OK : graphss_i_pg_fail(ctx, r, result, "the log");
    r->pq.clear(result);
    if (!st)
        *out = (uint64_t)place;
    return st;
}

/* One read of the slot. */
static graphss_status read_slot(graphss_ctx *ctx, graphss_i_pg *r)
{
    graphss_status st = GRAPHSS_OK;
    uint64_t end = 0;
    if (r->again > graphss_i_seconds())
        return GRAPHSS_OK;
    if (!r->db)
        st = graphss_i_pg_connect(ctx, r, false);
    const bool idle = !st && r->stored >= r->given && graphss_i_seconds() > r->idle;
    if (!st && idle)
        st = log_end(ctx, r, &end);
    if (!st)
        st = peek(ctx, r);
    if (!st && idle && !r->source->n_lines && r->stored >= r->given) {
        st = forget(ctx, r, end);
        r->idle = graphss_i_seconds() + IDLE;
    }
    if (st == GRAPHSS_ERR_IO) { /* the server is away, or the slot is in use: later */
        st = graphss_i_source_say(ctx, r->source, graphss_ctx_error(ctx));
        for (size_t i = 0; i < r->source->n_lines; i++)
            graphss_release(ctx, r->source->line[i].text);
        r->source->n_lines = 0;
        graphss_i_pg_disconnect(r);
        r->again = graphss_i_seconds() + RETRY;
        return st;
    }
    return st ? st : graphss_i_source_say(ctx, r->source, NULL);
}

graphss_status graphss_i_postgresql_more(
    graphss_ctx *ctx, graphss_event_source *s, double seconds)
{
    graphss_i_pg *r = s->self;
    const double until = graphss_i_seconds() + seconds;
    for (;;) {
        const graphss_status st = read_slot(ctx, r);
        const double left = until - graphss_i_seconds();
        if (st || s->n_lines || left <= 0)
            return st;
        const double pause = left < PAUSE ? left : PAUSE;
        nanosleep(&(struct timespec){.tv_nsec = (long)(pause * 1e9)}, NULL);
    }
}

graphss_status graphss_i_postgresql_resume(
    graphss_ctx *ctx, graphss_event_source *s, uint64_t offset)
{
    (void)ctx;
    graphss_i_pg *r = s->self;
    r->given = r->stored = offset;
    return GRAPHSS_OK;
}

graphss_status graphss_i_postgresql_stored(
    graphss_ctx *ctx, graphss_event_source *s, uint64_t offset)
{
    graphss_i_pg *r = s->self;
    if (offset <= r->stored)
        return GRAPHSS_OK;
    r->stored = offset;
    if (!r->db || forget(ctx, r, offset) == GRAPHSS_OK)
        return GRAPHSS_OK;
    graphss_i_pg_disconnect(r); /* the slot is advanced later: stored changes are skipped */
    return GRAPHSS_OK;
}

/* ---- life ---- */

graphss_status graphss_i_postgresql_open(
    graphss_ctx *ctx, graphss_event_source *s, const char *rest, const graphss_dataset *data)
{
    (void)data;
    graphss_i_pg *r = NULL;
    graphss_status st = graphss_i_pg_open(ctx, &r, rest, false);
    if (st)
        return st;
    s->self = r;
    r->source = s;
    r->changes = CHANGES;
    return graphss_i_pg_check_tables(ctx, r, true);
}

void graphss_i_postgresql_close(graphss_ctx *ctx, graphss_event_source *s)
{
    graphss_i_pg_free(ctx, s->self);
}
