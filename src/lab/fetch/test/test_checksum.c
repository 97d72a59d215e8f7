#include "lab/fetch/fetch_private.h"
#include "testing.h"
#include <sys/stat.h>

static void write_file(const char *path, const char *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

static void test_known_digests_come_out(void **state)
{
    (void)state;
    /* sha256sum and git hash-object of these contents */
    static const struct {
        const char *text, *sha256, *git;
    } known[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
         "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"},
        {"hello\n", "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03",
         "ce013625030ba8dba906f756967f9e9ca394464a"},
    };
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    char path[300];
    testing_temporary(path, sizeof path, "digest");
    for (size_t i = 0; i < 2; i++) {
        graphss_i_digests d = {0};
        write_file(path, known[i].text, strlen(known[i].text));
        assert_ok(ctx, graphss_i_file_digests(ctx, &d, path));
        assert_string_equal(d.sha256, known[i].sha256);
        assert_string_equal(d.git, known[i].git);
        assert_int_equal(d.bytes, strlen(known[i].text));
    }
    unlink(path);
    graphss_ctx_free(ctx);
}

static void test_a_file_of_many_blocks_agrees_with_the_bytes_in_memory(void **state)
{
    (void)state;
    enum { N = 100003 };
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    char path[300], wanted[65];
    char *bytes = malloc(N);
    assert_non_null(bytes);
    for (size_t i = 0; i < N; i++)
        bytes[i] = (char)(i * i >> 3);
    testing_temporary(path, sizeof path, "blocks");
    write_file(path, bytes, N);
    graphss_i_digests d = {0};
    assert_ok(ctx, graphss_i_file_digests(ctx, &d, path));
    graphss_i_sha256_text(wanted, bytes, N);
    assert_string_equal(d.sha256, wanted);
    assert_int_equal(d.bytes, N);
    unlink(path);
    free(bytes);
    graphss_ctx_free(ctx);
}

static void test_a_digest_matches_only_its_own_kind(void **state)
{
    (void)state;
    const graphss_i_digests d = {.sha256 = "ab12", .git = "cd34"};
    assert_true(graphss_i_digests_match(&d, "sha256:ab12"));
    assert_true(graphss_i_digests_match(&d, "sha256:AB12"));
    assert_true(graphss_i_digests_match(&d, "git:cd34"));
    assert_false(graphss_i_digests_match(&d, "git:ab12"));
    assert_false(graphss_i_digests_match(&d, "sha256:ab1"));
    assert_false(graphss_i_digests_match(&d, "sha256:"));
    assert_false(graphss_i_digests_match(&d, "md5:ab12"));
    assert_null(graphss_i_digests_like(&d, "ab12"));
}

static void test_what_is_no_plain_file_is_refused(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    graphss_i_digests d = {.bytes = 7};
    char path[300];
    testing_temporary(path, sizeof path, "no-file");
    assert_fails(ctx, graphss_i_file_digests(ctx, &d, path), GRAPHSS_ERR_NOT_FOUND, path);
    assert_fails(ctx, graphss_i_file_digests(ctx, &d, "/"), GRAPHSS_ERR_DATA, "plain file");
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_fails(ctx, graphss_i_file_digests(ctx, &d, path), GRAPHSS_ERR_DATA, "plain file");
    assert_int_equal(d.bytes, 7);
    unlink(path);
    graphss_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_digests_come_out),
        cmocka_unit_test(test_a_file_of_many_blocks_agrees_with_the_bytes_in_memory),
        cmocka_unit_test(test_a_digest_matches_only_its_own_kind),
        cmocka_unit_test(test_what_is_no_plain_file_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
