/* What a context is made of, and what the library says of itself. */
#include "testing.h"

static void test_headers_and_library_are_of_one_version(void **state)
{
    (void)state;
    char text[64];
    snprintf(text, sizeof text, "%d.%d.%d", GRAPHSS_VERSION_MAJOR, GRAPHSS_VERSION_MINOR,
             GRAPHSS_VERSION_PATCH);
    assert_string_equal(text, graphss_version()); /* which is CMake's */
    assert_true(GRAPHSS_VERSION_MINOR < 100 && GRAPHSS_VERSION_PATCH < 100);
    assert_int_equal(GRAPHSS_VERSION_NUMBER / 10000, GRAPHSS_VERSION_MAJOR);
    assert_int_equal(GRAPHSS_VERSION_NUMBER / 100 % 100, GRAPHSS_VERSION_MINOR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_headers_and_library_are_of_one_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
