/* live_net.c - see live_net.h. */
#include "live/live_net.h"
#include "kernels/kernels.h"
#include "models/predict_incremental.h"
#include <math.h>
#include <string.h>

enum {
    ROWS = 64,         /* rows a task */
    CHUNK = 1 << 15,   /* rows that are computed before any is stored; bounds the scratch */
    ENTRIES = 1 << 20, /* the same, of P; a longer row is a chunk of its own */
    AHEAD = 8,         /* rows whose entries are fetched before they are needed */
    MANY = 64          /* of so many nodes one is computed: in the order of their numbers */
};

static size_t padded(size_t cols)
{
    return (cols + GRAPHSS_I_ROW - 1) / GRAPHSS_I_ROW * GRAPHSS_I_ROW;
}

const char *graphss_i_live_net_obstacle(const graphss_model *model)
{
    if (model->predictor)
        return "a predictor of one's own is asked for all nodes";
    if (model->type->norm == GRAPHSS_I_NORM_LEARNED)
        return "attention is not computed row by row";
    return NULL;
}

/* ---- the chain of stages ---- */

/* from [rows x cols] as [padded rows x padded cols], the rest 0. halves: cols are two halves
 * that are padded each. */
static graphss_status pad_weight(graphss_ctx *ctx, float **out, const float *from, size_t rows,
    size_t cols, bool halves, size_t width)
{
    const size_t parts = halves ? 2 : 1, part = cols / parts, wide = width / parts;
    float *w = graphss_i_calloc(ctx, padded(rows), width * sizeof *w);
    if (!w)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < rows; i++)
        for (size_t h = 0; h < parts; h++)
            memcpy(w + i * width + h * wide, from + i * cols + h * part, part * sizeof *w);
    *out = w;
    return GRAPHSS_OK;
}

/* Takes the next weight matrix as the W of a stage. */
static graphss_status take_weight(graphss_ctx *ctx, graphss_i_live_stage *s,
    const graphss_model *model, size_t layer, bool halves)
{
    const graphss_i_params *p = &model->params;
    const graphss_i_param *w = &p->param[layer * (model->opt.bias ? 2 : 1)];
    s->width = halves ? 2 * padded(w->cols / 2) : padded(w->cols);
    return pad_weight(
        ctx, &s->weight, p->value + w->offset, w->rows, w->cols, halves, s->width);
}

static graphss_status take_bias(
    graphss_ctx *ctx, graphss_i_live_stage *s, const graphss_model *model, size_t layer)
{
    if (!model->opt.bias)
        return GRAPHSS_OK;
    const graphss_i_params *p = &model->params;
    const graphss_i_param *b = &p->param[2 * layer + 1];
    s->bias = graphss_i_calloc(ctx, padded(b->cols), sizeof *s->bias);
    if (!s->bias)
        return GRAPHSS_ERR_NOMEM;
    memcpy(s->bias, p->value + b->offset, b->cols * sizeof *s->bias);
    return GRAPHSS_OK;
}

graphss_status graphss_i_live_net_open(
    graphss_ctx *ctx, graphss_i_live_net *net, const graphss_model *model)
{
    const graphss_i_model_type *type = model->type;
    const bool beside = type->propagates, linear = type->hops_by_option;
    const size_t layers = (size_t)model->opt.layers;
    size_t hops = type->norm == GRAPHSS_I_NORM_NONE ? 0 : linear ? (size_t)model->opt.hops : 1;
    *net = (graphss_i_live_net){.norm = type->norm,
        .loops = graphss_i_model_type_loops(type, &model->opt),
        .k = model->n_classes,
        .scaling = &model->scaling};
    if (layers * (hops ? hops : 1) + 1 > GRAPHSS_I_LIVE_STAGES)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_LIMIT, "%zu layers of %zu hops are too many", layers, hops);
    graphss_i_live_stage *s = &net->stage[net->n_stages++];
    graphss_status st = take_weight(ctx, s, model, 0, beside);
    for (size_t l = 0; l < layers && !st; l++) {
        size_t in = s->width;
        for (size_t h = 1; h < hops; h++) { /* all but the last hop: sums alone */
            s = &net->stage[net->n_stages++];
            *s = (graphss_i_live_stage){.propagate = true, .in = in, .mid = in, .width = in};
        }
        s = &net->stage[net->n_stages++];
        const bool last = l + 1 == layers;
        *s = (graphss_i_live_stage){.propagate = hops > 0,
            .beside = beside,
            .relu = !linear && !last,
            .in = in,
            .mid = beside ? in / 2 : in,
            .width = net->k};
        st = take_bias(ctx, s, model, l);
        if (!st && !last)
            st = take_weight(ctx, s, model, l + 1, beside);
    }
    if (st)
        graphss_i_live_net_close(ctx, net);
    return st;
}

