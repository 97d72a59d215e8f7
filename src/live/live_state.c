/* live_state.c - a live graph as bytes, and back.
 *
 * It stores what cannot be computed: graph, features, names, labels, the differences of the
 * trusted snapshot, and the test. Probabilities and evidence follow from these, with the same
 * bits. Numbers have the byte order of the machine; a stamp at the front identifies it. */
#include "live/live_private.h"
#include <math.h>
#include <string.h>

static const char STAMP[16] = "graphss live 4\n";

/* ---- one walk for size, writing and reading ---- */

typedef struct bytes {
    graphss_ctx *ctx;
    unsigned char *at;       /* writing; NULL: sizes alone */
    const unsigned char *in; /* reading */
    size_t n, room;          /* so far; of what is read */
    bool reading;
    graphss_status st;
} bytes;

static void put(bytes *b, void *data, size_t n)
{
    if (b->st)
        return;
    if (b->reading && n > b->room - b->n) {
        b->st = graphss_i_fail(
            b->ctx, GRAPHSS_ERR_DATA, "the state ends after %zu bytes", b->room);
        return;
    }
    if (b->reading && n)
        memcpy(data, b->in + b->n, n);
    else if (b->at && n)
        memcpy(b->at + b->n, data, n);
    b->n += n;
}

#define PUT(b, x) put(b, &(x), sizeof(x))

/* A count, at most what the remaining bytes can hold. */
static size_t put_count(bytes *b, size_t n, size_t size)
{
    uint64_t count = n;
    PUT(b, count);
    if (!b->st && b->reading && count > (b->room - b->n) / (size ? size : 1))
        b->st = graphss_i_fail(b->ctx, GRAPHSS_ERR_DATA, "a count of %llu in %zu bytes",
            (unsigned long long)count, b->room);
    return b->st ? 0 : (size_t)count;
}

/* n elements in a block of their own, made when reading; NULL of none. */
static void put_array(bytes *b, void *array, size_t *n, size_t size)
{
    void *block = NULL;
    *n = put_count(b, *n, size);
    if (b->st || *n == 0)
        return;
    memcpy(&block, array, sizeof block);
    if (b->reading) {
        block = graphss_i_alloc(b->ctx, *n, size);
        memcpy(array, &block, sizeof block);
        if (!block) {
            b->st = GRAPHSS_ERR_NOMEM;
            return;
        }
    }
    put(b, block, *n * size);
}

/* NULL and "" differ. */
static void put_text(bytes *b, char **text)
{
    size_t n = *text ? strlen(*text) + 1 : 0;
    put_array(b, text, &n, 1);
    if (b->reading && !b->st && n == 0) {
        graphss_release(b->ctx, *text);
        *text = NULL;
    } else if (b->reading && !b->st && (*text)[n - 1]) {
        b->st = graphss_i_fail(b->ctx, GRAPHSS_ERR_DATA, "a text without an end");
    }
}

static void put_names(bytes *b, graphss_i_live_names *names)
{
    size_t n = put_count(b, names->n, 1);
    for (size_t i = 0; i < n && !b->st; i++) {
        char *name =
            b->reading || names->start[i] == SIZE_MAX ? NULL : names->text + names->start[i];
        put_text(b, &name);
        if (!b->reading || b->st)
            continue;
        if (name && graphss_i_live_names_find(names, name) >= 0)
            b->st = graphss_i_fail(b->ctx, GRAPHSS_ERR_DATA, "a name stands twice");
        if (!b->st)
            b->st = graphss_i_live_names_put(b->ctx, names, i, name ? name : "");
        if (!b->st && !name)
            graphss_i_live_names_drop(names, i);
        graphss_release(b->ctx, name);
    }
}

/* Ascending, and in range. */
static bool sound_row(const int32_t *key, size_t n, size_t most)
{
    for (size_t i = 0; i < n; i++)
        if (key[i] < 0 || (size_t)key[i] >= most || (i && key[i] <= key[i - 1]))
            return false;
    return true;
}

