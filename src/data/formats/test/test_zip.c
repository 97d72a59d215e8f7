/* Zip files: what is written can be read, and each allocation may fail. */
#include "data/formats/zip.h"
#include "testing.h"

/* 70 names of 1000 bytes are more than the directory begins with room for. */
enum { LARGE = 20000, MEMBERS = 70, NAME = 1000 };

typedef struct archive {
    char path[256];
    unsigned char *large; /* [LARGE] half noise, half the same byte */
} archive;

static void archive_make(archive *a, const char *name)
{
    graphss_rng rng = graphss_rng_make(1, 1);
    testing_temporary(a->path, sizeof a->path, name);
    a->large = malloc(LARGE);
    assert_non_null(a->large);
    for (size_t i = 0; i < LARGE; i++)
        a->large[i] = i % 2000 < 1000 ? (unsigned char)graphss_rng_u32(&rng) : 7;
}

static graphss_status write_archive(graphss_ctx *ctx, void *arg)
{
    const archive *a = arg;
    graphss_i_output out = {0};
    graphss_status st = graphss_i_output_open(ctx, &out, a->path);
    if (st)
        return st;
    graphss_i_zip_writer zip = {.out = &out};
    st = graphss_i_zip_add(ctx, &zip, "empty", NULL, 0, NULL, 0);
    if (!st)
        st = graphss_i_zip_add(ctx, &zip, "large", "head", 4, a->large, LARGE);
    for (int i = 0; i < MEMBERS && !st; i++) {
        char name[NAME + 1];
        snprintf(name, sizeof name, "%0*d", NAME, i);
        st = graphss_i_zip_add(ctx, &zip, name, name, NAME, NULL, 0);
    }
    if (!st)
        st = graphss_i_zip_finish(ctx, &zip);
    else
        graphss_i_zip_abandon(ctx, &zip);
    return st ? (graphss_i_output_abandon(ctx, &out), st) : graphss_i_output_commit(ctx, &out);
}

/* Reads all members; *bytes is how many they have together. */
static graphss_status read_archive(graphss_ctx *ctx, size_t *bytes, const archive *a)
{
    graphss_i_zip *zip = NULL;
    graphss_status st = graphss_i_zip_open(ctx, &zip, a->path, 5000);
    *bytes = 0;
    for (size_t i = 0; !st && i < zip->n_entries; i++) {
        graphss_i_zip_stream s = {0};
        unsigned char piece[777];
        size_t got = 0, at = 0;
        graphss_i_zip_fault fault = graphss_i_zip_stream_open(&s, ctx, zip, &zip->entry[i]);
        while (!fault && !(fault = graphss_i_zip_stream_read(&s, piece, sizeof piece, &got)) &&
               got) {
            for (size_t j = 0; j < got && i == 1; j++, at++)
                assert_int_equal(piece[j], at < 4 ? "head"[at] : a->large[at - 4]);
            *bytes += got;
        }
        graphss_i_zip_stream_close(&s);
        assert_true(!fault || fault == GRAPHSS_I_ZIP_NO_MEMORY);
        st = fault ? graphss_i_nomem(ctx, 1) : GRAPHSS_OK;
    }
    graphss_i_zip_close(ctx, zip);
    return st;
}

static graphss_status read_again(graphss_ctx *ctx, void *arg)
{
    size_t bytes;
    return read_archive(ctx, &bytes, arg);
}

TEST_CTX(what_is_written_is_read)
{
    archive a;
    size_t bytes = 0;
    archive_make(&a, "round.zip");
    assert_ok(ctx, write_archive(ctx, &a));
    assert_ok(ctx, read_archive(ctx, &bytes, &a));
    assert_int_equal(bytes, LARGE + 4 + MEMBERS * NAME);
    graphss_i_zip *zip = NULL;
    assert_fails(ctx, graphss_i_zip_open(ctx, &zip, a.path, MEMBERS), GRAPHSS_ERR_DATA, "72");
    unlink(a.path);
    free(a.large);
}

TEST(every_allocation_may_fail_while_writing)
{
    archive a;
    archive_make(&a, "starved.zip");
    testing_each_allocation_fails(write_archive, &a);
    unlink(a.path);
    free(a.large);
}

TEST_CTX(every_allocation_may_fail_while_reading)
{
    archive a;
    archive_make(&a, "starving.zip");
    assert_ok(ctx, write_archive(ctx, &a));
    testing_each_allocation_fails(read_again, &a);
    unlink(a.path);
    free(a.large);
}

static const char seeds[] = GRAPHSS_SEEDS "/packed/";

static graphss_status read_seed(
    graphss_ctx *ctx, char **bytes, size_t *n, const char *name, uint64_t max)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s", seeds, name);
    return graphss_i_packed_read(ctx, bytes, n, path, max);
}

TEST_CTX(a_packed_file_is_unpacked_and_a_plain_one_left_alone)
{
    static const struct {
        const char *name, *text;
    } cases[] = {{"one", "a,b\nb,c\nc,a\n"}, {"two", "a,b\nb,c\nc,a\nc,d\n"}};
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
}

TEST_CTX(damage_and_size_are_told)
{
    char *bytes = NULL;
    size_t n = 0;
    assert_fails(ctx, read_seed(ctx, &bytes, &n, "cut", 1000), GRAPHSS_ERR_DATA, "cut short");
    assert_fails(ctx, read_seed(ctx, &bytes, &n, "damaged", 1000), GRAPHSS_ERR_DATA,
        "damaged gzip file");
    assert_fails(
        ctx, read_seed(ctx, &bytes, &n, "large", 1000), GRAPHSS_ERR_LIMIT, "once unpacked");
    assert_fails(ctx, read_seed(ctx, &bytes, &n, "none", 60), GRAPHSS_ERR_NOT_FOUND, "none");
    assert_string_equal(graphss_i_packed_name("-"), "standard input");
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

TEST(each_allocation_may_fail)
{
    char name[] = "two";
    testing_each_allocation_fails(read_and_release, name);
}

int main(void)
{
    return testing_run();
}
