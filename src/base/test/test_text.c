#include "base/base.h"
#include "testing.h"
#include <locale.h>

static bool parse(double *out, const char *text)
{
    return graphss_i_parse_double(out, text, strlen(text));
}

static void test_numbers_are_read_whole_or_not_at_all(void **state)
{
    (void)state;
    double x;
    int64_t n;
    assert_true(parse(&x, "0.5") && x == 0.5);
    assert_true(parse(&x, "-1e-3") && x == -1e-3);
    assert_true(parse(&x, ".5") && x == 0.5);
    assert_true(parse(&x, "nan") && isnan(x));
    assert_true(parse(&x, "-inf") && x == -INFINITY);
    static const char *const wrong[] = {"",  ".",  "1e",    "0x10",    "1 ",   " 1", "1,5",
                                        "-", "e5", "1.2.3", "infinit", "nanx", "--1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(parse(&x, wrong[i]));
    assert_true(graphss_i_parse_int(&n, "-9223372036854775808", 20) && n == INT64_MIN);
    assert_false(graphss_i_parse_int(&n, "9223372036854775808", 19));
    assert_false(graphss_i_parse_int(&n, "12a", 3));
    assert_false(graphss_i_parse_int(&n, "-", 1));
}

static void test_text_reads_back_as_the_same_number(void **state)
{
    (void)state;
    graphss_rng rng = graphss_rng_make(1, 1);
    char text[64];
    for (int i = 0; i < 2000; i++) {
        const double x = graphss_rng_normal(&rng) * pow(10, (double)(i % 60) - 30);
        graphss_i_double_text(text, sizeof text, x);
        double back = 0;
        assert_true(parse(&back, text));
        assert_true(back == x);
    }
    graphss_i_double_text(text, sizeof text, 0.1);
    assert_string_equal(text, "0.1");
}

/* A point of one byte that is not ours, and one of two. */
static void test_the_locale_changes_nothing(void **state)
{
    (void)state;
    static const char *const places[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "ps_AF.UTF-8"};
    size_t found = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (!setlocale(LC_NUMERIC, places[i]))
            continue;
        char text[64], longest[128];
        double x;
        found++;
        graphss_i_double_text(text, sizeof text, -0.25e-7);
        assert_string_equal(text, "-2.5e-08");
        assert_true(parse(&x, "0.25") && x == 0.25);
        assert_true(parse(&x, ".5e1") && x == 5);
        assert_false(parse(&x, "0,25"));
        memset(longest, '7', sizeof longest);
        longest[1] = '.';
        assert_true(graphss_i_parse_double(&x, longest, sizeof longest) && x > 7.7 && x < 7.8);
    }
    setlocale(LC_NUMERIC, "C");
    if (!found) {
        print_message("skipped: no locale with another decimal point is installed\n");
        skip();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_are_read_whole_or_not_at_all),
        cmocka_unit_test(test_text_reads_back_as_the_same_number),
        cmocka_unit_test(test_the_locale_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