static void put_rows(bytes *b, graphss_i_live_rows *rows, size_t n, size_t most)
{
    for (size_t i = 0; i < n && !b->st; i++) {
        size_t m = b->reading ? 0 : graphss_i_live_length(rows, i), same = m;
        int32_t *key = m ? rows->key + rows->row[i].start : NULL;
        uint32_t *payload = m ? rows->payload + rows->row[i].start : NULL;
        put_array(b, &key, &m, sizeof *key);
        put_array(b, &payload, &same, sizeof *payload);
        if (!b->reading)
            continue;
        if (!b->st && (same != m || !sound_row(key, m, most)))
            b->st = graphss_i_fail(b->ctx, GRAPHSS_ERR_DATA, "row %zu is not in order", i);
        if (!b->st)
            b->st = graphss_i_live_rows_set(b->ctx, rows, i, key, payload, m);
        graphss_release(b->ctx, key);
        graphss_release(b->ctx, payload);
    }
}

/* Allocates n zeroed elements when reading; keeps the existing ones otherwise. */
static size_t put_list(bytes *b, void *array, size_t n, size_t size)
{
    n = put_count(b, n, 1);
    if (!b->reading || b->st)
        return b->st ? 0 : n;
    void *block = graphss_i_calloc(b->ctx, n, size);
    memcpy(array, &block, sizeof block);
    b->st = block ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    return block ? n : 0;
}

static bool sound_change(
    const graphss_live *x, const graphss_i_live_changed *c, size_t columns, size_t alone)
{
    return c->node >= 0 && (size_t)c->node < x->n && x->record[c->node] < 0 &&
           sound_row(c->was_edge, c->n_was_edges, x->n) &&
           (x->alive[c->node] || c->was_name) &&
           (!c->features ||
               (alone == x->k && (x->is_dense ? c->n_was_features == x->d
                                              : columns == c->n_was_features &&
                                                    sound_row(c->was_column, columns, x->d))));
}

static void put_changed(bytes *b, graphss_live *x)
{
    const size_t n = put_list(b, &x->changed, x->n_changed, sizeof *x->changed);
    if (b->reading)
        x->n_changed = x->changed_room = n;
    for (size_t i = 0; i < n && !b->st; i++) {
        graphss_i_live_changed *c = &x->changed[i];
        PUT(b, c->node);
        PUT(b, c->is_new);
        PUT(b, c->edges);
        PUT(b, c->features);
        PUT(b, c->judged);
        PUT(b, c->ranked);
        PUT(b, c->judged_at);
        PUT(b, c->suspicion);
        PUT(b, c->p_value);
        PUT(b, c->since);
        size_t columns = c->features && !x->is_dense ? c->n_was_features : 0;
        size_t alone = c->features ? x->k : 0;
        put_array(b, &c->was_edge, &c->n_was_edges, sizeof *c->was_edge);
        put_array(b, &c->was_column, &columns, sizeof *c->was_column);
        put_array(b, &c->was_value, &c->n_was_features, sizeof *c->was_value);
        put_array(b, &c->was_alone, &alone, sizeof *c->was_alone);
        put_text(b, &c->was_name);
        if (b->reading && !b->st && !sound_change(x, c, columns, alone))
            b->st = graphss_i_fail(b->ctx, GRAPHSS_ERR_DATA, "changed node %zu is unsound", i);
        if (b->reading && !b->st)
            x->record[c->node] = (int32_t)i;
    }
}

static void put_groups(bytes *b, graphss_live *x)
{
    size_t n = put_count(b, x->n_groups, 1);
    for (size_t g = 0; g < n && !b->st; g++) {
        char *name = b->reading ? NULL : x->group[g].name;
        put_text(b, &name);
        if (b->reading && !b->st)
            b->st = name && g < GRAPHSS_LIVE_GROUPS
                        ? graphss_i_live_group_add(b->ctx, x, name)
                        : graphss_i_fail(b->ctx, GRAPHSS_ERR_DATA, "a group without a name");
        if (b->reading)
            graphss_release(b->ctx, name);
        if (b->st)
            return;
        put_names(b, &x->group[g].member);
        PUT(b, x->group[g].bets);
        PUT(b, x->group[g].alert);
    }
}

