/* Areas, curves and calibration against their definitions. */
#include "lab/experiment/cell.h"
#include "lab/experiment/test/testing_workplace.h"
#include "testing.h"

static graphss_i_scored random_item(graphss_rng *rng)
{
    /* Few different scores: ties are the hard part. */
    const double score = (double)graphss_rng_below(rng, 12) / 4;
    return (graphss_i_scored){score, graphss_rng_double(rng) < 0.2 + score / 10};
}

/* The probability that an attacked item scores higher than another, by all pairs. */
static double pairs_auc(const graphss_i_scored *item, size_t n)
{
    double won = 0, pairs = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            if (item[i].hit && !item[j].hit) {
                won += item[i].score > item[j].score    ? 1
                       : item[i].score == item[j].score ? 0.5
                                                        : 0;
                pairs++;
            }
    return pairs > 0 ? won / pairs : NAN;
}

TEST(area_is_the_share_of_pairs_in_order)
{
    graphss_rng rng = graphss_rng_make(1, 99);
    for (size_t round = 0; round < 50; round++) {
        graphss_i_scored item[60];
        const size_t n = 2 + (size_t)graphss_rng_below(&rng, 58);
        for (size_t i = 0; i < n; i++)
            item[i] = random_item(&rng);
        item[0].hit = 1;
        item[1].hit = 0;
        const double wanted = pairs_auc(item, n);
        graphss_i_scored_sort(item, n);
        assert_true(fabs(graphss_i_auc(item, n) - wanted) < 1e-12);

        /* The area under the curve, by trapezes, is the same. */
        double x[61], y[61], area = 0;
        const size_t points = graphss_i_roc(x, y, item, n);
        for (size_t i = 1; i < points; i++) {
            assert_true(x[i] >= x[i - 1] && y[i] >= y[i - 1]);
            area += (x[i] - x[i - 1]) * (y[i] + y[i - 1]) / 2;
        }
        assert_true(x[0] == 0 && y[0] == 0 && x[points - 1] == 1 && y[points - 1] == 1);
        assert_true(fabs(area - wanted) < 1e-12);
    }
}

TEST(without_hits_or_others_there_is_no_area)
{
    graphss_i_scored hits[] = {{1, 1}, {2, 1}}, others[] = {{1, 0}};
    double x[3], y[3];
    assert_true(isnan(graphss_i_auc(hits, 2)));
    assert_true(isnan(graphss_i_auc(others, 1)));
    assert_true(isnan(graphss_i_auc(NULL, 0)));
    assert_int_equal(graphss_i_roc(x, y, hits, 2), 0);
    assert_int_equal(graphss_i_roc(x, y, others, 1), 0);
}

TEST(a_score_that_is_no_number_ranks_nothing)
{
    graphss_i_scored item[] = {{NAN, 1}, {2, 1}, {NAN, 0}, {3, 0}, {1, 0}};
    double x[6], y[6];
    graphss_i_scored_sort(item, 5);
    assert_true(item[0].score == 3 && item[2].score == 1 && isnan(item[3].score));
    assert_true(isnan(graphss_i_auc(item, 5)));
    assert_int_equal(graphss_i_roc(x, y, item, 5), 0);
    assert_true(graphss_i_auc(item, 3) == 0.5);
}

TEST(calibration_error_of_a_known_case)
{
    /* Two nodes sure by 0.9, one right; one sure by 0.6 and right; one without truth. */
    const double posterior[] = {0.9, 0.1, 0.1, 0.9, 0.6, 0.4, 1, 0};
    const int32_t truth[] = {0, 0, 0, -1}, node[] = {0, 1, 2, 3};
    graphss_i_bins bins;
    graphss_i_bins_fill(&bins, posterior, 2, truth, node, 4);
    assert_int_equal(bins.count[13], 2);
    assert_int_equal(bins.count[9], 1);
    assert_true(fabs(bins.accuracy[13] - 0.5) < 1e-12);
    assert_true(fabs(bins.confidence[9] - 0.6) < 1e-12);
    const double wanted = (2 * 0.4 + 1 * 0.4) / 3;
    assert_true(fabs(graphss_i_calibration_error(&bins) - wanted) < 1e-12);
    graphss_i_bins_fill(&bins, posterior, 2, truth, node + 3, 1);
    assert_true(isnan(graphss_i_calibration_error(&bins)));
}

TEST(full_confidence_is_in_the_last_bin)
{
    const double posterior[] = {1, 0};
    const int32_t truth[] = {0}, node[] = {0};
    graphss_i_bins bins;
    graphss_i_bins_fill(&bins, posterior, 2, truth, node, 1);
    assert_int_equal(bins.count[GRAPHSS_I_BINS - 1], 1);
    assert_true(graphss_i_calibration_error(&bins) == 0);
}

