/* event_sources.c - where events come from: one table, a row a kind. A new kind is a row here
 * and a file with its functions, see event_source.h. */
#include "live/event_source.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { READ = 1 << 16 };
static const double TAIL_PAUSE = 0.1; /* seconds between two checks of a file that may grow */

/* ---- kinds ---- */

static graphss_status open_stdin(
    graphss_ctx *ctx, graphss_event_source *s, const char *rest, const graphss_dataset *data)
{
    (void)rest;
    (void)data;
    s->fd = dup(STDIN_FILENO);
    return s->fd >= 0
               ? GRAPHSS_OK
               : graphss_i_fail(ctx, GRAPHSS_ERR_IO, "standard input: %s", strerror(errno));
}

static graphss_status open_file(
    graphss_ctx *ctx, graphss_event_source *s, const char *rest, const graphss_dataset *data)
{
    (void)data;
    s->fd = open(rest, O_RDONLY | O_CLOEXEC);
    return s->fd >= 0
               ? GRAPHSS_OK
               : graphss_i_fail(ctx, errno == ENOENT ? GRAPHSS_ERR_NOT_FOUND : GRAPHSS_ERR_IO,
                     "%s: %s", rest, strerror(errno));
}

static const char *node_name(const graphss_dataset *data, int32_t node, char *room, size_t n)
{
    if (data->node_names.count)
        return graphss_names_get(&data->node_names, (size_t)node);
    snprintf(room, n, "%d", (int)node);
    return room;
}

/* A change of a flips file as an event. */
static graphss_status flip_line(graphss_ctx *ctx, char **line, const graphss_flip *f,
    const graphss_dataset *data, int64_t seq, const char *source)
{
    char u[32], v[32], column[32];
    const char *name = column;
    graphss_event e = {.op = f->kind == GRAPHSS_FLIP_FEATURE ? GRAPHSS_EVENT_SET_FEATURES
                             : f->new_value != 0             ? GRAPHSS_EVENT_ADD_EDGE
                                                             : GRAPHSS_EVENT_REMOVE_EDGE,
        .t = NAN,
        .source = source,
        .seq = seq,
        .u = node_name(data, f->node, u, sizeof u)};
    const float value = (float)f->new_value;
    if (f->kind == GRAPHSS_FLIP_FEATURE) {
        snprintf(column, sizeof column, "%d", (int)f->target);
        if (data->column_names.count)
            name = graphss_names_get(&data->column_names, (size_t)f->target);
        e.n_features = 1;
        e.feature = &name;
        e.value = &value;
    } else {
        e.v = node_name(data, f->target, v, sizeof v);
    }
    return graphss_event_text(ctx, line, &e);
}

static graphss_status append(
    graphss_ctx *ctx, graphss_event_source *s, const char *bytes, size_t n)
{
    if (s->n + n > s->room) {
        const size_t room = 2 * (s->n + n) + READ;
        char *text = graphss_i_grow(ctx, s->text, s->n, room, 1);
        if (!text)
            return GRAPHSS_ERR_NOMEM;
        s->text = text;
        s->room = room;
    }
    memcpy(s->text + s->n, bytes, n);
    s->n += n;
    return GRAPHSS_OK;
}

static graphss_status open_flips(
    graphss_ctx *ctx, graphss_event_source *s, const char *rest, const graphss_dataset *data)
{
    graphss_flips flips = {0};
    if (!data)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_INVALID, "flips:%s: want the dataset, too", rest);
    graphss_status st = graphss_flips_read(ctx, &flips, rest, data);
    for (size_t i = 0; i < flips.count && !st; i++) {
        char *line = NULL;
        st = flip_line(ctx, &line, &flips.item[i], data, (int64_t)i, s->name);
        if (!st)
            st = append(ctx, s, line, strlen(line));
        if (!st)
            st = append(ctx, s, "\n", 1);
        graphss_release(ctx, line);
    }
    graphss_flips_destroy(ctx, &flips);
    s->over = true;
    return st;
}

static const graphss_i_source_kind kinds[] = {
    {.prefix = "-", .text = "- or stdin: standard input", .open = open_stdin},
    {.prefix = "stdin", .text = "- or stdin: standard input", .open = open_stdin},
    {.prefix = "tail:",
        .text = "tail:FILE: a file of events that grows",
        .open = open_file,
        .waits = true,
        .resumes = true},
    {.prefix = "flips:",
        .text = "flips:FILE: a list of changes as attack writes it",
        .open = open_flips,
        .resumes = true},
    {.prefix = "postgresql:",
        .text = "postgresql:MAP.json: changes of tables, by a logical slot",
        .open = graphss_i_postgresql_open,
        .more = graphss_i_postgresql_more,
        .resume = graphss_i_postgresql_resume,
        .stored = graphss_i_postgresql_stored,
        .close = graphss_i_postgresql_close},
    {.prefix = "kafka:",
        .text = "kafka:MAP.json: topics of events or Debezium's envelopes",
        .open = graphss_i_kafka_open,
        .more = graphss_i_kafka_more,
        .follow = graphss_i_kafka_follow,
        .stored = graphss_i_kafka_stored,
        .close = graphss_i_kafka_close},
    {.prefix = "",
        .text = "FILE: a file of events, to its end",
        .open = open_file,
        .resumes = true},
};

