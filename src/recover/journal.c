/* journal.c - see journal.h. A record is a head, the global numbers of its nodes, their rows,
 * the state of a round, all in this machine's byte order, and the SHA-256 of all that as text.
 * Nothing is read into memory before its stage asks for it, and no more than a record then. */
#include "recover/journal.h"
#include "data/digest.h"
#include "graph/part.h"
#include "models/checkpoint.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    NODES = 8192, /* bytes of a record, at most: some megabytes */
    /* bytes of a row, and of a state, at most: beyond this the head is damaged */
    WIDEST = 1 << 24,
    DIGEST = 64
};

static const char magic[8] = "gss-jrn1";

typedef struct head {
    char magic[8], of[64];
    uint64_t stage, round, n, size, bytes; /* n nodes, rows of size, a state of bytes */
} head;

/* The position of a record. */
typedef struct place {
    uint64_t stage, round, n, size, bytes;
    off_t at;
    int32_t file; /* number in its name */
} place;

struct graphss_i_journal {
    graphss_i_checkpointing saved; /* path: the folder */
    place *list;                   /* [n] records found when it was opened */
    size_t n, room;
    FILE *file; /* of this rank; NULL: nothing was written yet, or writing failed */
    off_t end;  /* of it */
    bool failed;

    uint64_t stage; /* 0: none yet */
    const int32_t *node;
    int32_t *index; /* [nodes of this rank] number in node, -1: not among them */
    size_t m, n_own;
    double last; /* written, by graphss_i_seconds */
};

static void file_name(
    char path[GRAPHSS_I_CHECKPOINT_PATH], const graphss_i_journal *j, size_t rank)
{
    snprintf(path, GRAPHSS_I_CHECKPOINT_PATH, GRAPHSS_I_CHECKPOINT_RANK, j->saved.path, rank);
}

static uint64_t length_of(const head *h)
{
    return sizeof *h + h->n * (sizeof(int64_t) + h->size) + h->bytes + DIGEST;
}

/* ---- opening ---- */

static graphss_status damaged(graphss_ctx *ctx, const char *path, off_t at)
{
    return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
        "%s: the record at byte %lld is damaged: remove the folder to start again", path,
        (long long)at);
}

static graphss_status remember(graphss_ctx *ctx, graphss_i_journal *j, place p)
{
    if (j->n == j->room) {
        const size_t room = j->room ? 2 * j->room : 64;
        place *grown = graphss_i_grow(ctx, j->list, j->n, room, sizeof *grown);
        if (!grown)
            return GRAPHSS_ERR_NOMEM;
        j->list = grown;
        j->room = room;
    }
    j->list[j->n++] = p;
    return GRAPHSS_OK;
}

/* True if the SHA-256 of a record of that length follows it. */
static bool sound(FILE *file, off_t at, uint64_t length)
{
    char bytes[16384], hex[DIGEST + 1], found[DIGEST];
    graphss_i_digest d;
    graphss_i_digest_begin(&d, GRAPHSS_I_SHA256);
    if (fseeko(file, at, SEEK_SET) != 0)
        return false;
    for (uint64_t left = length - DIGEST; left;) {
        const size_t n = left < sizeof bytes ? (size_t)left : sizeof bytes;
        if (fread(bytes, 1, n, file) != n)
            return false;
        graphss_i_digest_add(&d, bytes, n);
        left -= n;
    }
    graphss_i_digest_end(&d, hex);
    return fread(found, 1, DIGEST, file) == DIGEST && memcmp(hex, found, DIGEST) == 0;
}

