/* selfsup_paper.c - Algorithm 1 as the paper's public code runs it.
 *
 * Not a sampler: every node takes its most likely label, all at once, by a matrix that is
 * recomputed at every 10th sweep. It is kept apart from the exact sampler. One deviation: the
 * code refits when accuracy against the truth of all nodes rose; here agreement with the
 * source replaces it, since the truth is unknown. */
#include "selfsup/selfsup_private.h"
#include <graphss/labels.h>
#include <string.h>

/* w[k] = P[n][k] * phi[k][y], normalised into out [n x K]; z the largest. */
static void take_likeliest(int32_t *z, double *out, const float *prob, const double *phi,
    const int32_t *observed, size_t n, size_t K)
{
    for (size_t i = 0; i < n; i++) {
        const float *P = prob + i * K;
        double *w = out + i * K;
        double sum = 0;
        for (size_t k = 0; k < K; k++) {
            w[k] = (double)P[k] * (observed[i] < 0 ? 1 : phi[k * K + (size_t)observed[i]]);
            sum += w[k];
        }
        if (!(sum > 0)) /* as if the source were silent */
            for (size_t k = 0; k < K; k++)
                sum += w[k] = (double)P[k];
        for (size_t k = 0; k < K; k++)
            w[k] /= sum;
        z[i] = (int32_t)graphss_i_top_double(w, K);
    }
}

static void normalise_into(double *out, const float *prob, size_t n, size_t K)
{
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t k = 0; k < K; k++)
            sum += (double)prob[i * K + k];
        for (size_t k = 0; k < K; k++)
            out[i * K + k] = (double)prob[i * K + k] / sum;
    }
}

graphss_status graphss_i_selfsup_paper(graphss_ctx *ctx, graphss_selfsup_result *out,
    const graphss_selfsup_input *in, const graphss_selfsup_options *opt)
{
    const size_t n = in->n, K = in->n_classes, sweeps = (size_t)opt->sweeps;
    const int32_t *observed = in->source[0].label;
    const bool fixed = opt->phi == GRAPHSS_PHI_FIXED || in->source[0].fixed;
    const bool frozen = fixed && opt->frozen;
    graphss_status st = GRAPHSS_OK;
    double *alpha = graphss_i_alloc(ctx, K * K, sizeof *alpha);
    double *warmup = graphss_i_alloc(ctx, K * K, sizeof *warmup);
    float *prob = graphss_i_copy(ctx, in->prob, n * K, sizeof *prob);
    double best = -1;
    if (!alpha || !warmup || !prob) {
        st = GRAPHSS_ERR_NOMEM;
        goto done;
    }
    st = graphss_prior_cells(ctx, alpha, &in->source[0].prior, K);
    if (st)
        goto done;
    graphss_transition_mean(warmup, alpha, NULL, K);
    if (in->source[0].phi)
        memcpy(warmup, in->source[0].phi, K * K * sizeof *warmup);

    graphss_labels_argmax(out->label, prob, n, K);
    graphss_transition_count(out->counts, out->label, observed, n, K);
    if (frozen)
        normalise_into(out->posterior, prob, n, K);
    for (size_t sweep = 0; sweep < sweeps; sweep++) {
        if (sweep % (size_t)opt->phi_every == 0)
            graphss_transition_mean(out->phi, alpha, out->counts, K);
        if (!frozen) {
            const double *phi = fixed || sweep < (size_t)opt->warmup ? warmup : out->phi;
            take_likeliest(out->label, out->posterior, prob, phi, observed, n, K);
            graphss_transition_count(out->counts, out->label, observed, n, K);
        }
        if (graphss_i_refit_due(in, opt, sweep)) {
            bool done = false;
            st = graphss_i_refit(ctx, &done, &best, prob, out->label, in, opt);
            if (st)
                goto done;
            out->refits += done;
        }
        st = graphss_i_progress(ctx, "infer", sweep + 1, sweeps, NULL);
        if (st)
            goto done;
    }
    graphss_transition_mean(out->phi, alpha, out->counts, K);
    if (fixed)
        memcpy(out->phi, warmup, K * K * sizeof *warmup);
    out->kept = 1;
done:
    graphss_release(ctx, prob);
    graphss_release(ctx, warmup);
    graphss_release(ctx, alpha);
    return st;
}