void graphss_i_live_net_close(graphss_ctx *ctx, graphss_i_live_net *net)
{
    for (size_t s = 0; s < net->n_stages; s++) {
        graphss_release(ctx, net->stage[s].bias);
        graphss_release(ctx, net->stage[s].weight);
        graphss_release(ctx, net->stage[s].value);
    }
    void *const all[] = {net->degree_scale, net->alone, net->stamp, net->list, net->next,
        net->value, net->offset, net->column, net->sum, net->rows, net->dense, net->differs};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        graphss_release(ctx, all[i]);
    *net = (graphss_i_live_net){0};
}

/* *array grows from old to room rows of `bytes`; the new ones are 0. */
static bool grow(graphss_ctx *ctx, void *array, size_t old, size_t room, size_t bytes)
{
    void *block = NULL;
    memcpy(&block, array, sizeof block);
    block = graphss_i_grow(ctx, block, old, room, bytes);
    if (!block)
        return false;
    memset((char *)block + old * bytes, 0, (room - old) * bytes);
    memcpy(array, &block, sizeof block);
    return true;
}

graphss_status graphss_i_live_net_extend(graphss_ctx *ctx, graphss_i_live_net *net, size_t n)
{
    if (n <= net->room)
        return GRAPHSS_OK;
    const size_t old = net->room, room = n + n / 8 + ROWS;
    bool good = true;
    for (size_t s = 0; s < net->n_stages && good; s++)
        good = grow(ctx, &net->stage[s].value, old, room, net->stage[s].width * sizeof(float));
    good = good && grow(ctx, &net->degree_scale, old, room, sizeof(float)) &&
           grow(ctx, &net->alone, old, room, net->k * sizeof(float)) &&
           grow(ctx, &net->stamp, old, room, sizeof(uint32_t)) &&
           grow(ctx, &net->list, old, room, sizeof(int32_t)) &&
           grow(ctx, &net->next, old, room, sizeof(int32_t));
    if (good)
        net->room = room;
    return good ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
}

/* ---- scratch ---- */

static bool reserve(graphss_ctx *ctx, void *array, size_t n, size_t bytes)
{
    void *block = NULL;
    memcpy(&block, array, sizeof block);
    graphss_release(ctx, block);
    block = graphss_i_alloc(ctx, n, bytes);
    memcpy(array, &block, sizeof block);
    return block != NULL;
}

static size_t widest(const graphss_i_live_net *net)
{
    size_t most = padded(net->k);
    for (size_t s = 0; s < net->n_stages; s++) {
        most = net->stage[s].width > most ? net->stage[s].width : most;
        most = net->stage[s].in > most ? net->stage[s].in : most;
    }
    return most;
}

static graphss_status reserve_rows(
    graphss_ctx *ctx, graphss_i_live_net *net, size_t rows, size_t entries)
{
    const size_t wide = widest(net);
    if (rows > net->rows_room) {
        const size_t room = rows + rows / 2 + ROWS;
        net->rows_room = 0;
        if (!reserve(ctx, &net->offset, room + 1, sizeof *net->offset) ||
            !reserve(ctx, &net->differs, room, 1) ||
            !reserve(ctx, &net->sum, room, wide * sizeof *net->sum) ||
            !reserve(ctx, &net->rows, room, wide * sizeof *net->rows))
            return GRAPHSS_ERR_NOMEM;
        net->rows_room = room;
    }
    if (entries > net->entries_room) {
        const size_t room = entries + entries / 2 + ROWS;
        net->entries_room = 0;
        if (!reserve(ctx, &net->column, room, sizeof *net->column) ||
            !reserve(ctx, &net->value, room, sizeof *net->value))
            return GRAPHSS_ERR_NOMEM;
        net->entries_room = room;
    }
    return GRAPHSS_OK;
}