TEST(a_posterior_that_is_no_number_is_in_no_bin)
{
    const double posterior[] = {NAN, NAN, 0.6, 0.4};
    const int32_t truth[] = {0, 0}, node[] = {0, 1};
    graphss_i_bins bins;
    graphss_i_bins_fill(&bins, posterior, 2, truth, node, 2);
    size_t count = 0;
    for (size_t b = 0; b < GRAPHSS_I_BINS; b++)
        count += bins.count[b];
    assert_int_equal(count, 1);
    assert_int_equal(bins.count[9], 1);
}

/* Sets of victims: which meets which, and what one leaves to the next. */
#define BARE \
    "what = defence\nmode = paper\nmodels = gcn\n" \
    "datasets = synth:nodes=90,classes=3,features=30,degree=4\n" \
    "methods = graphss none jaccard\nfirst-set = jaccard\n" \
    "train.epochs = 6\ntrain.hidden = 8\n" \
    "recover.sweeps = 25\nrecover.retrain-epochs = 4\n" \
    "attack.links = 1\nattack.features = 2\n"
#define BASE BARE "recover.warmup = 10\n"

/* The metrics of a cell among all records. */
static json_t *metrics_of(json_t *all, const char *method, int64_t set)
{
    const char *key;
    json_t *record, *found = NULL;
    json_object_foreach(all, key, record)
    {
        if (json_integer_value(json_object_get(record, "set")) == set &&
            !strcmp(json_string_value(json_object_get(record, "method")), method))
            found = json_object_get(record, "metrics");
    }
    assert_non_null(found);
    return found;
}

TEST(a_seed_may_meet_fewer_sets_and_a_method_the_first_alone)
{
    const workplace p = make_workplace("fewer", BASE "seeds = 3\nsets = 3 2\n");
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    const graphss_reproduce_options opt = options_of(&p);
    graphss_i_plan plan = {0};
    assert_ok(ctx, graphss_i_plan_make(ctx, &plan, 5, &opt));
    assert_int_equal(plan.n_jobs, 3);
    for (size_t j = 0; j < plan.n_jobs; j++) {
        const graphss_i_job *job = &plan.job[j];
        const size_t sets = job->seed == 5 ? 3 : 2;
        assert_int_equal(job->n_cells, 2 * sets + 2); /* jaccard: two ways to train */
        for (size_t c = 0; c < job->n_cells; c++) {
            assert_true(c == 0 || job->cell[c].set >= job->cell[c - 1].set);
            assert_true(strcmp(job->cell[c].method, "jaccard") || job->cell[c].set == 1);
        }
    }
    graphss_i_plan_destroy(ctx, &plan);
    graphss_ctx_free(ctx);
    remove_workplace(&p);
}

TEST(the_next_set_begins_with_the_model_the_last_one_left)
{
    const workplace p = make_workplace("chain", BASE "sets = 3\n");
    const workplace one = make_workplace("first", BASE "sets = 1\n");
    assert_int_equal(reproduce(&p, 2).failed, 0);
    assert_int_equal(reproduce(&one, 2).failed, 0);
    json_t *all = read_back(&p), *first = read_back(&one);
    assert_true(json_equal(metrics_of(all, "graphss", 1), metrics_of(first, "graphss", 1)));
    assert_null(json_object_get(metrics_of(all, "graphss", 1), "victims_carried"));
    assert_null(json_object_get(metrics_of(all, "none", 2), "victims_carried"));
    for (int64_t set = 2; set <= 3; set++)
        assert_true(
            json_is_real(json_object_get(metrics_of(all, "graphss", set), "victims_carried")));
    json_decref(first);
    json_decref(all);
    remove_workplace(&one);
    remove_workplace(&p);
}

/* Only the last set is missing: the earlier sets run again for what they leave, but are not
 * written again. */
TEST(a_chain_that_was_cut_goes_on_as_if_it_had_not_been)
{
    const workplace p = make_workplace("cut", BASE "sets = 3\n");
    const graphss_reproduce_result whole = reproduce(&p, 1);
    json_t *all = read_back(&p), *record;
    const char *key;
    FILE *file = fopen(p.records, "w");
    assert_non_null(file);
    json_object_foreach(all, key, record)
    {
        const bool gone =
            json_integer_value(json_object_get(record, "set")) == 3 &&
            !strcmp(json_string_value(json_object_get(record, "method")), "graphss");
        if (!gone) {
            json_dumpf(record, file, JSON_COMPACT);
            fputc('\n', file);
        }
    }
    fclose(file);
    const graphss_reproduce_result again = reproduce(&p, 1);
    assert_int_equal(again.before, whole.cells - 1);
    assert_int_equal(again.run, 1);
    json_t *now = read_back(&p);
    assert_true(json_equal(all, now));
    json_decref(now);
    json_decref(all);
    remove_workplace(&p);
}

