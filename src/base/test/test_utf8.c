/* test_utf8.c */
#include "base/base.h"
#include "testing.h"

static void test_every_character_comes_back(void **state)
{
    (void)state;
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

static void test_bytes_that_are_no_characters_are_mended(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"plain", "plain"},           {"caf\xc3\xa9", "caf\xc3\xa9"},
        {"caf\xe9", "caf?"},          /* Latin-1 */
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

static void test_latin_1_becomes_utf_8(void **state)
{
    (void)state;
    testing_each_allocation_fails(widen, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_character_comes_back),
        cmocka_unit_test(test_bytes_that_are_no_characters_are_mended),
        cmocka_unit_test(test_latin_1_becomes_utf_8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
