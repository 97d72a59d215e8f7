/* nettack_features.c - which word to switch: the surrogate is linear in the words, so the
 * gradient of the margin gives the exact score of every candidate at once. While only words
 * change the logits are moved along; the sums behind them wait for graphss_i_nettack_settle.
 */
#include "attack/nettack.h"
#include <math.h>
#include <string.h>

void graphss_i_nettack_words_begin(graphss_i_nettack_work *work)
{
    const graphss_i_nettack_world *world = work->world;
    const size_t d = world->d;
    for (size_t t = 0; t < work->n_targets; t++) {
        const size_t i = (size_t)work->target[t], n = (size_t)world->x.length[i];
        double *value = work->value + t * d;
        uint8_t *allowed = work->allowed + t * d;
        memset(value, 0, d * sizeof *value);
        for (size_t e = 0; e < n; e++)
            value[world->x.column[i][e]] = graphss_i_words_value(&world->x, i, e);
        if (world->opt->cooccurrence_test)
            graphss_i_cooccur_allowed(allowed, &world->together, world->x.column[i], n,
                                      &work->cooccur);
        else
            memset(allowed, 1, d);
        size_t count = 0;
        for (size_t j = 0; j < d; j++)
            if (allowed[j] || value[j] != 0)
                work->candidate[t * d + count++] = (int32_t)j;
        work->n_candidates[t] = count;
    }
}

/* (A_hat^2)_ux = (d_u d_x)^-1/2 sum over w in both N(u) + u and N(x) + x of 1 / d_w */
void graphss_i_nettack_words_reach(graphss_i_nettack_work *work, int32_t u)
{
    const double *rsqrt = work->world->rsqrt;
    for (size_t t = 0; t < work->n_targets; t++) {
        const int32_t x = work->target[t];
        const int32_t d_u = work->adj.length[u] + 1, d_x = work->adj.length[x] + 1;
        double sum = work->via[x];
        if (x == u)
            sum += 1 / (double)d_u;
        else if (graphss_i_rows_has(&work->adj, (size_t)u, x))
            sum += 1 / (double)d_u + 1 / (double)d_x;
        work->reach[t] = rsqrt[d_u] * rsqrt[d_x] * sum;
    }
}

graphss_i_nettack_word graphss_i_nettack_best_word(const graphss_i_nettack_work *work,
                                                   size_t label)
{
    const graphss_i_nettack_world *world = work->world;
    const size_t d = world->d, k = world->k;
    const bool paper = world->opt->mode == GRAPHSS_MODE_PAPER;
    graphss_i_nettack_word best = {.score = INFINITY, .word = -1};
    double loss;
    const size_t wrong = graphss_i_nettack_wrong(&loss, work->logits, k, label);
    for (size_t t = 0; t < work->n_targets; t++) {
        const double *value = work->value + t * d;
        const uint8_t *allowed = work->allowed + t * d;
        for (size_t e = 0; e < work->n_candidates[t]; e++) {
            const int32_t j = work->candidate[t * d + e];
            const float *w = world->w + (size_t)j * k;
            const double gradient = work->reach[t] * ((double)w[label] - (double)w[wrong]);
            const double old = value[j];
            if (gradient == 0 || (old == 0 && !allowed[j]))
                continue;
            double next = old != 0 ? 0 : (double)world->on[j], step = next - old;
            if (paper) { /* scored as if it were a step of one, whatever is made of it */
                next = 1 - old;
                step = old != 0 ? -1 : 1;
            }
            best.candidates++;
            const double score = loss + step * gradient;
            if (score < best.score) {
                best.score = score;
                best.target = t;
                best.word = j;
                best.old_value = old;
                best.new_value = next;
            }
        }
    }
    return best;
}

void graphss_i_nettack_change_word(graphss_i_nettack_work *work,
                                   const graphss_i_nettack_word *choice)
{
    const size_t k = work->world->k, t = choice->target, j = (size_t)choice->word;
    const double step = work->reach[t] * (choice->new_value - choice->old_value);
    work->value[t * work->world->d + j] = choice->new_value;
    for (size_t c = 0; c < k; c++)
        work->logits[c] += step * (double)work->world->w[j * k + c];
    work->unsettled[t] = true;
    work->rewritten[t] = true;
}