/* Finds the records of a file; *end is the end of the last whole one. */
static graphss_status scan(graphss_ctx *ctx, graphss_i_journal *j, FILE *file,
    const char *path, int32_t number, off_t *end)
{
    const size_t before = j->n;
    graphss_status st = GRAPHSS_OK;
    if (fseeko(file, 0, SEEK_END) != 0)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_IO, "%s: cannot read: %s", path, strerror(errno));
    const off_t size = ftello(file);
    off_t at = 0;
    for (head h; !st && size - at >= (off_t)sizeof h;) {
        if (fseeko(file, at, SEEK_SET) != 0 || fread(&h, sizeof h, 1, file) != 1)
            return graphss_i_fail(ctx, GRAPHSS_ERR_IO, "%s: cannot read", path);
        if (memcmp(h.magic, magic, sizeof magic) != 0 || h.n > NODES || h.size > WIDEST ||
            h.bytes > WIDEST)
            return damaged(ctx, path, at);
        if (memcmp(h.of, j->saved.of, sizeof h.of) != 0)
            return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                "%s: of another recovery: want one with the same model, "
                "snapshots, options and "
                "seed, or no folder",
                path);
        if (length_of(&h) > (uint64_t)(size - at))
            break;
        st = remember(ctx, j, (place){h.stage, h.round, h.n, h.size, h.bytes, at, number});
        at += (off_t)length_of(&h);
    }
    /* A record being written when the machine itself stopped may have no content. */
    if (!st && j->n > before) {
        const place *last = &j->list[j->n - 1];
        if (!sound(file, last->at, (uint64_t)(at - last->at))) {
            at = last->at;
            j->n--;
        }
    }
    *end = at;
    return st;
}

static graphss_status scan_folder(graphss_ctx *ctx, graphss_i_journal *j)
{
    char path[GRAPHSS_I_CHECKPOINT_PATH];
    graphss_status st = GRAPHSS_OK;
    DIR *folder = opendir(j->saved.path);
    if (!folder)
        return errno == ENOENT
                   ? GRAPHSS_OK
                   : graphss_i_fail(ctx, errno == ENOTDIR ? GRAPHSS_ERR_DATA : GRAPHSS_ERR_IO,
                         "%s: cannot open: %s", j->saved.path, strerror(errno));
    for (const struct dirent *entry; !st && (entry = readdir(folder));) {
        unsigned number;
        char rest;
        off_t end = 0;
        if (sscanf(entry->d_name, "rank-%5u%c", &number, &rest) != 1)
            continue;
        file_name(path, j, number);
        FILE *file = fopen(path, "rbe");
        if (!file) {
            st = graphss_i_fail(
                ctx, GRAPHSS_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
            break;
        }
        st = scan(ctx, j, file, path, (int32_t)number, &end);
        fclose(file);
        if (number == graphss_i_rank(ctx))
            j->end = end;
    }
    closedir(folder);
    return st;
}

graphss_status graphss_i_journal_open(
    graphss_ctx *ctx, graphss_i_journal **out, const char *what)
{
    graphss_i_checkpointing saved = {0};
    graphss_status st = graphss_i_checkpoint_open(ctx, &saved, what, strlen(what));
    *out = NULL;
    if (st || !saved.path)
        return st;
    graphss_i_journal *j = graphss_i_calloc(ctx, 1, sizeof *j);
    if (!j) {
        graphss_i_checkpoint_destroy(ctx, &saved);
        return graphss_engine_agree(ctx, GRAPHSS_ERR_NOMEM, NULL);
    }
    j->saved = saved;
    j->last = graphss_i_seconds();
    st = graphss_engine_agree(ctx, scan_folder(ctx, j), NULL);
    if (st) {
        graphss_i_journal_close(ctx, j);
        return st;
    }
    if (j->n)
        graphss_i_log(ctx, GRAPHSS_LOG_INFO, "continues from %s", j->saved.path);
    *out = j;
    return GRAPHSS_OK;
}

void graphss_i_journal_close(graphss_ctx *ctx, graphss_i_journal *j)
{
    if (!j)
        return;
    if (j->file)
        fclose(j->file);
    graphss_i_checkpoint_destroy(ctx, &j->saved);
    graphss_release(ctx, j->list);
    graphss_release(ctx, j->index);
    graphss_release(ctx, j);
}

/* ---- reading ---- */

graphss_status graphss_i_journal_stage(
    graphss_ctx *ctx, graphss_i_journal *j, const int32_t *node, size_t m)
{
    if (!j)
        return GRAPHSS_OK;
    size_t n_own = 0;
    for (size_t i = 0; i < m; i++)
        n_own = (size_t)node[i] + 1 > n_own ? (size_t)node[i] + 1 : n_own;
    graphss_release(ctx, j->index);
    j->index = graphss_i_alloc(ctx, n_own, sizeof *j->index);
    if (!j->index)
        return GRAPHSS_ERR_NOMEM;
    for (size_t v = 0; v < n_own; v++)
        j->index[v] = -1;
    for (size_t i = 0; i < m; i++)
        j->index[node[i]] = (int32_t)i;
    j->stage++;
    j->node = node;
    j->m = m;
    j->n_own = n_own;
    return GRAPHSS_OK;
}

/* The number of a node among those of the stage, -1: it is not one of them. */
static int64_t number_of(const graphss_ctx *ctx, const graphss_i_journal *j, int64_t id)
{
    const graphss_i_part *part = graphss_i_ctx_part(ctx);
    const int64_t v = part ? graphss_i_part_find(part, id) : id;
    return v < 0 || (size_t)v >= j->n_own ? -1 : j->index[v];
}

/* Reads a record, which is checked, and takes the rows of own nodes from it. */
static graphss_status take_record(graphss_ctx *ctx, const graphss_i_journal *j, const place *p,
    const graphss_i_journal_rows *rows, uint8_t *done, void *state, size_t bytes)
{
    char path[GRAPHSS_I_CHECKPOINT_PATH], hex[DIGEST + 1];
    const head h = {.n = p->n, .size = p->size, .bytes = p->bytes};
    const size_t length = (size_t)length_of(&h);
    file_name(path, j, (size_t)p->file);
    if (p->size != rows->size || p->bytes != bytes)
        return damaged(ctx, path, p->at);
    char *text = graphss_i_alloc(ctx, length, 1);
    if (!text)
        return GRAPHSS_ERR_NOMEM;
    graphss_status st = GRAPHSS_OK;
    FILE *file = fopen(path, "rbe");
    if (!file || fseeko(file, p->at, SEEK_SET) != 0 || fread(text, 1, length, file) != length)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_IO, "%s: cannot read", path);
    if (file)
        fclose(file);
    if (!st) {
        graphss_i_digest d;
        graphss_i_digest_begin(&d, GRAPHSS_I_SHA256);
        graphss_i_digest_add(&d, text, length - DIGEST);
        graphss_i_digest_end(&d, hex);
        if (memcmp(hex, text + length - DIGEST, DIGEST) != 0)
            st = damaged(ctx, path, p->at);
    }
    const char *row = text + sizeof h + p->n * sizeof(int64_t);
    for (size_t r = 0; r < p->n && !st; r++) {
        int64_t id;
        memcpy(&id, text + sizeof h + r * sizeof id, sizeof id);
        const int64_t i = number_of(ctx, j, id);
        if (i < 0)
            continue;
        rows->take(rows->of, (size_t)i, row + r * p->size);
        done[i] = 1;
    }
    if (!st && bytes)
        memcpy(state, row + p->n * p->size, bytes);
    graphss_release(ctx, text);
    return st;
}

