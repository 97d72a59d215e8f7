#include "base/base.h"
#include "testing.h"

typedef struct settings {
    bool loud;
    int64_t rounds;
    double rate;
    int colour;
    const char *file;
    int64_t count;
    double share;
} settings;

static const char *const colours[] = {"red", "green", NULL};
static const graphss_option table[] = {
    {"loud", GRAPHSS_OPTION_BOOL, offsetof(settings, loud), 0, 1, NULL, NULL, "", 0},
    {"rounds", GRAPHSS_OPTION_INT, offsetof(settings, rounds), 1, 100, NULL, "N", "", 0},
    {"rate", GRAPHSS_OPTION_REAL, offsetof(settings, rate), 0, INFINITY, NULL, "R", "", 0},
    {"colour", GRAPHSS_OPTION_CHOICE, offsetof(settings, colour), 0, 0, colours, "C", "", 0},
    {"file", GRAPHSS_OPTION_STRING, offsetof(settings, file), 0, 0, NULL, "F", "", 0},
    {"amount", GRAPHSS_OPTION_AMOUNT, offsetof(settings, count), 0, 9, NULL, "N", "", 0,
        .share = offsetof(settings, share)},
    {NULL, 0, 0, 0, 0, NULL, NULL, NULL, 0},
};

static graphss_status set(graphss_ctx *ctx, settings *s, const char *name, const char *text)
{
    return graphss_option_set(ctx, s, graphss_option_find(table, name), text);
}

TEST_CTX(text_sets_fields_and_comes_back)
{
    settings s = {0};
    static const char *const pairs[][2] = {{"loud", "yes"}, {"rounds", "17"},
        {"rate", "0.125"}, {"colour", "green"}, {"file", "a b.txt"}};
    for (size_t i = 0; i < 5; i++) {
        char text[64];
        assert_ok(ctx, set(ctx, &s, pairs[i][0], pairs[i][1]));
        graphss_option_text(text, sizeof text, &s, graphss_option_find(table, pairs[i][0]));
        assert_string_equal(text, pairs[i][1]);
    }
    assert_true(s.loud && s.rounds == 17 && s.rate == 0.125 && s.colour == 1);
    assert_ok(ctx, set(ctx, &s, "rounds", "1e2"));
    assert_int_equal(s.rounds, 100);
    assert_ok(ctx, graphss_options_check(ctx, &s, table));
    assert_null(graphss_option_find(table, "round"));
}