static void put_alerts(bytes *b, graphss_live *x)
{
    const size_t n = put_list(b, &x->alert, x->n_alerts, sizeof *x->alert);
    if (b->reading)
        x->n_alerts = n;
    for (size_t i = 0; i < n && !b->st; i++) {
        graphss_i_live_alert *a = &x->alert[i];
        size_t p = a->n_suspects, score = a->n_suspects;
        uint64_t group = a->group;
        uint32_t state = a->state;
        PUT(b, group);
        PUT(b, state);
        PUT(b, a->t);
        PUT(b, a->settled);
        PUT(b, a->e_value);
        PUT(b, a->threshold);
        PUT(b, a->p_value);
        PUT(b, a->judged);
        put_array(b, &a->suspect, &a->n_suspects, sizeof *a->suspect);
        put_array(b, &a->suspect_p, &p, sizeof *a->suspect_p);
        put_array(b, &a->suspect_score, &score, sizeof *a->suspect_score);
        a->group = (size_t)group;
        a->state = (graphss_alert_state)state;
        if (!b->st && (group >= x->n_groups || state > GRAPHSS_ALERT_CONFIRMED ||
                          p != a->n_suspects || score != p))
            b->st = graphss_i_fail(b->ctx, GRAPHSS_ERR_DATA, "alert %zu is unsound", i + 1);
    }
}

/* Rows of the trusted probabilities that are not those of now: differing [*n] nodes. */
static void put_trusted(
    bytes *b, graphss_live *x, int32_t **differing, float **rows, size_t *n)
{
    const size_t wide = x->k * sizeof(float);
    if (!b->reading) {
        *n = 0;
        for (size_t i = 0; i < x->n; i++)
            *n += memcmp(x->trusted_prob + i * x->k, graphss_i_live_answer(&x->net, i),
                      wide) != 0;
    }
    *n = put_count(b, *n, wide);
    if (b->reading && !b->st) {
        *differing = graphss_i_alloc(b->ctx, *n, sizeof **differing);
        *rows = graphss_i_alloc(b->ctx, *n, wide);
        if (!*differing || !*rows)
            b->st = GRAPHSS_ERR_NOMEM;
        for (size_t i = 0; i < *n && !b->st; i++) {
            PUT(b, (*differing)[i]);
            put(b, *rows + i * x->k, wide);
            if (!b->st && ((*differing)[i] < 0 || (size_t)(*differing)[i] >= x->n))
                b->st = graphss_i_fail(
                    b->ctx, GRAPHSS_ERR_DATA, "no node %d", (int)(*differing)[i]);
        }
        return;
    }
    for (size_t i = 0; i < x->n && !b->st; i++)
        if (memcmp(x->trusted_prob + i * x->k, graphss_i_live_answer(&x->net, i), wide)) {
            int32_t node = (int32_t)i;
            PUT(b, node);
            put(b, x->trusted_prob + i * x->k, wide);
        }
}

static void put_sizes(bytes *b, graphss_live *x, size_t *n)
{
    PUT(b, x->opt);
    PUT(b, x->feature_kind);
    *n = put_count(b, x->n, 1);
    PUT(b, x->now_t);
    PUT(b, x->next_check);
    PUT(b, x->trusted_since);
    uint64_t *const count[] = {&x->applied, &x->duplicates, &x->refused, &x->expired,
        &x->checks, &x->judged, &x->warm};
    for (size_t i = 0; i < sizeof count / sizeof *count; i++)
        put(b, count[i], sizeof **count);
    PUT(b, x->batch);
    PUT(b, x->reference);
    x->n_past_tests = put_count(b, x->n_past_tests, sizeof *x->past_test);
    if (!b->st && x->n_past_tests > GRAPHSS_LIVE_PAST_TESTS) {
        x->n_past_tests = 0;
        b->st = graphss_i_fail(b->ctx, GRAPHSS_ERR_DATA, "too many past tests");
    }
    put(b, x->past_test, x->n_past_tests * sizeof *x->past_test);
}