static graphss_status take_round(graphss_ctx *ctx, const graphss_i_journal *j,
    const graphss_i_journal_rows *rows, uint64_t round, uint8_t *done, void *state,
    size_t bytes)
{
    graphss_status st = GRAPHSS_OK;
    for (size_t r = 0; r < j->n && !st; r++)
        if (j->list[r].stage == j->stage && j->list[r].round == round)
            st = take_record(ctx, j, &j->list[r], rows, done, state, bytes);
    return st;
}

graphss_status graphss_i_journal_read(
    graphss_ctx *ctx, graphss_i_journal *j, const graphss_i_journal_rows *rows, uint8_t *done)
{
    memset(done, 0, j ? j->m : 0);
    return j ? take_round(ctx, j, rows, 0, done, NULL, 0) : GRAPHSS_OK;
}

graphss_status graphss_i_journal_round(graphss_ctx *ctx, graphss_i_journal *j,
    const graphss_i_journal_rows *rows, uint64_t *round, void *state, size_t bytes)
{
    *round = 0;
    if (!j)
        return GRAPHSS_OK;
    uint8_t *done = graphss_i_alloc(ctx, j->m, sizeof *done);
    graphss_status st = graphss_engine_agree(ctx, done ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, NULL);
    for (uint64_t below = UINT64_MAX; !st;) {
        /* All ranks have read the same files, and choose the same. */
        uint64_t latest = 0;
        size_t missing = 0;
        for (size_t r = 0; r < j->n; r++)
            if (j->list[r].stage == j->stage && j->list[r].round < below &&
                j->list[r].round > latest)
                latest = j->list[r].round;
        if (latest == 0)
            break;
        memset(done, 0, j->m);
        st = graphss_engine_agree(
            ctx, take_round(ctx, j, rows, latest, done, state, bytes), NULL);
        for (size_t i = 0; i < j->m; i++)
            missing += !done[i];
        if (!st)
            st = graphss_i_ranks_total(ctx, &missing);
        if (!st && missing == 0) {
            *round = latest;
            break;
        }
        below = latest;
    }
    graphss_release(ctx, done);
    return st;
}

