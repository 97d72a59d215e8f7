/* Lines that survive: torn ends, foreign lines, two writers. */
#include "lab/experiment/records.h"
#include "testing.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static json_t *record_of(const char *method, int seed, double found)
{
    json_t *r = json_pack("{s:s, s:s, s:i, s:{s:f}}", "what", "defence", "method", method,
        "seed", seed, "metrics", "victims", found);
    assert_non_null(r);
    return r;
}

/* Otherwise a new option would make all older records run again. */
TEST(an_option_that_came_later_is_said_where_it_is_on)
{
    graphss_train_options opt;
    graphss_train_options_init(&opt, "gcn", GRAPHSS_MODE_DEFAULT, NULL);
    json_t *off = graphss_i_json_options(&opt, graphss_train_options_table(), NULL);
    assert_null(json_object_get(off, "standardise"));
    assert_non_null(json_object_get(off, "row-normalise"));
    opt.standardise = true;
    json_t *on = graphss_i_json_options(&opt, graphss_train_options_table(), NULL);
    assert_true(json_is_true(json_object_get(on, "standardise")));
    json_decref(on);
    json_decref(off);
}

TEST_CTX(lines_come_back_and_the_later_counts)
{
    char path[256];
    graphss_i_records r = {0};
    testing_temporary(path, sizeof path, "records");
    remove(path);
    assert_ok(ctx, graphss_i_records_open(ctx, &r, path));
    json_t *first = record_of("svd", 1, 0.5), *second = record_of("svd", 1, 0.1 + 0.2);
    assert_ok(ctx, graphss_i_records_add(ctx, &r, first));
    assert_ok(ctx, graphss_i_records_add(ctx, &r, second));
    graphss_i_records_close(ctx, &r);

    assert_ok(ctx, graphss_i_records_open(ctx, &r, path));
    assert_int_equal(r.lines, 2);
    assert_int_equal(r.cut, 0);
    const json_t *found = graphss_i_records_find(&r, first);
    assert_true(json_equal(found, second)); /* numbers too, to the last bit */
    json_t *other = record_of("svd", 2, 0.5);
    assert_null(graphss_i_records_find(&r, other));
    json_decref(other);
    json_decref(first);
    json_decref(second);
    graphss_i_records_close(ctx, &r);
    remove(path);
}

TEST_CTX(a_torn_last_line_is_cut_off)
{
    char path[256];
    graphss_i_records r = {0};
    testing_temporary(path, sizeof path, "torn");
    write_file(path, "{\"what\":\"defence\",\"seed\":1}\n{\"what\":\"defence\",\"se");
    assert_ok(ctx, graphss_i_records_open(ctx, &r, path));
    assert_int_equal(r.lines, 1);
    assert_int_equal(r.cut, 21);
    json_t *more = record_of("svd", 3, 1);
    assert_ok(ctx, graphss_i_records_add(ctx, &r, more));
    json_decref(more);
    graphss_i_records_close(ctx, &r);
    assert_ok(ctx, graphss_i_records_open(ctx, &r, path));
    assert_int_equal(r.lines, 2);
    graphss_i_records_close(ctx, &r);
    remove(path);
}

TEST_CTX(a_line_that_is_no_record_is_refused_and_left_alone)
{
    char path[256];
    const char *const bad[] = {"{\"what\":\"defence\"}\nnonsense\n", "{\"what\":\"x\"}\n[1]\n",
        "{\"what\":\"x\"}\n{\"seed\":1}\n", "{\"what\":\"x\"}\n\n"};
    testing_temporary(path, sizeof path, "foreign");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        graphss_i_records r = {0};
        struct stat now;
        write_file(path, bad[i]);
        assert_fails(ctx, graphss_i_records_open(ctx, &r, path), GRAPHSS_ERR_DATA, "line 2");
        assert_int_equal(stat(path, &now), 0);
        assert_int_equal(now.st_size, strlen(bad[i]));
    }
    remove(path);
}

TEST_CTX(one_writer_at_a_time)
{
    char path[256];
    graphss_i_records one = {0}, two = {0};
    testing_temporary(path, sizeof path, "writers");
    remove(path);
    assert_ok(ctx, graphss_i_records_open(ctx, &one, path));
    assert_fails(
        ctx, graphss_i_records_open(ctx, &two, path), GRAPHSS_ERR_LIMIT, "another run");
    graphss_i_records_close(ctx, &one);
    assert_ok(ctx, graphss_i_records_open(ctx, &two, path));
    graphss_i_records_close(ctx, &two);
    remove(path);
}

/* Room for some bytes of a line: write takes those and sets no errno. */
TEST_CTX(a_line_that_does_not_fit_is_not_blamed_on_an_old_error)
{
    char path[256];
    graphss_i_records r = {0};
    struct rlimit before, little;
    struct stat now;
    testing_temporary(path, sizeof path, "full");
    remove(path);
    assert_ok(ctx, graphss_i_records_open(ctx, &r, path));
    json_t *line = record_of("svd", 1, 0.5);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    little = before;
    little.rlim_cur = 5;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    errno = ENOENT;
    const graphss_status st = graphss_i_records_add(ctx, &r, line);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_fails(ctx, st, GRAPHSS_ERR_IO, "disk full");
    assert_int_equal(stat(path, &now), 0);
    assert_int_equal(now.st_size, 0);
    json_decref(line);
    graphss_i_records_close(ctx, &r);
    remove(path);
}

TEST(the_cell_is_told_by_its_identity_alone)
{
    json_t *a = json_loads("{\"what\":\"x\",\"seed\":1,\"value\":5,\"metrics\":1}", 0, NULL);
    json_t *b = json_loads("{\"value\":5,\"seed\":1,\"what\":\"x\",\"metrics\":2}", 0, NULL);
    json_t *c = json_loads("{\"value\":6,\"seed\":1,\"what\":\"x\"}", 0, NULL);
    char *x = graphss_i_record_key(a), *y = graphss_i_record_key(b),
         *z = graphss_i_record_key(c);
    assert_string_equal(x, y);
    assert_string_not_equal(x, z);
    free(x);
    free(y);
    free(z);
    json_decref(a);
    json_decref(b);
    json_decref(c);
}

static graphss_status open_and_close(graphss_ctx *ctx, void *arg)
{
    graphss_i_records r = {0};
    const graphss_status st = graphss_i_records_open(ctx, &r, arg);
    if (!st)
        graphss_i_records_close(ctx, &r);
    return st;
}

TEST(opening_survives_every_failing_allocation)
{
    char path[256];
    testing_temporary(path, sizeof path, "starved");
    write_file(path, "{\"what\":\"defence\",\"seed\":1}\n{\"what");
    testing_each_allocation_fails(open_and_close, path);
    remove(path);
}

int main(void)
{
    return testing_run();
}
