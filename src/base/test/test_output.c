#include "base/base.h"
#include "testing.h"
#include <sys/stat.h>

static void assert_holds(graphss_ctx *ctx, const char *path, const char *text)
{
    char *bytes = NULL;
    size_t n = 0;
    assert_ok(ctx, graphss_i_file_read(ctx, &bytes, &n, path, 1000));
    assert_int_equal(n, strlen(text));
    assert_string_equal(bytes, text);
    graphss_release(ctx, bytes);
}

TEST_CTX(a_file_appears_when_committed)
{
    char path[256];
    testing_temporary(path, sizeof path, "commit");
    graphss_i_output out = {0};
    assert_ok(ctx, graphss_i_output_open(ctx, &out, path));
    assert_ok(ctx, graphss_i_output_write(ctx, &out, "one", 3));
    assert_int_not_equal(access(path, F_OK), 0);
    assert_ok(ctx, graphss_i_output_commit(ctx, &out));
    assert_holds(ctx, path, "one");

    /* Abandoning leaves the old file unchanged, and no temporary file. */
    assert_ok(ctx, graphss_i_output_open(ctx, &out, path));
    assert_ok(ctx, graphss_i_output_write(ctx, &out, "two", 3));
    char temporary[300];
    snprintf(temporary, sizeof temporary, "%s", out.temporary);
    assert_int_equal(access(temporary, F_OK), 0);
    graphss_i_output_abandon(ctx, &out);
    assert_int_not_equal(access(temporary, F_OK), 0);
    assert_holds(ctx, path, "one");
    unlink(path);
}

TEST_CTX(errors_name_the_file)
{
    graphss_i_output out = {0};
    char *bytes = NULL, path[256];
    size_t n = 0;
    assert_fails(ctx, graphss_i_output_open(ctx, &out, "/nowhere/at/all"), GRAPHSS_ERR_IO,
        "/nowhere/at/all");
    assert_fails(ctx, graphss_i_file_read(ctx, &bytes, &n, "/nowhere/at/all", 10),
        GRAPHSS_ERR_NOT_FOUND, "/nowhere/at/all");
    assert_fails(
        ctx, graphss_i_file_read(ctx, &bytes, &n, "/", 10), GRAPHSS_ERR_DATA, "is a folder");
    testing_temporary(path, sizeof path, "limit");
    assert_ok(ctx, graphss_i_output_open(ctx, &out, path));
    assert_ok(ctx, graphss_i_output_write(ctx, &out, "0123456789", 10));
    assert_ok(ctx, graphss_i_output_commit(ctx, &out));
    assert_fails(
        ctx, graphss_i_file_read(ctx, &bytes, &n, path, 9), GRAPHSS_ERR_LIMIT, "10 bytes");
    assert_null(bytes);
    unlink(path);
}

static graphss_status write_and_read(graphss_ctx *ctx, void *arg)
{
    const char *path = arg;
    graphss_i_output out = {0};
    char *bytes = NULL;
    size_t n = 0;
    graphss_status st = graphss_i_output_open(ctx, &out, path);
    if (!st)
        st = graphss_i_output_write(ctx, &out, "text", 4);
    if (!st)
        st = graphss_i_output_commit(ctx, &out);
    if (!st)
        st = graphss_i_file_read(ctx, &bytes, &n, path, 100);
    graphss_release(ctx, bytes);
    return st;
}

static graphss_status make_folder(graphss_ctx *ctx, void *path)
{
    return graphss_i_folder_make(ctx, path);
}

TEST_CTX(what_is_no_plain_file_is_not_replaced)
{
    graphss_i_output out = {0};
    struct stat info;
    char path[256];
    testing_temporary(path, sizeof path, "pipe");
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_fails(
        ctx, graphss_i_output_open(ctx, &out, path), GRAPHSS_ERR_IO, "not a plain file");
    assert_int_equal(stat(path, &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
    assert_null(out.path);
    unlink(path);
}

TEST_CTX(a_replaced_file_keeps_its_mode)
{
    static const mode_t kept[] = {0600, 0640, 0664, 0444};
    struct stat info;
    char path[256];
    testing_temporary(path, sizeof path, "mode");
    const mode_t mask = umask(022);
    assert_ok(ctx, write_and_read(ctx, path));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0644);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        assert_int_equal(chmod(path, kept[i]), 0);
        assert_ok(ctx, write_and_read(ctx, path));
        assert_int_equal(stat(path, &info), 0);
        assert_int_equal(info.st_mode & 07777, kept[i]);
    }
    umask(mask);
    unlink(path);
}

TEST_CTX(a_folder_is_made_with_those_above_it)
{
    struct stat info;
    char path[256], deep[300];
    testing_temporary(path, sizeof path, "folders");
    snprintf(deep, sizeof deep, "%s/a/b", path);
    assert_ok(ctx, graphss_i_folder_make(ctx, deep));
    assert_ok(ctx, graphss_i_folder_make(ctx, deep));
    assert_int_equal(stat(deep, &info), 0);
    assert_true(S_ISDIR(info.st_mode));
    rmdir(deep);
    fclose(fopen(deep, "w")); /* a file in the way */
    assert_fails(ctx, graphss_i_folder_make(ctx, deep), GRAPHSS_ERR_IO, "/a/b: cannot make");
    unlink(deep);
    testing_each_allocation_fails(make_folder, deep);
    rmdir(deep);
    snprintf(deep, sizeof deep, "%s/a", path);
    rmdir(deep);
    rmdir(path);
}

TEST(failing_allocations_leave_nothing)
{
    char path[256];
    testing_temporary(path, sizeof path, "starved");
    testing_each_allocation_fails(write_and_read, path);
    unlink(path);
}

int main(void)
{
    return testing_run();
}
