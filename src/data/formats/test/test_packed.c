#include "data/formats/packed.h"
#include "testing.h"

static const char seeds[] = GRAPHSS_SEEDS "/packed/";

static graphss_status read_seed(graphss_ctx *ctx, char **bytes, size_t *n, const char *name,
                                uint64_t max)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s", seeds, name);
    return graphss_i_packed_read(ctx, bytes, n, path, max);
}

static void test_a_packed_file_is_unpacked_and_a_plain_one_left_alone(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
    } cases[] = {{"one", "a,b\nb,c\nc,a\n"}, {"two", "a,b\nb,c\nc,a\nc,d\n"}};
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    char *bytes = NULL;
    size_t n = 0;
    for (size_t i = 0; i < 2; i++) {
        assert_ok(ctx, read_seed(ctx, &bytes, &n, cases[i].name, 1000));
        assert_int_equal(n, strlen(cases[i].text));
        assert_string_equal(bytes, cases[i].text);
        graphss_release(ctx, bytes);
    }
    assert_ok(ctx, read_seed(ctx, &bytes, &n, "../edges/numbers", 1000));
    graphss_release(ctx, bytes);
    graphss_ctx_free(ctx);
}

static void test_damage_and_size_are_told(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    char *bytes = NULL;
    size_t n = 0;
    assert_fails(ctx, read_seed(ctx, &bytes, &n, "cut", 1000), GRAPHSS_ERR_DATA, "cut short");
    assert_fails(ctx, read_seed(ctx, &bytes, &n, "damaged", 1000), GRAPHSS_ERR_DATA,
                 "damaged gzip file");
    assert_fails(ctx, read_seed(ctx, &bytes, &n, "large", 1000), GRAPHSS_ERR_LIMIT,
                 "once unpacked");
    assert_fails(ctx, read_seed(ctx, &bytes, &n, "none", 60), GRAPHSS_ERR_NOT_FOUND, "none");
    assert_string_equal(graphss_i_packed_name("-"), "standard input");
    graphss_ctx_free(ctx);
}

static graphss_status read_and_release(graphss_ctx *ctx, void *arg)
{
    char *bytes = NULL;
    size_t n = 0;
    const graphss_status st = read_seed(ctx, &bytes, &n, arg, 1000);
    if (!st)
        graphss_release(ctx, bytes);
    return st;
}

static void test_each_allocation_may_fail(void **state)
{
    (void)state;
    char name[] = "two";
    testing_each_allocation_fails(read_and_release, name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_packed_file_is_unpacked_and_a_plain_one_left_alone),
        cmocka_unit_test(test_damage_and_size_are_told),
        cmocka_unit_test(test_each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