/* ---- softmax ---- */

enum { LANES = 8 };

/* exp(x) of n numbers of at most 0: 2^i p(r), x = i log 2 + r, |r| <= log(2) / 2. Relative
 * error below 2e-7. In plain C that compilers make vectors of, with the same bits everywhere.
 */
static void exponentials(float *restrict out, const float *restrict x, size_t n)
{
    for (size_t c = 0; c < n; c++) {
        uint32_t bits, power;
        float y, scale;
        /* at least -87: of two such numbers the less has the greater bits */
        memcpy(&bits, &x[c], sizeof bits);
        bits = bits < 0xC2AE0000U ? bits : 0xC2AE0000U;
        memcpy(&y, &bits, sizeof y);
        const float shifted = y * 1.44269504F + 12582912.0F; /* 1.5 2^23: rounds to a whole */
        const float i = shifted - 12582912.0F;
        const float r = (y - i * 0.693359375F) - i * -2.12194440e-4F;
        float p = 1.9875691500e-4F;
        p = p * r + 1.3981999507e-3F;
        p = p * r + 8.3334519073e-3F;
        p = p * r + 4.1665795894e-2F;
        p = p * r + 1.6666665459e-1F;
        p = p * r + 5.0000001201e-1F;
        p = p * r * r + r + 1;
        memcpy(&power, &shifted, sizeof power);
        power = (power << 23) + 0x3F800000U;
        memcpy(&scale, &power, sizeof scale);
        out[c] = p * scale;
    }
}

/* out [k] = softmax of x [k], which is spoiled. Several sums side by side, in an order that is
 * always the same. */
static void softmax(float *restrict out, float *restrict x, size_t k)
{
    float most = x[0], sum[LANES] = {0}, total = 0;
    for (size_t c = 1; c < k; c++)
        most = x[c] > most ? x[c] : most;
    for (size_t c = 0; c < k; c++)
        x[c] -= most;
    exponentials(out, x, k);
    size_t c = 0;
    for (; c + LANES <= k; c += LANES)
        for (size_t l = 0; l < LANES; l++)
            sum[l] += out[c + l];
    for (; c < k; c++)
        sum[c % LANES] += out[c];
    for (size_t l = 0; l < LANES; l++)
        total += sum[l];
    const float share = 1 / total;
    for (c = 0; c < k; c++)
        out[c] *= share;
}

/* ---- rows ---- */

typedef struct rows_job {
    const graphss_i_kernels *kernels;
    graphss_i_live_net *net;
    const graphss_i_live_stage *stage, *before;
    const graphss_i_live_data *data;
    const int32_t *node;
    size_t n;
    float *out;       /* [n x width] */
    uint8_t *differs; /* [n] from the row that was kept, which it then replaces; or NULL */
    bool alone;       /* as if there were no edges: before is [n x in] */
} rows_job;

/* The first product for the features of a node, dense [d]. */
static void scaled_row(
    float *out, const graphss_i_live_data *data, size_t node, const graphss_i_scaling *s)
{
    const size_t d = data->d;
    const size_t n = data->dense ? d : graphss_i_live_length(data->sparse, node);
    const int32_t *column = data->dense || !n ? NULL : graphss_i_live_keys(data->sparse, node);
    const float *x = data->dense ? data->dense + node * d
                     : n         ? (const float *)graphss_i_live_payload(data->sparse, node)
                                 : NULL;
    double sum = 0;
    for (size_t j = 0; j < n; j++)
        sum += fabsf(x[j]);
    const double scale = s->mean ? 1 : s->scale;
    const float factor = (float)(s->row_normalise && sum > 0 ? scale / sum : scale);
    for (size_t c = 0; c < d; c++)
        out[c] = s->mean ? (float)(-s->scale * s->gain[c] * s->mean[c]) : 0;
    for (size_t j = 0; j < n; j++) {
        const size_t c = column ? (size_t)column[j] : j;
        out[c] =
            s->mean
                ? (float)(s->scale * s->gain[c] * ((double)factor * x[j] - (double)s->mean[c]))
                : factor * x[j];
    }
}