const char *graphss_event_source_kind(size_t i)
{
    return i + 1 < sizeof kinds / sizeof *kinds ? kinds[i + 1].text : NULL;
}

/* ---- life ---- */

graphss_status graphss_event_source_open(graphss_ctx *ctx, graphss_event_source **out,
    const char *where, const graphss_dataset *data)
{
    if (GRAPHSS_I_LACKS(ctx, {"source", where}, {"place for the source", out}))
        return GRAPHSS_ERR_INVALID;
    const graphss_i_source_kind *k = kinds;
    for (;; k++) {
        const size_t n = strlen(k->prefix);
        if (n && k->prefix[n - 1] == ':' ? !strncmp(where, k->prefix, n)
                                         : !n || !strcmp(where, k->prefix))
            break;
    }
    graphss_event_source *s = graphss_i_calloc(ctx, 1, sizeof *s);
    if (!s)
        return GRAPHSS_ERR_NOMEM;
    s->kind = k;
    s->fd = -1;
    s->name = graphss_i_strdup(ctx, where);
    graphss_status st =
        s->name
            ? k->open(ctx, s, where + (k->open == open_stdin ? 0 : strlen(k->prefix)), data)
            : GRAPHSS_ERR_NOMEM;
    if (st)
        graphss_event_source_free(ctx, s);
    else
        *out = s;
    return st;
}

void graphss_event_source_free(graphss_ctx *ctx, graphss_event_source *s)
{
    if (!s)
        return;
    if (s->self)
        s->kind->close(ctx, s);
    if (s->fd >= 0)
        close(s->fd);
    for (size_t i = 0; i < s->n_lines; i++)
        graphss_release(ctx, s->line[i].text);
    graphss_release(ctx, s->line);
    graphss_release(ctx, s->trouble);
    graphss_release(ctx, s->text);
    graphss_release(ctx, s->name);
    graphss_release(ctx, s);
}

const char *graphss_event_source_name(const graphss_event_source *s)
{
    return s->name;
}

graphss_status graphss_event_source_resume(
    graphss_ctx *ctx, graphss_event_source *s, uint64_t offset)
{
    if (GRAPHSS_I_LACKS(ctx, {"source", s}))
        return GRAPHSS_ERR_INVALID;
    if (s->kind->resume)
        return s->kind->resume(ctx, s, offset);
    if (!s->kind->resumes)
        return GRAPHSS_OK;
    struct stat info;
    const bool file = s->fd >= 0;
    if (file && fstat(s->fd, &info) != 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_IO, "%s: %s", s->name, strerror(errno));
    const uint64_t size = file ? (uint64_t)info.st_size : s->n;
    if (offset > size)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "%s: was read up to byte %llu and now ends at %llu: another "
            "file wants another name",
            s->name, (unsigned long long)offset, (unsigned long long)size);
    if (file && lseek(s->fd, (off_t)offset, SEEK_SET) < 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_IO, "%s: %s", s->name, strerror(errno));
    s->at = file ? 0 : (size_t)offset;
    s->n = file ? 0 : s->n;
    s->offset = offset;
    return GRAPHSS_OK;
}

graphss_status graphss_live_follow(
    graphss_ctx *ctx, const graphss_live *live, graphss_event_source *s, uint64_t offset)
{
    if (GRAPHSS_I_LACKS(ctx, {"live graph", live}, {"source", s}))
        return GRAPHSS_ERR_INVALID;
    return s->kind->follow ? s->kind->follow(ctx, s, live)
                           : graphss_event_source_resume(ctx, s, offset);
}

graphss_status graphss_event_source_stored(
    graphss_ctx *ctx, graphss_event_source *s, uint64_t offset)
{
    if (GRAPHSS_I_LACKS(ctx, {"source", s}))
        return GRAPHSS_ERR_INVALID;
    return s->kind->stored ? s->kind->stored(ctx, s, offset) : GRAPHSS_OK;
}

const char *graphss_event_source_trouble(const graphss_event_source *s)
{
    return s->trouble;
}

/* ---- lines of kinds with more() ---- */

graphss_status graphss_i_source_put(graphss_ctx *ctx, graphss_event_source *s,
    const char *text, size_t n, uint64_t offset, bool part)
{
    if (s->n_lines == s->lines_room) {
        const size_t room = 2 * s->n_lines + 64;
        graphss_i_source_line *more =
            graphss_i_grow(ctx, s->line, s->n_lines, room, sizeof *more);
        if (!more)
            return GRAPHSS_ERR_NOMEM;
        s->line = more;
        s->lines_room = room;
    }
    const size_t kept = n < GRAPHSS_EVENT_BYTES ? n : GRAPHSS_EVENT_BYTES;
    char *copy = graphss_i_copy(ctx, text, kept, 1);
    if (!copy)
        return GRAPHSS_ERR_NOMEM;
    s->line[s->n_lines++] = (graphss_i_source_line){copy, kept, offset, part};
    return GRAPHSS_OK;
}

