/* Random flips and DICE: budgets are kept, changes fit the graph, draws follow their rule. */
#include "attack/test/testing_attack.h"

static graphss_attack_options options(const char *method)
{
    graphss_attack_options opt;
    graphss_attack_options_init(&opt);
    opt.method = method;
    return opt;
}

static void same_flips(const graphss_flips *a, const graphss_flips *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        assert_int_equal(a->item[i].node, b->item[i].node);
        assert_int_equal(a->item[i].target, b->item[i].target);
        assert_true(a->item[i].new_value == b->item[i].new_value);
    }
}

TEST_CTX(the_budget_is_spent_and_the_changes_fit)
{
    fixture s;
    fixture_make(ctx, &s, NULL);
    const char *const method[] = {"random", "dice"};
    for (size_t m = 0; m < 2; m++) {
        graphss_flips flips = {0};
        graphss_attack_log log = {0};
        graphss_dataset now = {0};
        const graphss_attack_options opt = options(method[m]);
        assert_ok(ctx, graphss_attack_run(ctx, &flips, &log, &s.in, &opt));
        assert_int_equal(graphss_flips_count(&flips, GRAPHSS_FLIP_EDGE), 2 * SCENE_VICTIMS);
        assert_int_equal(
            graphss_flips_count(&flips, GRAPHSS_FLIP_FEATURE), 20 * SCENE_VICTIMS);
        assert_int_equal(log.n_victims, SCENE_VICTIMS);
        assert_int_equal(log.n_steps, flips.count);
        assert_int_equal(log.victim[3].n_edges, 2);
        assert_int_equal(log.victim[3].n_features, 20);
        assert_true(isnan(log.victim[3].loss_before));
        for (size_t i = 0; i < flips.count; i++)
            assert_int_equal(flips.item[i].node, flips.item[i].victim);
        assert_ok(ctx, graphss_flips_apply(ctx, &now, &s.data, &flips, NULL));
        for (size_t i = 0; i < SCENE_VICTIMS; i++)
            assert_true(graphss_graph_degree(&now.graph, (size_t)s.victim[i]) > 0);
        graphss_dataset_destroy(ctx, &now);
        graphss_attack_log_destroy(ctx, &log);
        graphss_flips_destroy(ctx, &flips);
    }
    fixture_destroy(ctx, &s);
}

TEST_CTX(dice_cuts_inside_and_joins_across)
{
    fixture s;
    fixture_make(ctx, &s, NULL);
    graphss_attack_options opt = options("dice");
    opt.kind = GRAPHSS_ATTACK_EDGES;
    opt.budget = 4;
    graphss_flips flips = {0};
    assert_ok(ctx, graphss_attack_run(ctx, &flips, NULL, &s.in, &opt));
    size_t cuts = 0;
    for (size_t i = 0; i < flips.count; i++) {
        const graphss_flip *f = &flips.item[i];
        const bool same = s.data.label[f->node] == s.data.label[f->target];
        assert_true(f->new_value == 0 ? same : !same);
        cuts += f->new_value == 0;
    }
    /* a fair coin over 48 draws: outside 8..40 once in a million */
    assert_in_range(cuts, 8, 40);
    graphss_flips_destroy(ctx, &flips);
    fixture_destroy(ctx, &s);
}

TEST_CTX(draws_follow_the_seed_and_the_victim)
{
    fixture s;
    fixture_make(ctx, &s, NULL);
    graphss_attack_options opt = options("random");
    opt.independent = true;
    graphss_flips all = {0}, again = {0}, last = {0}, other = {0};
    assert_ok(ctx, graphss_attack_run(ctx, &all, NULL, &s.in, &opt));
    assert_ok(ctx, graphss_attack_run(ctx, &again, NULL, &s.in, &opt));
    same_flips(&all, &again);
    graphss_attack_input one = s.in;
    one.victim = &s.victim[SCENE_VICTIMS - 1];
    one.n_victims = 1;
    assert_ok(ctx, graphss_attack_run(ctx, &last, NULL, &one, &opt));
    graphss_flips tail = all;
    tail.item += all.count - last.count;
    tail.count = last.count;
    same_flips(&tail, &last);
    one.seed = 2;
    assert_ok(ctx, graphss_attack_run(ctx, &other, NULL, &one, &opt));
    bool differs = false;
    for (size_t i = 0; i < last.count && i < other.count; i++)
        differs |= last.item[i].target != other.item[i].target;
    assert_true(differs);
    graphss_flips_destroy(ctx, &other);
    graphss_flips_destroy(ctx, &last);
    graphss_flips_destroy(ctx, &again);
    graphss_flips_destroy(ctx, &all);
    fixture_destroy(ctx, &s);
}

TEST_CTX(influencers_change_in_place_of_the_victim)
{
    fixture s;
    fixture_make(ctx, &s, NULL);
    graphss_attack_options opt = options("dice");
    opt.influencers = 2;
    opt.independent = true;
    graphss_flips flips = {0};
    assert_ok(ctx, graphss_attack_run(ctx, &flips, NULL, &s.in, &opt));
    assert_true(flips.count > 0);
    for (size_t i = 0; i < flips.count; i++) {
        assert_int_not_equal(flips.item[i].node, flips.item[i].victim);
        assert_true(
            graphss_graph_has_edge(&s.data.graph, flips.item[i].node, flips.item[i].victim));
    }
    graphss_flips_destroy(ctx, &flips);
    fixture_destroy(ctx, &s);
}

TEST_CTX(more_changes_than_possible_are_left_out)
{
    fixture s;
    fixture_make(ctx, &s, NULL);
    graphss_attack_options opt = options("random");
    opt.kind = GRAPHSS_ATTACK_FEATURES;
    opt.budget = 200;
    s.in.n_victims = 1;
    graphss_flips flips = {0};
    graphss_attack_log log = {0};
    assert_ok(ctx, graphss_attack_run(ctx, &flips, &log, &s.in, &opt));
    assert_int_equal(flips.count, 80);
    assert_int_equal(log.victim[0].wanted, 200);
    graphss_attack_log_destroy(ctx, &log);
    graphss_flips_destroy(ctx, &flips);
    fixture_destroy(ctx, &s);
}

TEST_CTX(paper_mode_is_refused)
{
    fixture s;
    fixture_make(ctx, &s, NULL);
    graphss_attack_options opt = options("random");
    opt.mode = GRAPHSS_MODE_PAPER;
    graphss_flips flips = {0};
    assert_fails(ctx, graphss_attack_run(ctx, &flips, NULL, &s.in, &opt), GRAPHSS_ERR_INVALID,
        "random has no such mode");
    fixture_destroy(ctx, &s);
}

static graphss_status run_once(graphss_ctx *ctx, void *arg)
{
    const fixture *s = arg;
    graphss_attack_options opt = options("dice");
    opt.independent = true;
    opt.kind = GRAPHSS_ATTACK_BOTH;
    opt.budget = 6;
    graphss_flips flips = {0};
    const graphss_status st = graphss_attack_run(ctx, &flips, NULL, &s->in, &opt);
    graphss_flips_destroy(ctx, &flips);
    return st;
}

TEST_CTX(each_allocation_may_fail)
{
    fixture s;
    fixture_make(ctx, &s, NULL);
    s.in.n_victims = 2;
    testing_each_allocation_fails(run_once, &s);
    fixture_destroy(ctx, &s);
}

int main(void)
{
    return testing_run();
}