/* Keeps the rows of a task where they differ. */
static void keep_rows(const rows_job *job, size_t from, size_t to)
{
    const size_t width = job->stage->width;
    for (size_t r = from; r < to && job->differs; r++) {
        float *kept = job->stage->value + (size_t)job->node[r] * width;
        const float *fresh = job->out + r * width;
        job->differs[r] = memcmp(kept, fresh, width * sizeof *kept) != 0;
        if (job->differs[r])
            memcpy(kept, fresh, width * sizeof *kept);
    }
}

/* Stage 0. Sparse rows without means add up the rows of W they name; others are spread out. */
static void input_rows(void *arg, size_t task)
{
    const rows_job *job = arg;
    const graphss_i_live_net *net = job->net;
    const graphss_i_live_data *data = job->data;
    const graphss_i_scaling *s = net->scaling;
    const size_t width = job->stage->width, d = data->d;
    float *dense = net->dense + task % 2 * padded(d);
    for (size_t r = task * ROWS; r < graphss_i_task_end(task, job->n, ROWS); r++) {
        const size_t node = (size_t)job->node[r];
        float *out = job->out + r * width;
        if (data->dense || s->mean) {
            scaled_row(dense, data, node, s);
            job->kernels->row_times(out, dense, job->stage->weight, d, width);
            continue;
        }
        const size_t n = graphss_i_live_length(data->sparse, node);
        const int32_t *column = n ? graphss_i_live_keys(data->sparse, node) : NULL;
        const float *x = n ? (const float *)graphss_i_live_payload(data->sparse, node) : NULL;
        double sum = 0;
        for (size_t j = 0; j < n; j++)
            sum += fabsf(x[j]);
        const float factor = (float)(s->row_normalise && sum > 0 ? s->scale / sum : s->scale);
        memset(out, 0, width * sizeof *out);
        for (size_t j = 0; j < n; j++)
            job->kernels->axpy(
                out, job->stage->weight + (size_t)column[j] * width, factor * x[j], width);
    }
    keep_rows(job, task * ROWS, graphss_i_task_end(task, job->n, ROWS));
}

/* Entries of row `node` of P to column, value; returns their number. */
static size_t put_entries(int32_t *column, float *value, const graphss_i_live_net *net,
    const graphss_i_live_rows *edges, size_t node)
{
    const size_t n = graphss_i_live_length(edges, node);
    const int32_t *key = n ? graphss_i_live_keys(edges, node) : NULL;
    const float own = net->degree_scale[node];
    const bool symmetric = net->norm == GRAPHSS_I_NORM_SYMMETRIC;
    size_t e = 0;
    bool placed = !net->loops;
    for (size_t j = 0; j < n; j++) {
        if (!placed && key[j] > (int32_t)node) {
            column[e] = (int32_t)node;
            value[e++] = symmetric ? own * own : own;
            placed = true;
        }
        column[e] = key[j];
        value[e++] = symmetric ? own * net->degree_scale[key[j]] : own;
    }
    if (!placed) {
        column[e] = (int32_t)node;
        value[e++] = symmetric ? own * own : own;
    }
    return e;
}