graphss_status graphss_i_source_say(
    graphss_ctx *ctx, graphss_event_source *s, const char *trouble)
{
    if (trouble && s->trouble && !strcmp(trouble, s->trouble))
        return GRAPHSS_OK;
    char *copy = trouble ? graphss_i_strdup(ctx, trouble) : NULL;
    if (trouble && !copy)
        return GRAPHSS_ERR_NOMEM;
    graphss_release(ctx, s->trouble);
    s->trouble = copy;
    return GRAPHSS_OK;
}

static graphss_status next_put(graphss_ctx *ctx, graphss_event_next *what, const char **line,
    size_t *n, uint64_t *offset, graphss_event_source *s, double seconds)
{
    if (s->given == s->n_lines) {
        for (size_t i = 0; i < s->n_lines; i++)
            graphss_release(ctx, s->line[i].text);
        s->given = s->n_lines = 0;
        const graphss_status st = s->kind->more(ctx, s, seconds);
        if (st)
            return st;
    }
    *what = GRAPHSS_EVENT_NONE;
    if (s->given < s->n_lines) {
        const graphss_i_source_line *l = &s->line[s->given++];
        *what = l->part ? GRAPHSS_EVENT_PART : GRAPHSS_EVENT_LINE;
        *line = l->text;
        *n = l->n;
        s->offset = l->offset;
    }
    if (offset)
        *offset = s->offset;
    return GRAPHSS_OK;
}

/* ---- lines of files ---- */

/* Reads more; *got is false where there is none now. */
static graphss_status read_more(
    graphss_ctx *ctx, graphss_event_source *s, double seconds, bool *got)
{
    char block[READ];
    *got = false;
    if (s->at) { /* lines that were passed on are dropped */
        memmove(s->text, s->text + s->at, s->n - s->at);
        s->n -= s->at;
        s->at = 0;
    }
    struct pollfd p = {.fd = s->fd, .events = POLLIN};
    const int wait = seconds <= 0 ? 0 : seconds > 1e6 ? 1000000000 : (int)ceil(seconds * 1000);
    const int ready = poll(&p, 1, wait);
    if (ready == 0 || (ready < 0 && errno == EINTR))
        return GRAPHSS_OK;
    const ssize_t n = ready < 0 ? -1 : read(s->fd, block, sizeof block);
    if (n < 0 && errno == EINTR)
        return GRAPHSS_OK;
    if (n < 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_IO, "%s: %s", s->name, strerror(errno));
    s->over = n == 0 && !s->kind->waits;
    if (n == 0 && s->kind->waits && seconds > 0) {
        const double pause = seconds < TAIL_PAUSE ? seconds : TAIL_PAUSE;
        nanosleep(&(struct timespec){.tv_nsec = (long)(pause * 1e9)}, NULL);
    }
    *got = n > 0;
    return n > 0 ? append(ctx, s, block, (size_t)n) : GRAPHSS_OK;
}

/* A whole line from s->at on; false if there is none yet. A last line without a newline counts
 * once the source has ended. */
static bool take_line(graphss_event_source *s, const char **line, size_t *n)
{
    const size_t left = s->n - s->at;
    const char *from = left ? s->text + s->at : NULL;
    const char *end = left ? memchr(from, '\n', left) : NULL;
    if (!end && !(s->over && left) && left < GRAPHSS_EVENT_BYTES)
        return false;
    const size_t length = end ? (size_t)(end - from) : left;
    *line = from;
    *n = length && from[length - 1] == '\r' ? length - 1 : length;
    s->at += length + (end != NULL);
    s->offset += length + (end != NULL);
    const bool rest = s->skipping; /* of a line that was given cut */
    s->skipping = !end && !s->over;
    return !rest;
}

graphss_status graphss_event_source_next(graphss_ctx *ctx, graphss_event_next *what,
    const char **line, size_t *n, uint64_t *offset, graphss_event_source *s, double seconds)
{
    if (GRAPHSS_I_LACKS(ctx, {"source", s}, {"place for the line", line},
            {"place for its length", n}, {"place for what came", what}))
        return GRAPHSS_ERR_INVALID;
    if (s->kind->more)
        return next_put(ctx, what, line, n, offset, s, seconds);
    const double until = graphss_i_seconds() + seconds;
    for (;;) {
        const size_t before = s->at;
        if (take_line(s, line, n)) {
            *what = GRAPHSS_EVENT_LINE;
            break;
        }
        if (s->at != before)
            continue;
        *what = s->over ? GRAPHSS_EVENT_END : GRAPHSS_EVENT_NONE;
        const double left = until - graphss_i_seconds();
        bool got = false;
        if (s->over)
            break;
        const graphss_status st = read_more(ctx, s, left, &got);
        if (st)
            return st;
        if (!got && !s->over && left <= 0)
            break;
    }
    if (offset)
        *offset = s->offset;
    return GRAPHSS_OK;
}