/* Reads or writes everything after the head. */
static void put_all(
    bytes *b, graphss_live *x, int32_t **differing, float **rows, size_t *n_rows)
{
    size_t n = 0, sources, zeros = x->keep_zero ? x->d : 0;
    put_sizes(b, x, &n);
    put_array(b, &x->keep_zero, &zeros, sizeof *x->keep_zero);
    if (b->reading && !b->st && zeros != x->d) {
        graphss_release(b->ctx, x->keep_zero);
        x->keep_zero = NULL;
    }
    if (b->reading && !b->st) {
        b->st = graphss_i_state_model_recall(
            b->ctx, &x->states, &x->has_states, x->model, x->d, x->is_dense || x->keep_zero);
        if (!b->st)
            b->st = graphss_i_live_reserve(b->ctx, x, n);
        x->n = b->st ? 0 : n;
    }
    if (b->st)
        return;
    put_names(b, &x->names);
    put(b, x->alive, n);
    put(b, x->label, n * sizeof *x->label);
    put(b, x->version, n * sizeof *x->version);
    put_rows(b, &x->edges, n, n);
    if (x->is_dense)
        put(b, x->dense, n * x->d * sizeof *x->dense);
    else
        put_rows(b, &x->sparse, n, x->d);
    if (x->has_states) {
        graphss_i_reference *r = &x->coherence;
        size_t words = r->bits ? x->d * r->width : 0, columns = r->count ? x->d : 0;
        uint64_t size[2] = {r->n, r->width};
        put(b, x->propagated, n * x->k * sizeof *x->propagated);
        PUT(b, size);
        put_array(b, &r->bits, &words, sizeof *r->bits);
        put_array(b, &r->count, &columns, sizeof *r->count);
        r->n = (size_t)size[0];
        r->width = (size_t)size[1];
        r->kernels = graphss_i_ctx_kernels(b->ctx);
        if (!b->st && (r->n > 64 * r->width || (columns && columns != x->d) ||
                          words != columns * r->width))
            b->st = graphss_i_fail(b->ctx, GRAPHSS_ERR_DATA, "the reference is unsound");
    }
    put_trusted(b, x, differing, rows, n_rows);
    put_changed(b, x);
    uint64_t n_free = x->n_free;
    PUT(b, n_free);
    put_array(b, &x->freed, &x->n_freed, sizeof *x->freed);
    x->freed_room = b->reading ? x->n_freed : x->freed_room;
    x->n_free = (size_t)n_free;
    put_groups(b, x);
    put_alerts(b, x);
    put_names(b, &x->seen.source);
    sources = x->seen.source.n;
    put_array(b, &x->seen.seq, &sources, sizeof *x->seen.seq);
    if (b->reading)
        x->seen.room = sources;
    size_t endings = x->n_ending;
    put_array(b, &x->ending, &endings, sizeof *x->ending);
    if (b->reading)
        x->n_ending = x->ending_room = b->st ? 0 : endings;
}

typedef struct head {
    char stamp[16];
    uint32_t order; /* of bytes */
    uint32_t dense;
    uint64_t d, k;
    char model[72]; /* its fingerprint */
} head;

static head head_of(const graphss_model *model, size_t d, size_t k, bool dense)
{
    head h = {.order = 0x01020304, .dense = dense, .d = d, .k = k};
    memcpy(h.stamp, STAMP, sizeof h.stamp);
    graphss_model_fingerprint(h.model, model);
    return h;
}

graphss_status graphss_live_save(
    graphss_ctx *ctx, void **out, size_t *n, const graphss_live *live)
{
    if (GRAPHSS_I_LACKS(ctx, {"live graph", live}, {"place for the bytes", out},
            {"place for their number", n}))
        return GRAPHSS_ERR_INVALID;
    if (live->spoiled)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "a batch failed half way");
    graphss_live x = *live; /* writing changes nothing but the ring, */
    graphss_i_live_ending *ring =
        graphss_i_alloc(ctx, live->n_ending, sizeof *ring); /* which is unrolled */
    if (!ring)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < live->n_ending; i++)
        ring[i] = live->ending[(live->ending_first + i) % live->ending_room];
    x.ending = ring;
    const head h = head_of(x.model, x.d, x.k, x.is_dense);
    bytes size = {.ctx = ctx};
    size_t none = 0;
    put_all(&size, &x, NULL, NULL, &none);
    unsigned char *block = graphss_i_calloc(ctx, sizeof h + size.n, 1);
    if (block) {
        bytes b = {.ctx = ctx, .at = block + sizeof h};
        memcpy(block, &h, sizeof h);
        put_all(&b, &x, NULL, NULL, &none);
        *out = block;
        *n = sizeof h + size.n;
    }
    graphss_release(ctx, ring);
    return block ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
}