/* Diagnostics of a chain with a missing value would be wrong. */
TEST(after_a_set_that_failed_the_others_fail)
{
    const workplace p =
        make_workplace("hole", BARE "recover.warmup = 25\n" /* as many as sweeps */
                                    "sets = 3\nskip = none jaccard\n");
    const graphss_reproduce_result done = reproduce(&p, 1);
    assert_int_equal(done.failed, 3);
    json_t *all = read_back(&p), *record;
    const char *key;
    json_object_foreach(all, key, record)
    {
        const char *message =
            json_string_value(json_object_get(json_object_get(record, "error"), "message"));
        const bool first = json_integer_value(json_object_get(record, "set")) == 1;
        assert_non_null(strstr(message, first ? "warm-up" : "set of victims before it"));
    }
    json_decref(all);
    remove_workplace(&p);
}

/* Groups that are not attacked change, too, and that may move the classifier's labels. */
TEST(what_an_attack_leaves_is_measured_after_the_last_change)
{
    const workplace p =
        make_workplace("churned", "what = alert\nmode = honest\nmodels = gcn\n"
                                  "datasets = synth:nodes=300,classes=3,features=30,degree=3,"
                                  "homophily=0.4\n"
                                  "methods = alert\ntrain.epochs = 20\ntrain.hidden = 8\n"
                                  "snapshots.groups = 4\nsnapshots.attacked-groups = 2\n"
                                  "snapshots.background = yes\nattack.links = 5\n"
                                  "attack.features = 20\n");
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    const graphss_reproduce_options opt = options_of(&p);
    graphss_i_plan plan = {0};
    graphss_i_job_state s;
    assert_ok(ctx, graphss_i_plan_make(ctx, &plan, 5, &opt));
    assert_ok(ctx, graphss_i_job_state_make(ctx, &s, &plan.job[0], NULL));
    assert_ok(ctx, graphss_i_job_state_set(ctx, &s, &plan.job[0], 1));
    assert_true(s.trial.snapshots.n_churned > 0);
    const graphss_protocol_score now = graphss_protocol_measure(&s.trial, s.trial.after);
    assert_true(s.trial.attacked.others == now.others);
    assert_true(s.trial.attacked.test == now.test);
    graphss_i_job_state_destroy(ctx, &s);
    graphss_i_plan_destroy(ctx, &plan);
    graphss_ctx_free(ctx);
    remove_workplace(&p);
}

static long json_left; /* allocations until one fails, and those after it do not */

static void *json_alloc(size_t bytes)
{
    return json_left-- == 0 ? NULL : malloc(bytes);
}

TEST(a_record_without_memory_for_it_is_an_error)
{
    const workplace p = make_workplace("starved", BASE "sets = 2\n");
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    const graphss_reproduce_options opt = options_of(&p);
    graphss_i_plan plan = {0};
    graphss_i_job_state s;
    assert_ok(ctx, graphss_i_plan_make(ctx, &plan, 5, &opt));
    const graphss_i_job *job = &plan.job[0];
    const graphss_i_cell *cell = job->cell;
    while (cell->set != 2 || strcmp(cell->method, "graphss") != 0)
        cell++;
    assert_ok(ctx, graphss_i_job_state_make(ctx, &s, job, NULL));
    assert_ok(ctx, graphss_i_job_state_set(ctx, &s, job, 2));
    s.carried = s.protocol.model;
    json_set_alloc_funcs(json_alloc, free);
    for (long n = 0; json_left < 0 || n == 0; n++) {
        json_left = -1;
        json_t *record = json_object();
        json_left = n;
        const graphss_status st = graphss_i_cell_run(ctx, record, &s, job, cell);
        json_decref(record);
        assert_int_equal(st, json_left < 0 ? GRAPHSS_ERR_NOMEM : GRAPHSS_OK);
    }
    json_set_alloc_funcs(malloc, free);
    s.carried = NULL;
    graphss_i_job_state_destroy(ctx, &s);
    graphss_i_plan_destroy(ctx, &plan);
    graphss_ctx_free(ctx);
    remove_workplace(&p);
}

TEST_CTX(sets_that_make_no_sense_are_refused)
{
    static const struct {
        const char *text, *says;
    } wrong[] = {{BASE "sets = 0\n", "want 1 to 100 sets"},
        {BASE "seeds = 2\nsets = 2 x\n", "want 1 to 100 sets"},
        {BASE "sets = 2\nparameter = warmup\npoint 5 = recover.warmup=5\n",
            "points meet one set of victims, found 2"},
        {BASE "first-set@cora = nobody\n", "want methods"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const workplace p = make_workplace("wrong", wrong[i].text);
        const graphss_reproduce_options opt = options_of(&p);
        graphss_i_plan plan = {0};
        assert_fails(
            ctx, graphss_i_plan_make(ctx, &plan, 1, &opt), GRAPHSS_ERR_INVALID, wrong[i].says);
        remove_workplace(&p);
    }
}

int main(void)
{
    return testing_run();
}
