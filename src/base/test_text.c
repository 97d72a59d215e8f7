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

static void test_the_locale_changes_nothing(void **state)
{
    (void)state;
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "fr_FR.UTF-8")) {
        print_message("skipped: no locale with a decimal comma is installed\n");
        skip();
    }
    char text[64];
    double x;
    graphss_i_double_text(text, sizeof text, 0.25);
    assert_string_equal(text, "0.25");
    assert_true(parse(&x, "0.25") && x == 0.25);
    setlocale(LC_NUMERIC, "C");
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
