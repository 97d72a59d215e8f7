/* directory.c - see shard.h. */
#include "base/ranks.h"
#include "data/build.h"
#include "data/shards/shard.h"
#include <string.h>

/* Names on their way to the ranks they belong to. */
typedef struct mail {
    size_t *out, *in;             /* [ranks] names; one block with */
    size_t *out_bytes, *in_bytes; /* their letters */
    size_t *sent;                 /* [names] which name is the i-th that was sent */
    char *letters, *came;
    size_t n_in;
} mail;

static void mail_close(graphss_ctx *ctx, mail *m)
{
    graphss_release(ctx, m->out);
    graphss_release(ctx, m->sent);
    graphss_release(ctx, m->letters);
    graphss_release(ctx, m->came);
}

/* The low bits choose the place in the owner's table. */
static size_t owner_of(const char *name, size_t length, size_t ranks)
{
    return (size_t)(graphss_i_name_hash(name, length) >> 32) % ranks;
}

/* Sorts the names by their owners. */
static graphss_status pack(graphss_ctx *ctx, mail *m, const graphss_names *names)
{
    const size_t ranks = graphss_i_ranks(ctx), n = names->count;
    m->out = graphss_i_calloc(ctx, ranks, 6 * sizeof *m->out);
    m->sent = graphss_i_alloc(ctx, n, sizeof *m->sent);
    m->letters = graphss_i_alloc(ctx, n ? names->start[n] : 0, 1);
    if (!m->out || !m->sent || !m->letters)
        return GRAPHSS_ERR_NOMEM;
    m->in = m->out + ranks;
    m->out_bytes = m->in + ranks;
    m->in_bytes = m->out_bytes + ranks;
    size_t *place = m->in_bytes + ranks, *letter = place + ranks;
    for (size_t i = 0; i < n; i++) {
        const size_t size = names->start[i + 1] - names->start[i];
        const size_t to = owner_of(graphss_names_get(names, i), size - 1, ranks);
        m->out[to]++;
        m->out_bytes[to] += size;
    }
    for (size_t r = 1; r < ranks; r++) {
        place[r] = place[r - 1] + m->out[r - 1];
        letter[r] = letter[r - 1] + m->out_bytes[r - 1];
    }
    for (size_t i = 0; i < n; i++) {
        const size_t size = names->start[i + 1] - names->start[i];
        const size_t to = owner_of(graphss_names_get(names, i), size - 1, ranks);
        memcpy(m->letters + letter[to], graphss_names_get(names, i), size);
        letter[to] += size;
        m->sent[place[to]++] = i;
    }
    return GRAPHSS_OK;
}

static graphss_status deliver(graphss_ctx *ctx, mail *m, const graphss_names *names)
{
    size_t bytes = 0;
    graphss_status st = graphss_engine_agree(ctx, pack(ctx, m, names), NULL);
    if (!st)
        st = graphss_i_ranks_counts(ctx, m->in, m->out);
    if (!st)
        st = graphss_i_ranks_counts(ctx, m->in_bytes, m->out_bytes);
    for (size_t r = 0; r < graphss_i_ranks(ctx) && !st; r++) {
        m->n_in += m->in[r];
        bytes += m->in_bytes[r];
    }
    if (st)
        return st;
    m->came = graphss_i_alloc(ctx, bytes, 1);
    st = graphss_engine_agree(ctx, m->came ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, NULL);
    return st ? st
              : graphss_i_ranks_exchange(
                    ctx, m->came, m->in_bytes, m->letters, m->out_bytes, 1);
}

/* The table of this rank: names that came, and the least number of each. */
typedef struct owned {
    graphss_i_intern names;
    int64_t *number;
} owned;

static graphss_status learn(graphss_ctx *ctx, owned *o, const mail *m, const int64_t *number)
{
    const char *name = m->came;
    graphss_status st = GRAPHSS_OK;
    o->number = graphss_i_alloc(ctx, m->n_in, sizeof *o->number);
    if (!o->number)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < m->n_in && !st; i++) {
        size_t at = 0;
        bool added = false;
        const size_t length = strlen(name);
        st = graphss_i_intern_add(ctx, &at, &added, &o->names, name, length);
        if (!st && (added || number[i] < o->number[at]))
            o->number[at] = number[i];
        name += length + 1;
    }
    return st;
}

/* What the names are called goes to their owners, which keep it. */
static graphss_status tell(
    graphss_ctx *ctx, owned *o, const graphss_names *known, const int64_t *number)
{
    mail m = {0};
    int64_t *out = NULL, *in = NULL;
    graphss_status st = deliver(ctx, &m, known);
    if (!st) {
        out = graphss_i_alloc(ctx, known->count, sizeof *out);
        in = graphss_i_alloc(ctx, m.n_in, sizeof *in);
        st = graphss_engine_agree(ctx, out && in ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, NULL);
    }
    for (size_t i = 0; i < known->count && !st; i++)
        out[i] = number[m.sent[i]];
    if (!st)
        st = graphss_i_ranks_exchange(ctx, in, m.in, out, m.out, sizeof *in);
    if (!st)
        st = learn(ctx, o, &m, in);
    graphss_release(ctx, in);
    graphss_release(ctx, out);
    mail_close(ctx, &m);
    return graphss_engine_agree(ctx, st, NULL);
}

static graphss_status ask(
    graphss_ctx *ctx, int64_t *found, const owned *o, const graphss_names *asked)
{
    mail m = {0};
    int64_t *answer = NULL, *in = NULL;
    graphss_status st = deliver(ctx, &m, asked);
    if (!st) {
        answer = graphss_i_alloc(ctx, m.n_in, sizeof *answer);
        in = graphss_i_alloc(ctx, asked->count, sizeof *in);
        st = graphss_engine_agree(ctx, answer && in ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, NULL);
    }
    const char *name = m.came;
    for (size_t i = 0; i < m.n_in && !st; i++) {
        const size_t length = strlen(name);
        const int64_t at = graphss_i_intern_find(&o->names, name, length);
        answer[i] = at < 0 ? -1 : o->number[at];
        name += length + 1;
    }
    if (!st)
        st = graphss_i_ranks_exchange(ctx, in, m.out, answer, m.in, sizeof *in);
    for (size_t i = 0; i < asked->count && !st; i++)
        found[m.sent[i]] = in[i];
    graphss_release(ctx, in);
    graphss_release(ctx, answer);
    mail_close(ctx, &m);
    return st;
}

graphss_status graphss_i_directory_find(graphss_ctx *ctx, int64_t *found,
    const graphss_names *asked, const graphss_names *known, const int64_t *number)
{
    owned o = {0};
    graphss_status st = tell(ctx, &o, known, number);
    if (!st)
        st = ask(ctx, found, &o, asked);
    graphss_i_intern_destroy(ctx, &o.names);
    graphss_release(ctx, o.number);
    return st;
}
