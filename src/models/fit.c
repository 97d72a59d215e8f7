/* fit.c - epochs. Weights are measured before they are changed, so the kept weights are the
 * measured ones: epoch e measures the weights after e steps, and the last measures the last
 * step. Without dropout one forward pass serves both the measurement and the step; without
 * validation nodes there is nothing to measure. If rows are independent each of the two passes
 * computes only the rows it needs.
 *
 * The paper's code is a step late: it measures, takes a step and keeps the weights after it,
 * beginning with the initial weights; of equally good epochs it keeps the first (adam->kept).
 */
#include "models/fit.h"
#include "base/ranks.h"
#include <graphss/labels.h>
#include <math.h>
#include <string.h>

graphss_i_measure graphss_i_judge(
    const float *logits, size_t k, const int32_t *node, const int32_t *label, size_t n)
{
    size_t right = 0;
    double loss = 0;
    for (size_t j = 0; j < n; j++) {
        const float *x = logits + (size_t)node[j] * k;
        const size_t best = graphss_i_top(x, k);
        double sum = 0;
        for (size_t c = 0; c < k; c++)
            sum += expf(x[c] - x[best]);
        loss += x[best] + log(sum) - x[label[j]];
        right += best == (size_t)label[j];
    }
    return (graphss_i_measure){
        n ? (double)right / (double)n : NAN, n ? loss / (double)n : NAN};
}

bool graphss_i_better(graphss_i_measure now, graphss_i_measure best)
{
    return now.accuracy > best.accuracy ||
           (now.accuracy == best.accuracy && now.loss < best.loss);
}

/* The same over the rows of all ranks. */
static graphss_status judge_all(graphss_ctx *ctx, graphss_i_measure *out, const float *logits,
    size_t k, const int32_t *node, const int32_t *label, size_t n)
{
    *out = graphss_i_judge(logits, k, node, label, n);
    if (graphss_i_ranks(ctx) == 1)
        return GRAPHSS_OK;
    double sum[3] = {
        n ? out->accuracy * (double)n : 0, n ? out->loss * (double)n : 0, (double)n};
    const graphss_status st = graphss_i_ranks_sum(ctx, sum, 3);
    *out = (graphss_i_measure){
        sum[2] > 0 ? round(sum[0]) / sum[2] : NAN, sum[2] > 0 ? sum[1] / sum[2] : NAN};
    return st;
}

/* The loss of all ranks. */
static graphss_status loss_of(graphss_ctx *ctx, double *out, const graphss_i_tape *tape)
{
    *out = graphss_i_tape_loss(tape);
    return graphss_i_ranks_sum(ctx, out, 1);
}

/* The best weights so far, and the moments of Adam at that step if they are wanted. */
typedef struct checkpoint {
    float *value, *m, *v;
    size_t step;
} checkpoint;

static graphss_status checkpoint_make(graphss_ctx *ctx, checkpoint *c,
    const graphss_i_params *params, const graphss_i_adam *adam)
{
    c->value = graphss_i_copy(ctx, params->value, params->count, sizeof *c->value);
    c->m = adam->kept ? graphss_i_copy(ctx, adam->m, params->count, sizeof *c->m) : NULL;
    c->v = adam->kept ? graphss_i_copy(ctx, adam->v, params->count, sizeof *c->v) : NULL;
    return c->value && (!adam->kept || (c->m && c->v)) ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
}

static void checkpoint_destroy(graphss_ctx *ctx, checkpoint *c)
{
    graphss_release(ctx, c->value);
    graphss_release(ctx, c->m);
    graphss_release(ctx, c->v);
}

static void checkpoint_take(
    checkpoint *c, const graphss_i_params *params, const graphss_i_adam *adam)
{
    const size_t bytes = params->count * sizeof *c->value;
    memcpy(c->value, params->value, bytes);
    if (!adam->kept)
        return;
    memcpy(c->m, adam->m, bytes);
    memcpy(c->v, adam->v, bytes);
    c->step = adam->step;
}

static void checkpoint_restore(
    const checkpoint *c, graphss_i_params *params, graphss_i_adam *adam)
{
    const size_t bytes = params->count * sizeof *c->value;
    memcpy(params->value, c->value, bytes);
    if (!adam->kept)
        return;
    memcpy(adam->m, c->m, bytes);
    memcpy(adam->v, c->v, bytes);
    adam->step = c->step;
}

/* The training between two epochs, for a file. */
static graphss_i_progressing between(graphss_i_params *params, graphss_i_adam *adam,
    const checkpoint *kept, const graphss_training *run, graphss_i_measure best, size_t epoch,
    size_t epochs)
{
    return (graphss_i_progressing){.epoch = epoch,
        .params = params,
        .adam = adam,
        .best = kept->value,
        .best_m = kept->m,
        .best_v = kept->v,
        .best_step = kept->step,
        .best_epoch = run->best_epoch,
        .best_accuracy = best.accuracy,
        .best_loss = best.loss,
        .loss = run->loss,
        .val_acc = run->val_acc,
        .epochs = epochs};
}