TEST_CTX(an_amount_is_a_number_or_a_share)
{
    settings s = {.rounds = 5, .rate = 1};
    static const struct {
        const char *text;
        int64_t count;
        double share;
    } good[] = {
        {"7", 7, 0}, {"50%", 0, 0.5}, {"0", 0, 0}, {"12.5%", 0, 0.125}, {"100%", 0, 1}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        char text[40];
        assert_ok(ctx, set(ctx, &s, "amount", good[i].text));
        assert_int_equal(s.count, good[i].count);
        assert_true(s.share == good[i].share);
        graphss_option_text(text, sizeof text, &s, graphss_option_find(table, "amount"));
        assert_string_equal(text, good[i].text);
        assert_ok(ctx, graphss_options_check(ctx, &s, table));
    }
    static const char *const bad[] = {"0%", "101%", "%", "-5%", "nan%", "10", "-1", "2.5", ""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_fails(ctx, set(ctx, &s, "amount", bad[i]), GRAPHSS_ERR_INVALID,
            "want a whole number from 0 to 9, or a share above 0% and up to 100%");
    assert_true(s.count == 0 && s.share == 1);
    s.share = 1.5;
    assert_fails(ctx, graphss_options_check(ctx, &s, table), GRAPHSS_ERR_INVALID,
        "--amount: found '150%'");
    s.share = NAN;
    assert_fails(ctx, graphss_options_check(ctx, &s, table), GRAPHSS_ERR_INVALID, "--amount");
}

TEST_CTX(refusals_say_what_was_wanted)
{
    settings s = {.rounds = 5, .rate = 1};
    assert_fails(ctx, set(ctx, &s, "rounds", "0"), GRAPHSS_ERR_INVALID,
        "--rounds: found '0', want a whole number from 1 to 100");
    assert_fails(ctx, set(ctx, &s, "rounds", "2.5"), GRAPHSS_ERR_INVALID, "2.5");
    assert_fails(ctx, set(ctx, &s, "rounds", "1e300"), GRAPHSS_ERR_INVALID, "1e300");
    assert_fails(ctx, set(ctx, &s, "rate", "-1"), GRAPHSS_ERR_INVALID, "of at least 0");
    assert_fails(ctx, set(ctx, &s, "rate", "nan"), GRAPHSS_ERR_INVALID, "nan");
    assert_fails(ctx, set(ctx, &s, "colour", "blue"), GRAPHSS_ERR_INVALID, "red, green");
    assert_fails(ctx, set(ctx, &s, "loud", "perhaps"), GRAPHSS_ERR_INVALID, "yes or no");
    assert_int_equal(s.rounds, 5);
    s.rate = NAN;
    assert_fails(ctx, graphss_options_check(ctx, &s, table), GRAPHSS_ERR_INVALID, "--rate");
    s.rate = 1;
    s.colour = 9;
    assert_fails(ctx, graphss_options_check(ctx, &s, table), GRAPHSS_ERR_INVALID, "--colour");
    for (int colour = -1; colour <= 2; colour++) {
        char text[16];
        s.colour = colour;
        graphss_option_text(text, sizeof text, &s, graphss_option_find(table, "colour"));
        assert_string_equal(text, colour == 0 ? "red" : colour == 1 ? "green" : "?");
    }
}

TEST_CTX(the_defaults_of_every_table_are_within_it)
{
#define FINE(type, arguments, of) \
    do { \
        type fresh; \
        type##_init arguments; \
        assert_int_equal(fresh.struct_size, sizeof fresh); \
        assert_ok(ctx, graphss_options_check(ctx, &fresh, of)); \
    } while (0)
    FINE(graphss_alert_options, (&fresh), graphss_alert_options_table());
    FINE(graphss_attack_options, (&fresh), graphss_attack_options_table());
    FINE(graphss_victim_options, (&fresh), graphss_victim_options_table());
    FINE(graphss_selfsup_options, (&fresh), graphss_selfsup_options_table());
    FINE(graphss_snapshot_options, (&fresh), graphss_snapshot_options_table());
    FINE(graphss_split_options, (&fresh), graphss_split_options_table());
    FINE(graphss_synth_options, (&fresh), graphss_synth_options_table());
    FINE(graphss_reproduce_options, (&fresh), graphss_reproduce_options_table());
    for (int m = GRAPHSS_MODE_DEFAULT; m <= GRAPHSS_MODE_PAPER; m++) {
        const graphss_mode mode = (graphss_mode)m;
        for (size_t i = 0; graphss_model_name(i); i++)
            FINE(graphss_train_options, (&fresh, graphss_model_name(i), mode, NULL),
                graphss_train_options_table());
        for (size_t i = 0; testing_method(i); i++)
            FINE(graphss_recover_options, (&fresh, graphss_lab_method_at(i), mode, NULL),
                graphss_recover_method_options(graphss_lab_method_at(i), mode));
    }
#undef FINE
}

TEST_CTX(options_without_a_known_size_are_refused)
{
    graphss_split_options opt, taken;
    graphss_split split = {0};
    const int32_t label[] = {0, 1, 0, 1};
    graphss_split_options_init(&opt);
    graphss_split_options_init(&taken);
    taken.train = 0.25;
    assert_ok(ctx, GRAPHSS_I_TAKE(ctx, graphss_split_options, &taken, NULL));
    assert_true(taken.train == 0.25);
    assert_ok(ctx, GRAPHSS_I_TAKE(ctx, graphss_split_options, &taken, &opt));
    assert_true(taken.train == opt.train);
    opt.struct_size = 0;
    assert_fails(ctx, graphss_split_make(ctx, &split, label, 4, 2, 1, &opt),
        GRAPHSS_ERR_INVALID, "call graphss_split_options_init first");
    opt.struct_size = sizeof opt + 8;
    assert_fails(ctx, graphss_split_make(ctx, &split, label, 4, 2, 1, &opt),
        GRAPHSS_ERR_INVALID, "built for another version of the library");
    assert_null(split.train);
    assert_null(graphss_ctx_new(&(graphss_ctx_options){.threads = 1}));
}

TEST(an_option_that_came_later_is_unsaid_where_it_is_off)
{
    graphss_option row = table[0];
    settings s = {0};
    assert_false(row.later);
    assert_false(graphss_i_option_unsaid(&s, &row));
    row.later = true;
    assert_true(graphss_i_option_unsaid(&s, &row));
    s.loud = true;
    assert_false(graphss_i_option_unsaid(&s, &row));
    const graphss_option *const tables[] = {
        graphss_train_options_table(), graphss_lab_options_table()};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        assert_true(graphss_option_find(tables[i], "standardise")->later);
        for (const graphss_option *r = tables[i]; r->name; r++)
            assert_true(!r->later || r->type == GRAPHSS_OPTION_BOOL ||
                        r->type == GRAPHSS_OPTION_INT || r->type == GRAPHSS_OPTION_CHOICE);
    }
    static const char *const gat_only[] = {"heads", "output-heads", "activation"};
    graphss_train_options gcn;
    graphss_train_options_init(&gcn, "gcn", GRAPHSS_MODE_DEFAULT, NULL);
    graphss_train_options gat;
    graphss_train_options_init(&gat, "gat", GRAPHSS_MODE_DEFAULT, NULL);
    for (size_t i = 0; i < 3; i++) {
        const graphss_option *r = graphss_option_find(tables[0], gat_only[i]);
        assert_true(graphss_i_option_unsaid(&gcn, r));
        assert_false(graphss_i_option_unsaid(&gat, r));
        graphss_i_option_unsay(&gat, r);
        assert_true(graphss_i_option_unsaid(&gat, r));
    }
    const graphss_option *knows = graphss_option_find(graphss_attack_options_table(), "knows");
    graphss_attack_options attack;
    graphss_attack_options_init(&attack);
    assert_true(graphss_i_option_unsaid(&attack, knows));
    attack.knows = GRAPHSS_KNOWLEDGE_NOTHING;
    assert_false(graphss_i_option_unsaid(&attack, knows));
}

int main(void)
{
    return testing_run();
}
