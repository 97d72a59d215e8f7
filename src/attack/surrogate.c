/* surrogate.c - the linear model an attacker reasons with: logits = A_hat^2 X W. */
#include "attack/attack_method.h"
#include "base/base.h"
#include "data/formats/npz.h"
#include "models/model_private.h"
#include <graphss/attack.h>
#include <string.h>

/* No bias, because the attack has none, and no row normalisation, because the attack changes
 * rows. */
graphss_train_options graphss_i_surrogate_options(void)
{
    graphss_train_options opt;
    graphss_train_options_init(&opt, "sgc", GRAPHSS_MODE_DEFAULT, NULL);
    opt.hops = 2;
    opt.bias = false;
    opt.row_normalise = false;
    /* More decay misleads fewer victims and harms more of the others (docs/attacks.md). */
    opt.dropout = 0.5;
    opt.weight_decay = 1e-4;
    return opt;
}

/* Takes the weights and frees the model. */
static graphss_status take_weights(graphss_ctx *ctx, float **w, graphss_model *model)
{
    const graphss_status st =
        graphss_surrogate_from_model(ctx, w, model, GRAPHSS_MODE_DEFAULT);
    graphss_model_free(ctx, model);
    return st;
}

graphss_status graphss_i_surrogate_train(
    graphss_ctx *ctx, float **w, const graphss_train_input *in)
{
    const graphss_train_options opt = graphss_i_surrogate_options();
    graphss_model *model = NULL;
    const graphss_status st = graphss_i_train(ctx, &model, NULL, in, &opt);
    return st ? st : take_weights(ctx, w, model);
}

graphss_status graphss_surrogate_train(
    graphss_ctx *ctx, float **w, const graphss_train_input *in)
{
    if (GRAPHSS_I_LACKS(ctx, {"place for the weights", w}))
        return GRAPHSS_ERR_INVALID;
    const graphss_train_options opt = graphss_i_surrogate_options();
    graphss_model *model = NULL;
    const graphss_status st = graphss_i_train_checked(ctx, &model, NULL, in, &opt);
    return st ? st : take_weights(ctx, w, model);
}

/* The weights of the i-th layer; NULL past the last. */
static const float *layer(const graphss_model *model, size_t i, size_t *rows, size_t *cols)
{
    graphss_tensor w;
    for (size_t m = 0; graphss_model_weight(&w, model, m); m++) {
        if (!graphss_i_is_weight(w.name) || i-- > 0)
            continue;
        *rows = w.shape[0];
        *cols = w.shape[1];
        return w.value;
    }
    return NULL;
}

/* c [m x n] = a [m x k] b [k x n], summed in double */
static void multiply(float *c, const float *a, const float *b, size_t m, size_t k, size_t n)
{
    enum { BLOCK = 16 }; /* columns at a time, with independent sums */
    for (size_t i = 0; i < m; i++)
        for (size_t j0 = 0; j0 < n; j0 += BLOCK) {
            const size_t width = n - j0 < BLOCK ? n - j0 : BLOCK;
            double sum[BLOCK] = {0};
            for (size_t l = 0; l < k; l++)
                for (size_t j = 0; j < width; j++)
                    sum[j] += (double)a[i * k + l] * (double)b[l * n + j0 + j];
            for (size_t j = 0; j < width; j++)
                c[i * n + j0 + j] = (float)sum[j];
        }
}

/* The mean of the blocks of `wanted` columns in w [rows x cols]: w itself if there is one
 * block, else the mean over attention heads, or over self and neighbours. */
static float *fold(graphss_ctx *ctx, const float *w, size_t rows, size_t cols, size_t wanted)
{
    const size_t blocks = cols / wanted;
    if (blocks == 1)
        return graphss_i_copy(ctx, w, rows * cols, sizeof *w);
    float *out = graphss_i_alloc(ctx, rows, wanted * sizeof *out);
    for (size_t i = 0; i < rows && out; i++)
        for (size_t j = 0; j < wanted; j++) {
            double sum = 0;
            for (size_t b = 0; b < blocks; b++)
                sum += (double)w[i * cols + b * wanted + j];
            out[i * wanted + j] = (float)(sum / (double)blocks);
        }
    return out;
}

graphss_status graphss_surrogate_from_model(
    graphss_ctx *ctx, float **w, const graphss_model *model, graphss_mode mode)
{
    if (GRAPHSS_I_LACKS(ctx, {"model", model}, {"place for the weights", w}))
        return GRAPHSS_ERR_INVALID;
    size_t layers = 0, rows, cols, from, to;
    while (layer(model, layers, &rows, &cols))
        layers++;
    if (layers == 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE, "the model has no weights");
    /* Multiplies from the last layer, which has few columns. */
    const float *last = layer(model, layers - 1, &rows, &cols);
    to = model->n_classes;
    float *product = fold(ctx, last, rows, cols, to);
    if (!product)
        return GRAPHSS_ERR_NOMEM;
    from = rows;
    for (size_t i = layers - 1; i-- > 0;) {
        if (mode == GRAPHSS_MODE_PAPER && i > 0)
            continue;
        const float *next = layer(model, i, &rows, &cols);
        if (cols % from) {
            graphss_release(ctx, product);
            return graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE,
                "layer %zu is %zu x %zu, the next has %zu rows: their product "
                "is no surrogate",
                i, rows, cols, from);
        }
        float *folded = fold(ctx, next, rows, cols, from);
        float *grown = graphss_i_alloc(ctx, rows, to * sizeof *grown);
        if (folded && grown)
            multiply(grown, folded, product, rows, from, to);
        graphss_release(ctx, folded);
        graphss_release(ctx, product);
        if (!folded || !grown) {
            graphss_release(ctx, grown);
            return GRAPHSS_ERR_NOMEM;
        }
        product = grown;
        from = rows;
    }
    /* For standardised columns: the effect of a unit change of the raw column. */
    const float *gain = model->scaling.gain;
    for (size_t j = 0; gain && j < from; j++)
        for (size_t c = 0; c < to; c++)
            product[j * to + c] *= gain[j];
    *w = product;
    return GRAPHSS_OK;
}

graphss_status graphss_surrogate_read(
    graphss_ctx *ctx, float **w, const char *path, size_t n_cols, size_t n_classes)
{
    if (GRAPHSS_I_LACKS(ctx, {"path", path}, {"place for the weights", w}))
        return GRAPHSS_ERR_INVALID;
    graphss_i_npz *npz = NULL;
    graphss_i_array_info info;
    size_t n;
    graphss_status st = graphss_i_npz_open(ctx, &npz, path, 0);
    if (st)
        return st;
    st = graphss_i_npz_info(ctx, &info, npz, "W");
    if (!st && (info.n_dims != 2 || info.shape[0] != n_cols || info.shape[1] != n_classes))
        st = graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE,
            "%s: array W is %zu x %zu, want %zu features x %zu classes", path, info.shape[0],
            info.shape[1], n_cols, n_classes);
    if (!st)
        st = graphss_i_npz_float(ctx, w, &n, npz, "W", n_cols * n_classes);
    graphss_i_npz_close(ctx, npz);
    return st;
}