/* A stage behind the first. */
static void stage_rows(void *arg, size_t task)
{
    const rows_job *job = arg;
    const graphss_i_live_net *net = job->net;
    const graphss_i_live_stage *s = job->stage;
    const size_t in = s->in, mid = s->mid, width = s->width, k = net->k;
    const size_t from = task * ROWS, to = graphss_i_task_end(task, job->n, ROWS);
    const bool answer = s == &net->stage[net->n_stages - 1];
    if (s->propagate && !job->alone) {
        for (size_t r = from; r < to; r++) {
            if (r + AHEAD < job->n) /* rows lie anywhere */
                __builtin_prefetch(
                    graphss_i_live_keys(job->data->edges, (size_t)job->node[r + AHEAD]));
            put_entries(net->column + net->offset[r], net->value + net->offset[r], net,
                job->data->edges, (size_t)job->node[r]);
        }
        job->kernels->spmm(net->sum, net->offset, net->column, net->value, job->before->value,
            in, from, to, 0, s->beside ? mid : in);
    }
    for (size_t r = from; r < to; r++) {
        float *sum = net->sum + r * in, *out = job->out + r * width;
        const float *own = job->before->value + (job->alone ? r : (size_t)job->node[r]) * in;
        if (job->alone && s->propagate && (s->beside || !net->loops))
            memset(sum, 0, mid * sizeof *sum);
        else if (job->alone || !s->propagate)
            memcpy(sum, own, mid * sizeof *sum);
        for (size_t c = 0; c < mid && s->beside; c++)
            sum[c] += own[mid + c];
        for (size_t c = 0; c < mid && s->bias; c++)
            sum[c] += s->bias[c];
        for (size_t c = 0; c < mid && s->relu; c++)
            sum[c] = sum[c] > 0 ? sum[c] : 0;
        if (answer)
            softmax(out, sum, k);
        else if (s->weight)
            job->kernels->row_times(out, sum, s->weight, mid, width);
        else
            memcpy(out, sum, width * sizeof *out);
    }
    keep_rows(job, from, to);
}

/* Rows of a stage, some at a time; the nodes of those that changed go to changed. */
static graphss_status compute(graphss_ctx *ctx, graphss_i_live_net *net, size_t stage,
    const graphss_i_live_data *data, const int32_t *node, size_t n, int32_t *changed,
    size_t *n_changed)
{
    graphss_i_live_stage *s = &net->stage[stage];
    *n_changed = 0;
    for (size_t from = 0; from < n;) {
        size_t rows = 0, entries = 0;
        while (from + rows < n && rows < CHUNK && (entries < ENTRIES || rows == 0)) {
            entries += stage ? graphss_i_live_length(data->edges, (size_t)node[from + rows]) +
                                   net->loops
                             : 0;
            rows++;
        }
        graphss_status st = reserve_rows(ctx, net, rows, entries);
        if (st)
            return st;
        net->offset[0] = 0;
        for (size_t r = 0; r < rows && stage; r++)
            net->offset[r + 1] =
                net->offset[r] +
                (int64_t)graphss_i_live_length(data->edges, (size_t)node[from + r]) +
                net->loops;
        rows_job job = {.kernels = graphss_i_ctx_kernels(ctx),
            .net = net,
            .stage = s,
            .before = stage ? s - 1 : NULL,
            .data = data,
            .node = node + from,
            .n = rows,
            .out = net->rows,
            .differs = net->differs};
        if (stage) {
            graphss_i_parallel(ctx, graphss_i_tasks(rows, ROWS), stage_rows, &job);
        } else {
            for (size_t t = 0; t < graphss_i_tasks(rows, ROWS); t++)
                input_rows(&job, t);
        }
        for (size_t r = 0; r < rows; r++)
            if (net->differs[r])
                changed[(*n_changed)++] = node[from + r];
        from += rows;
    }
    return GRAPHSS_OK;
}

/* The answer without edges, for nodes whose features changed. */
static graphss_status compute_alone(graphss_ctx *ctx, graphss_i_live_net *net,
    const graphss_i_live_data *data, const int32_t *node, size_t n)
{
    const size_t wide = widest(net), first = net->stage[0].width;
    graphss_i_live_stage before = {0};
    float *x = graphss_i_alloc(ctx, ROWS, wide * sizeof *x);
    graphss_status st = x ? reserve_rows(ctx, net, ROWS, 0) : GRAPHSS_ERR_NOMEM;
    for (size_t from = 0; from < n && !st; from += ROWS) {
        const size_t rows = n - from < ROWS ? n - from : ROWS;
        for (size_t r = 0; r < rows; r++)
            memcpy(x + r * first, net->stage[0].value + (size_t)node[from + r] * first,
                first * sizeof *x);
        for (size_t s = 1; s < net->n_stages; s++) {
            before.value = x;
            rows_job job = {.kernels = graphss_i_ctx_kernels(ctx),
                .net = net,
                .stage = &net->stage[s],
                .before = &before,
                .data = data,
                .node = node + from,
                .n = rows,
                .out = net->rows,
                .alone = true};
            stage_rows(&job, 0);
            memcpy(x, net->rows, rows * net->stage[s].width * sizeof *x);
        }
        for (size_t r = 0; r < rows; r++)
            memcpy(net->alone + (size_t)node[from + r] * net->k, x + r * net->k,
                net->k * sizeof *x);
    }
    graphss_release(ctx, x);
    return st;
}

