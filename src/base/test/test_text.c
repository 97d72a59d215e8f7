#include "base/base.h"
#include "testing.h"
#include <locale.h>

static bool parse(double *out, const char *text)
{
    return graphss_i_parse_double(out, text, strlen(text));
}

TEST(numbers_are_read_whole_or_not_at_all)
{
    double x;
    int64_t n;
    assert_true(parse(&x, "0.5") && x == 0.5);
    assert_true(parse(&x, "-1e-3") && x == -1e-3);
    assert_true(parse(&x, ".5") && x == 0.5);
    assert_true(parse(&x, "nan") && isnan(x));
    assert_true(parse(&x, "-inf") && x == -INFINITY);
    static const char *const wrong[] = {"", ".", "1e", "0x10", "1 ", " 1", "1,5", "-", "e5",
        "1.2.3", "infinit", "nanx", "--1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(parse(&x, wrong[i]));
    assert_true(graphss_i_parse_int(&n, "-9223372036854775808", 20) && n == INT64_MIN);
    assert_false(graphss_i_parse_int(&n, "9223372036854775808", 19));
    assert_false(graphss_i_parse_int(&n, "12a", 3));
    assert_false(graphss_i_parse_int(&n, "-", 1));
}

TEST(text_reads_back_as_the_same_number)
{
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
TEST(the_locale_changes_nothing)
{
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

/* test_text.c */
TEST(every_character_comes_back)
{
    size_t sound = 0;
    for (uint32_t c = 0; c < 0x110400; c++) {
        unsigned char bytes[4];
        uint32_t back = 0;
        if (!graphss_i_is_character(c))
            continue;
        const size_t n = graphss_i_utf8_put(bytes, c);
        assert_int_equal(graphss_i_utf8_take(&back, bytes, n), n);
        assert_int_equal(back, c);
        if (n > 1)
            assert_int_equal(graphss_i_utf8_take(&back, bytes, n - 1), 0);
        sound++;
    }
    assert_int_equal(sound, 0x110000 - 0x800);
}

TEST(bytes_that_are_no_characters_are_mended)
{
    static const char *const cases[][2] = {
        {"plain", "plain"}, {"caf\xc3\xa9", "caf\xc3\xa9"}, {"caf\xe9", "caf?"}, /* Latin-1 */
        {"cut \xe6\x97", "cut ??"},   /* inside a character */
        {"\xc0\xaf", "??"},           /* longer than need be */
        {"\xed\xa0\x80", "???"},      /* a surrogate */
        {"\xf4\x90\x80\x80", "????"}, /* above 10ffff */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[16];
        snprintf(text, sizeof text, "%s", cases[i][0]);
        const bool sound = strcmp(cases[i][0], cases[i][1]) == 0;
        assert_int_equal(graphss_i_is_utf8((const unsigned char *)text, strlen(text)), sound);
        graphss_i_utf8_mend(text);
        assert_string_equal(text, cases[i][1]);
    }
}

static graphss_status widen(graphss_ctx *ctx, void *unused)
{
    (void)unused;
    size_t n = 0;
    char *text = graphss_i_utf8_from_latin(ctx, "\xe9t\xe9", 3, &n);
    if (!text)
        return GRAPHSS_ERR_NOMEM;
    assert_int_equal(n, 5);
    assert_string_equal(text, "\xc3\xa9t\xc3\xa9");
    graphss_release(ctx, text);
    return GRAPHSS_OK;
}

TEST(latin_1_becomes_utf_8)
{
    testing_each_allocation_fails(widen, NULL);
}

int main(void)
{
    return testing_run();
}