/* Consistency of rows and lists. */
static graphss_status check_state(graphss_ctx *ctx, graphss_live *x)
{
    bool good = x->n_groups > 0 && x->n_free <= x->n_freed && x->names.n == x->n;
    for (size_t i = 0; i < x->n && good; i++) {
        good = !x->alive[i] == !graphss_i_live_names_get(&x->names, i) && x->alive[i] <= 1 &&
               x->label[i] >= -1 && x->label[i] < (int64_t)x->k;
        x->n_live += x->alive[i];
        const size_t degree = graphss_i_live_length(&x->edges, i);
        const int32_t *key = degree ? graphss_i_live_keys(&x->edges, i) : NULL;
        for (size_t j = 0; j < degree && good; j++)
            good = x->alive[i] && key[j] != (int32_t)i &&
                   graphss_i_live_rows_at(&x->edges, (size_t)key[j], (int32_t)i) >= 0;
    }
    for (size_t i = 0; i < x->n_freed && good; i++)
        good = x->freed[i] >= 0 && (size_t)x->freed[i] < x->n && !x->alive[x->freed[i]];
    for (size_t i = 0; i < x->n_ending && good; i++)
        good = x->ending[i].u >= 0 && (size_t)x->ending[i].u < x->n && x->ending[i].v >= 0 &&
               (size_t)x->ending[i].v < x->n;
    return good ? GRAPHSS_OK
                : graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "the state does not fit together");
}

graphss_status graphss_live_load(graphss_ctx *ctx, graphss_live **out,
    const graphss_model *model, const void *given, size_t n)
{
    if (GRAPHSS_I_LACKS(
            ctx, {"model", model}, {"bytes", given}, {"place for the live graph", out}))
        return GRAPHSS_ERR_INVALID;
    head h, wanted;
    if (n < sizeof h)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%zu bytes are no state", n);
    memcpy(&h, given, sizeof h);
    wanted = head_of(
        model, graphss_model_features(model), graphss_model_classes(model), h.dense != 0);
    if (memcmp(&h, &wanted, sizeof h))
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            memcmp(h.stamp, STAMP, sizeof h.stamp)
                ? "not the state of a live graph, or of another version of graphss: want a "
                  "new store"
                : "the state of a live graph with another model, or of "
                  "another machine: want the model it was made with, or "
                  "a new store");
    graphss_live_options opt;
    graphss_live *x = NULL;
    graphss_live_options_init(&opt);
    graphss_status st = graphss_i_live_new(ctx, &x, model, &opt, h.d, h.dense != 0);
    if (st)
        return st;
    bytes b = {.ctx = ctx,
        .in = (const unsigned char *)given + sizeof h,
        .room = n - sizeof h,
        .reading = true};
    int32_t *differing = NULL;
    float *rows = NULL;
    size_t n_rows = 0;
    put_all(&b, x, &differing, &rows, &n_rows);
    st = b.st ? b.st : check_state(ctx, x);
    if (!st)
        st = graphss_i_live_pass(ctx, x);
    if (!st && x->n)
        memcpy(x->trusted_prob, graphss_i_live_answer(&x->net, 0),
            x->n * x->k * sizeof *x->trusted_prob);
    for (size_t i = 0; i < n_rows && !st; i++)
        memcpy(x->trusted_prob + (size_t)differing[i] * x->k, rows + i * x->k,
            x->k * sizeof *rows);
    graphss_release(ctx, differing);
    graphss_release(ctx, rows);
    if (st)
        graphss_live_free(ctx, x);
    else
        *out = x;
    return st;
}