/* ---- which rows depend on a change ---- */

static void add(graphss_i_live_net *net, int32_t *list, size_t *n, int32_t node)
{
    if (net->stamp[node] != net->epoch) {
        net->stamp[node] = net->epoch;
        list[(*n)++] = node;
    }
}

static void add_around(graphss_i_live_net *net, int32_t *list, size_t *n,
    const graphss_i_live_rows *edges, int32_t node)
{
    const size_t degree = graphss_i_live_length(edges, (size_t)node);
    const int32_t *key = degree ? graphss_i_live_keys(edges, (size_t)node) : NULL;
    for (size_t j = 0; j < degree; j++)
        add(net, list, n, key[j]);
}

/* A list of many nodes in the order of memory. */
static void put_in_order(const graphss_i_live_net *net, int32_t *list, size_t n)
{
    if (n < net->room / MANY)
        return;
    for (size_t v = 0, at = 0; at < n; v++)
        if (net->stamp[v] == net->epoch)
            list[at++] = (int32_t)v;
}

static void start_list(graphss_i_live_net *net)
{
    if (++net->epoch == 0) {
        memset(net->stamp, 0, net->room * sizeof *net->stamp);
        net->epoch = 1;
    }
}

graphss_status graphss_i_live_net_update(graphss_ctx *ctx, graphss_i_live_net *net,
    const graphss_i_live_data *data, const int32_t *featured, size_t n_featured,
    const int32_t *edged, size_t n_edged, int32_t *changed, size_t *n_changed,
    size_t *recomputed)
{
    const bool symmetric = net->norm == GRAPHSS_I_NORM_SYMMETRIC;
    if (!net->dense) {
        net->dense = graphss_i_calloc(ctx, padded(data->d), 2 * sizeof *net->dense);
        if (!net->dense)
            return GRAPHSS_ERR_NOMEM;
    }
    for (size_t i = 0; i < n_edged; i++) {
        const double d =
            (double)graphss_i_live_length(data->edges, (size_t)edged[i]) + net->loops;
        net->degree_scale[edged[i]] = d > 0 ? (float)(symmetric ? 1 / sqrt(d) : 1 / d) : 0;
    }
    graphss_status st = compute(ctx, net, 0, data, featured, n_featured, changed, n_changed);
    if (!st)
        st = compute_alone(ctx, net, data, featured, n_featured);
    *recomputed = n_featured;
    for (size_t s = 1; s < net->n_stages && !st; s++) {
        size_t n = 0;
        start_list(net);
        for (size_t i = 0; i < n_featured; i++) /* a new node may begin as its row was */
            add(net, net->list, &n, featured[i]);
        for (size_t i = 0; i < *n_changed; i++) {
            add(net, net->list, &n, changed[i]);
            if (net->stage[s].propagate)
                add_around(net, net->list, &n, data->edges, changed[i]);
        }
        for (size_t i = 0; i < n_edged && net->stage[s].propagate; i++) {
            add(net, net->list, &n, edged[i]);
            if (symmetric)
                add_around(net, net->list, &n, data->edges, edged[i]);
        }
        put_in_order(net, net->list, n);
        st = compute(ctx, net, s, data, net->list, n, changed, n_changed);
        *recomputed = n;
    }
    return st;
}

size_t graphss_i_live_net_bytes(const graphss_i_live_net *net)
{
    size_t floats = 1 + net->k;
    for (size_t s = 0; s < net->n_stages; s++)
        floats += net->stage[s].width;
    return net->room * (floats * sizeof(float) + 3 * sizeof(int32_t));
}