graphss_status graphss_i_fit(graphss_ctx *ctx, graphss_training *log, graphss_i_params *params,
    graphss_i_adam *adam, graphss_i_tape *tape, graphss_i_var logits, size_t n_classes,
    const graphss_split *split, uint64_t seed, const graphss_train_options *opt,
    const char *stage, graphss_i_checkpointing *saved)
{
    graphss_status st = GRAPHSS_OK;
    graphss_training run = {0};
    graphss_i_measure best = {-1, INFINITY};
    const size_t epochs = (size_t)opt->epochs, patience = (size_t)opt->patience;
    graphss_rng rng = graphss_rng_make(seed, GRAPHSS_STREAM_DROPOUT);
    const bool draws = graphss_i_tape_draws(tape), late = adam->kept;
    const double start = graphss_i_seconds();
    double n_val = (double)split->n_val; /* of all ranks */

    checkpoint kept = {0};
    st = checkpoint_make(ctx, &kept, params, adam);
    run.loss = graphss_i_alloc(ctx, epochs, sizeof *run.loss);
    run.val_acc = graphss_i_alloc(ctx, epochs, sizeof *run.val_acc);
    if (st || !run.loss || !run.val_acc) {
        st = GRAPHSS_ERR_NOMEM;
        goto done;
    }
    st = graphss_i_ranks_sum(ctx, &n_val, 1);
    if (st)
        goto done;
    checkpoint_take(&kept, params, adam); /* the result without any epochs */
    size_t first = 0;
    if (saved) {
        graphss_i_progressing at = between(params, adam, &kept, &run, best, 0, epochs);
        st = graphss_i_checkpoint_read(ctx, saved, &at);
        if (st)
            goto done;
        first = run.epochs = at.epoch;
        run.best_epoch = at.best_epoch;
        kept.step = at.best_step;
        best = (graphss_i_measure){at.best_accuracy, at.best_loss};
        for (size_t e = 0; e < first; e++)
            (void)graphss_rng_u64(&rng);
    }
    for (size_t e = first;; e++) {
        const uint64_t key = graphss_rng_u64(&rng);
        const bool last = e == epochs;
        const bool separate = draws || last;
        const size_t measured = late ? e : e - 1; /* the epoch these weights are judged for */
        bool taken = false;
        graphss_i_tape_rows(tape, split->val, separate ? split->n_val : 0);
        if ((late ? !last : e > 0 || !separate) && (n_val > 0 || !separate))
            separate && !last ? graphss_i_tape_forward_before(tape, key)
                              : graphss_i_tape_forward(tape, !separate, key);
        if (late ? !last : e > 0) {
            graphss_i_measure now;
            st = judge_all(ctx, &now, graphss_i_tape_value(tape, logits), n_classes,
                split->val, split->val_label, split->n_val);
            if (st)
                goto done;
            run.val_acc[measured] = (float)now.accuracy;
            taken = n_val == 0 ||
                    (late ? now.accuracy > best.accuracy : graphss_i_better(now, best));
            if (taken) {
                best = now;
                run.best_epoch = measured;
            }
        }
        if (taken && !late)
            checkpoint_take(&kept, params, adam);
        if (e > 0) {
            char note[64];
            const int used = snprintf(note, sizeof note, "loss %.3f", (double)run.loss[e - 1]);
            if (n_val > 0)
                snprintf(note + used, sizeof note - (size_t)used, "  val %.1f %%",
                    100 * (double)run.val_acc[e - 1]);
            st = graphss_i_progress(ctx, stage, e, epochs, note);
            if (st)
                goto done;
        }
        if (last || (patience && e > run.best_epoch + 1 + patience))
            break;
        if (separate) {
            graphss_i_tape_rows(tape, split->train, split->n_train);
            graphss_i_tape_forward(tape, true, key);
        }
        double loss;
        st = loss_of(ctx, &loss, tape);
        if (st)
            goto done;
        if (!isfinite(loss)) {
            st = graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                "training diverged at epoch %zu: the loss is %g; "
                "try a smaller --learning-rate than %g",
                e, loss, opt->learning_rate);
            goto done;
        }
        run.loss[e] = (float)loss;
        run.epochs = e + 1;
        graphss_i_tape_backward(tape);
        st = graphss_i_ranks_sum_floats(ctx, adam->grad, adam->count);
        if (st)
            goto done;
        graphss_i_adam_step(ctx, adam, params, opt->learning_rate, opt->weight_decay);
        if (taken && late)
            checkpoint_take(&kept, params, adam);
        if (saved) {
            const graphss_i_progressing at =
                between(params, adam, &kept, &run, best, e + 1, epochs);
            graphss_i_checkpoint_write(ctx, saved, &at, false);
        }
    }
    if (saved) { /* later work, such as a rehearsal, may be stopped, too */
        const graphss_i_progressing at =
            between(params, adam, &kept, &run, best, run.epochs, epochs);
        graphss_i_checkpoint_write(ctx, saved, &at, true);
    }
    checkpoint_restore(&kept, params, adam);
    graphss_i_tape_rows(tape, NULL, 0);
    graphss_i_tape_forward(tape, false, 0);
    const float *x = graphss_i_tape_value(tape, logits);
    graphss_i_measure train, val;
    st =
        judge_all(ctx, &train, x, n_classes, split->train, split->train_label, split->n_train);
    if (!st)
        st = judge_all(ctx, &val, x, n_classes, split->val, split->val_label, split->n_val);
    if (st)
        goto done;
    run.train_accuracy = train.accuracy;
    run.val_accuracy = val.accuracy;
done:
    run.seconds = graphss_i_seconds() - start;
    checkpoint_destroy(ctx, &kept);
    if (log && !st)
        *log = run;
    else
        graphss_training_destroy(ctx, &run);
    return st;
}

void graphss_training_destroy(graphss_ctx *ctx, graphss_training *training)
{
    if (!training)
        return;
    graphss_release(ctx, training->loss);
    graphss_release(ctx, training->val_acc);
    *training = (graphss_training){0};
}