/* ---- writing ---- */

bool graphss_i_journal_due(const graphss_i_journal *j)
{
    return j && !j->failed && graphss_i_seconds() - j->last >= j->saved.every;
}

/* Opens the file of this rank after its last whole record. */
static graphss_status open_file(graphss_ctx *ctx, graphss_i_journal *j)
{
    char path[GRAPHSS_I_CHECKPOINT_PATH];
    const graphss_status st = graphss_i_folder_make(ctx, j->saved.path);
    if (st)
        return st;
    file_name(path, j, graphss_i_rank(ctx));
    j->file = fopen(path, "abe");
    if (!j->file || ftruncate(fileno(j->file), j->end) != 0)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_IO, "%s: cannot write: %s", path, strerror(errno));
    return GRAPHSS_OK;
}

static graphss_status write_record(
    graphss_ctx *ctx, graphss_i_journal *j, const char *text, size_t length)
{
    if (fwrite(text, 1, length, j->file) == length && fflush(j->file) == 0) {
        j->end += (off_t)length;
        return GRAPHSS_OK;
    }
    const int error = errno;
    if (ftruncate(fileno(j->file), j->end) != 0)
        errno = 0; /* then it stays torn, and readers skip it */
    return graphss_i_fail(
        ctx, GRAPHSS_ERR_IO, "%s: cannot write: %s", j->saved.path, strerror(error));
}

/* at most NODES nodes */
static graphss_status add(graphss_ctx *ctx, graphss_i_journal *j,
    const graphss_i_journal_rows *rows, const size_t *at, size_t first, size_t n,
    uint64_t round, const void *state, size_t bytes)
{
    const graphss_i_part *part = graphss_i_ctx_part(ctx);
    head h = {.stage = j->stage, .round = round, .n = n, .size = rows->size, .bytes = bytes};
    char hex[DIGEST + 1];
    graphss_i_digest d;
    const size_t length = (size_t)length_of(&h);
    char *text = graphss_i_alloc(ctx, length, 1);
    if (!text)
        return GRAPHSS_ERR_NOMEM;
    memcpy(h.magic, magic, sizeof magic);
    memcpy(h.of, j->saved.of, sizeof h.of);
    memcpy(text, &h, sizeof h);
    char *row = text + sizeof h + n * sizeof(int64_t);
    for (size_t i = 0; i < n; i++) {
        const size_t which = at ? at[first + i] : first + i;
        const int32_t v = j->node[which];
        const int64_t id = part ? part->id[v] : v;
        memcpy(text + sizeof h + i * sizeof id, &id, sizeof id);
        rows->put(rows->of, which, row + i * rows->size);
    }
    if (bytes)
        memcpy(row + n * rows->size, state, bytes);
    graphss_i_digest_begin(&d, GRAPHSS_I_SHA256);
    graphss_i_digest_add(&d, text, length - DIGEST);
    graphss_i_digest_end(&d, hex);
    memcpy(text + length - DIGEST, hex, DIGEST);
    const graphss_status st = write_record(ctx, j, text, length);
    graphss_release(ctx, text);
    return st;
}

void graphss_i_journal_add(graphss_ctx *ctx, graphss_i_journal *j,
    const graphss_i_journal_rows *rows, const size_t *at, size_t first, size_t n,
    uint64_t round, const void *state, size_t bytes)
{
    if (!j || j->failed || n == 0)
        return;
    graphss_status st = j->file ? GRAPHSS_OK : open_file(ctx, j);
    for (size_t from = 0; from < n && !st; from += NODES)
        st = add(ctx, j, rows, at, first + from, n - from < NODES ? n - from : NODES, round,
            state, bytes);
    if (!st && fsync(fileno(j->file)) != 0)
        st = graphss_i_fail(
            ctx, GRAPHSS_ERR_IO, "%s: cannot write: %s", j->saved.path, strerror(errno));
    if (st) {
        graphss_i_log(
            ctx, GRAPHSS_LOG_WARN, "no checkpoint is kept: %s", graphss_ctx_error(ctx));
        j->failed = true;
    }
    j->last = graphss_i_seconds();
}
