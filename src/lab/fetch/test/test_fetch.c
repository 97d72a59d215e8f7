#include "lab/fetch/fetch_private.h"
#include "lab/fetch/test/test_loopback.h"
#include "testing.h"
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { N = 200000, CUT = 70001 };

/* A fresh folder, a server, and one item whose content is content[0..N). */
typedef struct world {
    graphss_ctx *ctx;
    loopback server;
    char *content;
    char dir[300], url[64], path[340], part[345], checksum[80];
    graphss_fetch_item item;
    graphss_fetch_options opt;
    graphss_i_fetch_limits limits;
    graphss_fetch_result result;
    size_t cancel_at; /* bytes; 0: never */
    size_t reports;
} world;

static bool on_progress(
    void *user, const char *stage, size_t done, size_t total, const char *note)
{
    world *w = user;
    w->reports += strcmp(stage, "fetch") == 0 && strcmp(note, w->item.file) == 0 &&
                  (total == 0 || done <= total);
    return !w->cancel_at || done < w->cancel_at;
}

static int set_up(void **state)
{
    world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->content = malloc(N);
    assert_non_null(w->content);
    for (size_t i = 0; i < N; i++)
        w->content[i] = (char)((i * 2654435761u) >> 13);
    w->ctx = graphss_ctx_new(&(graphss_ctx_options){.struct_size = sizeof(graphss_ctx_options),
        .threads = 1,
        .progress = on_progress,
        .user = w});
    assert_non_null(w->ctx);
    testing_temporary(w->dir, sizeof w->dir, "fetch");
    snprintf(w->path, sizeof w->path, "%s/thing.npz", w->dir);
    snprintf(w->part, sizeof w->part, "%s.part", w->path);
    snprintf(w->url, sizeof w->url, "http://127.0.0.1:9"); /* set by start() */
    memcpy(w->checksum, "sha256:", 7);
    graphss_i_sha256_text(w->checksum + 7, w->content, N);
    w->item = (graphss_fetch_item){.dataset = "thing",
        .file = "thing.npz",
        .url = "http://127.0.0.1:9/none",
        .licence = "none",
        .source = "a test",
        .checksum = w->checksum};
    w->opt = (graphss_fetch_options){
        .struct_size = sizeof(graphss_fetch_options), .dir = w->dir, .base_url = w->url};
    w->limits = (graphss_i_fetch_limits){.max_bytes = 1 << 20,
        .connect_seconds = 5,
        .stall_seconds = 5,
        .attempts = 1,
        .wait_seconds = 0.01};
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    world *w = *state;
    loopback_stop(&w->server);
    DIR *dir = opendir(w->dir);
    for (struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir)) {
        char path[600];
        snprintf(path, sizeof path, "%s/%s", w->dir, e->d_name);
        unlink(path);
    }
    if (dir)
        closedir(dir);
    rmdir(w->dir);
    graphss_release(w->ctx, w->result.path);
    graphss_ctx_free(w->ctx);
    free(w->content);
    free(w);
    return 0;
}

static void start(world *w, loopback_answer answer)
{
    loopback_start(&w->server, answer, w->content, N);
    snprintf(w->url, sizeof w->url, "http://127.0.0.1:%u/files/", w->server.port);
}

static graphss_status fetch(world *w)
{
    graphss_release(w->ctx, w->result.path);
    w->result = (graphss_fetch_result){0};
    return graphss_i_fetch_items(w->ctx, &w->result, &w->item, 1, &w->opt, &w->limits);
}

static long long size_of(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? (long long)info.st_size : -1;
}

static void write_file(const char *path, const char *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

static void assert_in_place(world *w)
{
    char *bytes = NULL;
    size_t n = 0;
    assert_ok(w->ctx, graphss_i_file_read(w->ctx, &bytes, &n, w->path, 1 << 20));
    assert_int_equal(n, N);
    assert_memory_equal(bytes, w->content, N);
    graphss_release(w->ctx, bytes);
    assert_int_equal(size_of(w->part), -1);
}

static void answer_cut_first(loopback *server, int fd, loopback_request *request)
{
    loopback_send_content(server, fd, request, true, server->n_requests ? SIZE_MAX : CUT);
}

static void answer_cut_first_whole_later(loopback *server, int fd, loopback_request *request)
{
    loopback_send_content(server, fd, request, false, server->n_requests ? SIZE_MAX : CUT);
}

TEST_WITH(a_good_file_is_put_in_place_and_not_asked_for_again, set_up, tear_down)
{
    world *w = *state;
    char slashed[302];
    snprintf(slashed, sizeof slashed, "%s/", w->dir);
    w->opt.dir = slashed;
    start(w, answer_well);
    assert_ok(w->ctx, fetch(w));
    assert_in_place(w);
    assert_string_equal(w->result.path, w->path);
    assert_string_equal(w->result.sha256, w->checksum + 7);
    assert_int_equal(w->result.bytes, N);
    assert_int_equal(w->result.files, 1);
    assert_int_equal(w->result.fetched, 1);
    assert_true(w->reports > 1);
    assert_ok(w->ctx, fetch(w));
    assert_int_equal(w->result.fetched, 0);
    assert_string_equal(w->result.sha256, w->checksum + 7);
    loopback_stop(&w->server);
    assert_int_equal(w->server.n_requests, 1);
    assert_string_equal(w->server.requests[0].path, "/files/thing.npz");
    assert_int_equal(w->server.requests[0].from, -1);
}

TEST_WITH(the_git_blob_id_is_as_good, set_up, tear_down)
{
    world *w = *state;
    graphss_i_digests d = {0};
    char checksum[60];
    start(w, answer_well);
    assert_ok(w->ctx, fetch(w));
    assert_ok(w->ctx, graphss_i_file_digests(w->ctx, &d, w->path));
    snprintf(checksum, sizeof checksum, "git:%s", d.git);
    w->item.checksum = checksum;
    w->opt.force = true;
    assert_ok(w->ctx, fetch(w));
    assert_int_equal(w->result.fetched, 1);
    assert_string_equal(w->result.sha256, w->checksum + 7);
    checksum[4] = checksum[4] == '0' ? '1' : '0';
    assert_fails(w->ctx, fetch(w), GRAPHSS_ERR_CHECKSUM, d.git);
}

TEST_WITH(a_wrong_checksum_removes_the_download, set_up, tear_down)
{
    world *w = *state;
    w->checksum[7] = w->checksum[7] == '0' ? '1' : '0';
    start(w, answer_well);
    assert_fails(w->ctx, fetch(w), GRAPHSS_ERR_CHECKSUM, w->checksum);
    assert_null(w->result.path);
    assert_int_equal(size_of(w->path), -1);
    assert_int_equal(size_of(w->part), -1);
}

TEST_WITH(a_failed_download_leaves_the_old_file_alone, set_up, tear_down)
{
    world *w = *state;
    start(w, answer_well);
    assert_ok(w->ctx, fetch(w));
    loopback_stop(&w->server);
    start(w, answer_404);
    w->opt.force = true;
    assert_fails(w->ctx, fetch(w), GRAPHSS_ERR_NETWORK, "404");
    assert_in_place(w);
}

TEST_WITH(a_damaged_file_is_replaced, set_up, tear_down)
{
    world *w = *state;
    start(w, answer_well);
    assert_ok(w->ctx, fetch(w));
    write_file(w->path, "damaged", 7);
    assert_ok(w->ctx, fetch(w));
    assert_int_equal(w->result.fetched, 1);
    assert_in_place(w);
}

TEST_WITH(a_cut_connection_is_resumed_by_the_next_call, set_up, tear_down)
{
    world *w = *state;
    start(w, answer_cut_first);
    assert_fails(w->ctx, fetch(w), GRAPHSS_ERR_NETWORK, "thing.npz");
    assert_int_equal(size_of(w->part), CUT);
    assert_int_equal(size_of(w->path), -1);
    assert_ok(w->ctx, fetch(w));
    assert_in_place(w);
    loopback_stop(&w->server);
    assert_int_equal(w->server.n_requests, 2);
    assert_int_equal(w->server.requests[1].from, CUT);
    assert_int_equal(w->server.requests[1].body, N - CUT);
}

TEST_WITH(a_cut_connection_is_resumed_by_the_same_call, set_up, tear_down)
{
    world *w = *state;
    w->limits.attempts = 2;
    start(w, answer_cut_first);
    assert_ok(w->ctx, fetch(w));
    assert_in_place(w);
    loopback_stop(&w->server);
    assert_int_equal(w->server.n_requests, 2);
    assert_int_equal(w->server.requests[1].from, CUT);
}

TEST_WITH(a_server_without_ranges_sends_all_again, set_up, tear_down)
{
    world *w = *state;
    w->limits.attempts = 2;
    start(w, answer_cut_first_whole_later);
    assert_ok(w->ctx, fetch(w));
    assert_in_place(w);
    loopback_stop(&w->server);
    assert_int_equal(w->server.requests[1].from, CUT);
    assert_int_equal(w->server.requests[1].body, N);
}

TEST_WITH(a_part_of_another_file_is_thrown_away, set_up, tear_down)
{
    world *w = *state;
    start(w, answer_well);
    assert_ok(w->ctx, fetch(w)); /* makes the folder */
    unlink(w->path);
    write_file(w->part, "from another version", 20);
    assert_ok(w->ctx, fetch(w));
    assert_in_place(w);
    loopback_stop(&w->server);
    assert_int_equal(w->server.requests[1].from, 20);
    assert_int_equal(w->server.requests[2].from, -1);
}

TEST_WITH(a_part_longer_than_the_file_starts_over, set_up, tear_down)
{
    world *w = *state;
    char *longer = calloc(N + 5, 1);
    assert_non_null(longer);
    start(w, answer_well);
    assert_ok(w->ctx, fetch(w));
    unlink(w->path);
    write_file(w->part, longer, N + 5);
    free(longer);
    assert_ok(w->ctx, fetch(w));
    assert_in_place(w);
    loopback_stop(&w->server);
    assert_int_equal(w->server.requests[1].from, N + 5); /* answered 416 */
    assert_int_equal(w->server.requests[2].from, -1);
}

TEST_WITH(a_whole_part_needs_no_network, set_up, tear_down)
{
    world *w = *state;
    assert_int_equal(mkdir(w->dir, 0777), 0);
    write_file(w->part, w->content, N);
    w->opt.base_url = NULL; /* the item's own URL, where no server listens */
    assert_ok(w->ctx, fetch(w));
    assert_in_place(w);
}

TEST_WITH(two_runs_do_not_mix, set_up, tear_down)
{
    world *w = *state;
    start(w, answer_well);
    assert_int_equal(mkdir(w->dir, 0777), 0);
    const int fd = open(w->part, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    assert_true(fd >= 0);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_fails(w->ctx, fetch(w), GRAPHSS_ERR_IO, "another run");
    assert_int_equal(size_of(w->part), 0);
    close(fd);
    assert_ok(w->ctx, fetch(w));
    assert_in_place(w);
}

TEST_WITH(404_is_reported_and_not_retried, set_up, tear_down)
{
    world *w = *state;
    w->limits.attempts = 3;
    start(w, answer_404);
    assert_fails(w->ctx, fetch(w), GRAPHSS_ERR_NETWORK, "404");
    assert_int_equal(size_of(w->path), -1);
    assert_int_equal(size_of(w->part), -1);
    loopback_stop(&w->server);
    assert_int_equal(w->server.n_requests, 1);
}

TEST_WITH(a_busy_server_is_tried_again, set_up, tear_down)
{
    world *w = *state;
    w->limits.attempts = 2;
    start(w, answer_503_first);
    assert_ok(w->ctx, fetch(w));
    assert_in_place(w);
}

TEST_WITH(nobody_listening_is_a_network_error, set_up, tear_down)
{
    world *w = *state;
    start(w, answer_well);
    loopback_stop(&w->server);
    w->limits.attempts = 2;
    assert_fails(w->ctx, fetch(w), GRAPHSS_ERR_NETWORK, w->url);
    assert_int_equal(size_of(w->part), -1);
}

TEST_WITH(a_redirect_is_followed, set_up, tear_down)
{
    world *w = *state;
    start(w, answer_elsewhere);
    assert_ok(w->ctx, fetch(w));
    assert_in_place(w);
    loopback_stop(&w->server);
    assert_string_equal(w->server.requests[1].path, "/moved/thing.npz");
}

TEST_WITH(redirects_end_somewhere, set_up, tear_down)
{
    world *w = *state;
    start(w, answer_in_circles);
    assert_fails(w->ctx, fetch(w), GRAPHSS_ERR_NETWORK, "redirect");
    assert_int_equal(size_of(w->path), -1);
    loopback_stop(&w->server);
    assert_int_equal(w->server.n_requests, 6);
}

TEST_WITH(a_redirect_to_a_local_file_is_refused, set_up, tear_down)
{
    world *w = *state;
    start(w, answer_to_file_scheme);
    assert_fails(w->ctx, fetch(w), GRAPHSS_ERR_NETWORK, "file");
    assert_int_equal(size_of(w->part), -1);
}

TEST_WITH(offline_takes_what_is_there, set_up, tear_down)
{
    world *w = *state;
    start(w, answer_well);
    assert_ok(w->ctx, fetch(w));
    loopback_stop(&w->server);
    w->opt.offline = true;
    assert_ok(w->ctx, fetch(w));
    assert_int_equal(w->result.fetched, 0);
    assert_string_equal(w->result.path, w->path);
}

TEST_WITH(offline_says_what_is_missing_or_damaged, set_up, tear_down)
{
    world *w = *state;
    w->opt.offline = true;
    assert_fails(w->ctx, fetch(w), GRAPHSS_ERR_NETWORK, w->path);
    assert_int_equal(size_of(w->dir), -1); /* and no folder is created */
    assert_int_equal(mkdir(w->dir, 0777), 0);
    write_file(w->path, "damaged", 7);
    assert_fails(w->ctx, fetch(w), GRAPHSS_ERR_CHECKSUM, w->checksum);
    assert_int_equal(size_of(w->path), 7);
}

TEST_WITH(cancelling_keeps_the_part, set_up, tear_down)
{
    world *w = *state;
    start(w, answer_half_and_wait);
    w->cancel_at = N / 2;
    assert_fails(w->ctx, fetch(w), GRAPHSS_ERR_CANCELLED, "fetch");
    assert_int_equal(size_of(w->part), N / 2);
    assert_int_equal(size_of(w->path), -1);
    loopback_stop(&w->server);
    start(w, answer_well);
    w->cancel_at = 0;
    assert_ok(w->ctx, fetch(w));
    assert_in_place(w);
    loopback_stop(&w->server);
    assert_int_equal(w->server.requests[0].from, N / 2);
}

TEST_WITH(a_file_beyond_the_cap_is_refused, set_up, tear_down)
{
    world *w = *state;
    start(w, answer_too_long_a_length);
    assert_fails(w->ctx, fetch(w), GRAPHSS_ERR_LIMIT, "1048576");
    loopback_stop(&w->server);
    start(w, answer_without_end);
    assert_fails(w->ctx, fetch(w), GRAPHSS_ERR_LIMIT, "1048576");
    assert_int_equal(size_of(w->path), -1);
    assert_int_equal(size_of(w->part), -1);
}

TEST_WITH(a_write_that_fails_leaves_nothing_in_place, set_up, tear_down)
{
    world *w = *state;
    struct rlimit before, small;
    start(w, answer_well);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 50000; /* stands in for a full disk */
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const graphss_status st = fetch(w);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    assert_int_equal(st, GRAPHSS_ERR_IO);
    assert_non_null(strstr(graphss_ctx_error(w->ctx), "cannot write"));
    assert_int_equal(size_of(w->path), -1);
    assert_ok(w->ctx, fetch(w));
    assert_in_place(w);
}

TEST_WITH(missing_folders_are_made, set_up, tear_down)
{
    world *w = *state;
    char inner[310];
    snprintf(inner, sizeof inner, "%s/a//b", w->dir);
    start(w, answer_well);
    w->opt.dir = inner;
    assert_ok(w->ctx, fetch(w));
    assert_int_equal(size_of(w->result.path), N);
    unlink(w->result.path);
    assert_int_equal(rmdir(inner), 0);
    *strrchr(inner, '/') = '\0';
    assert_int_equal(rmdir(inner), 0);
}

TEST_WITH(a_folder_that_cannot_be_made_is_an_io_error, set_up, tear_down)
{
    world *w = *state;
    w->opt.dir = "/dev/null/data";
    assert_fails(w->ctx, fetch(w), GRAPHSS_ERR_IO, "/dev/null");
}

TEST_WITH(bad_arguments_are_refused, set_up, tear_down)
{
    world *w = *state;
    graphss_fetch_result *r = &w->result;
    assert_fails(
        w->ctx, graphss_fetch_run(w->ctx, r, "cora", NULL), GRAPHSS_ERR_INVALID, "folder");
    assert_fails(
        w->ctx, graphss_fetch_run(w->ctx, r, NULL, &w->opt), GRAPHSS_ERR_INVALID, "dataset");
    w->opt.base_url = "file:///etc";
    assert_fails(w->ctx, fetch(w), GRAPHSS_ERR_INVALID, "file:///etc");
    w->opt.base_url = NULL;
    assert_fails(w->ctx, graphss_fetch_run(w->ctx, r, "karate", &w->opt),
        GRAPHSS_ERR_NOT_FOUND, "cora, citeseer, pubmed, amazon_photo, coauthor_cs");
    w->opt.offline = w->opt.force = true;
    assert_fails(w->ctx, fetch(w), GRAPHSS_ERR_INVALID, "force");
    w->opt.offline = w->opt.force = false;
    w->item.file = "../thing";
    assert_fails(w->ctx, fetch(w), GRAPHSS_ERR_INVALID, "../thing");
    w->item.file = "thing.npz";
    w->item.checksum = "md5:0";
    assert_fails(w->ctx, fetch(w), GRAPHSS_ERR_INVALID, "sha256");
}

TEST_WITH(several_files_give_a_prefix_and_one_digest, set_up, tear_down)
{
    world *w = *state;
    char listing[400], wanted[65];
    start(w, answer_well);
    graphss_fetch_item two[2] = {w->item, w->item};
    two[1].file = "other";
    assert_ok(w->ctx, graphss_i_fetch_items(w->ctx, &w->result, two, 2, &w->opt, &w->limits));
    snprintf(listing, sizeof listing, "%s  thing.npz\n%s  other\n", w->checksum + 7,
        w->checksum + 7);
    graphss_i_sha256_text(wanted, listing, strlen(listing));
    assert_string_equal(w->result.sha256, wanted);
    assert_int_equal(w->result.bytes, 2 * N);
    assert_int_equal(w->result.files, 2);
    assert_int_equal(w->result.fetched, 2);
    snprintf(listing, sizeof listing, "%s/ind.thing", w->dir);
    assert_string_equal(w->result.path, listing);
}

static graphss_status fetch_afresh(graphss_ctx *ctx, void *arg)
{
    world *w = arg;
    graphss_fetch_result result = {0};
    unlink(w->path);
    unlink(w->part);
    const graphss_status st =
        graphss_i_fetch_items(ctx, &result, &w->item, 1, &w->opt, &w->limits);
    graphss_release(ctx, result.path);
    return st;
}

TEST_WITH(each_allocation_may_fail, set_up, tear_down)
{
    world *w = *state;
    start(w, answer_well);
    testing_each_allocation_fails(fetch_afresh, w);
    assert_in_place(w);
}

TEST_WITH(the_manifest_is_sound, set_up, tear_down)
{
    (void)state;
    static const struct {
        const char *dataset;
        size_t files;
    } wanted[] = {
        {"cora", 8}, {"citeseer", 8}, {"pubmed", 8}, {"amazon_photo", 1}, {"coauthor_cs", 1}};
    size_t i = 0;
    for (size_t d = 0; d < sizeof wanted / sizeof *wanted; d++)
        for (size_t k = 0; k < wanted[d].files; k++, i++) {
            const graphss_fetch_item *item = graphss_fetch_item_at(i);
            assert_non_null(item);
            assert_string_equal(item->dataset, wanted[d].dataset);
            assert_int_equal(strncmp(item->url, "https://", 8), 0);
            assert_string_equal(strrchr(item->url, '/') + 1, item->file);
            assert_true(*item->licence && *item->source);
            const char *hex = strchr(item->checksum, ':') + 1;
            const bool git = strncmp(item->checksum, "git:", 4) == 0;
            assert_true(git || strncmp(item->checksum, "sha256:", 7) == 0);
            assert_int_equal(strlen(hex), git ? 40 : 64);
            assert_int_equal(strspn(hex, "0123456789abcdef"), strlen(hex));
            for (size_t j = 0; j < i; j++)
                assert_string_not_equal(graphss_fetch_item_at(j)->file, item->file);
        }
    assert_null(graphss_fetch_item_at(i));
    assert_null(graphss_fetch_item_at(SIZE_MAX));
}

TEST_WITH(cora_comes_from_a_mirror, set_up, tear_down)
{
    world *w = *state;
    char folder[600], wanted[400];
    testing_data(folder, sizeof folder, "planetoid/ind.cora.graph");
    *strrchr(folder, '/') = '\0';
    loopback_start(&w->server, answer_from_folder, folder, 0);
    snprintf(w->url, sizeof w->url, "http://127.0.0.1:%u/files", w->server.port);
    assert_ok(w->ctx, graphss_fetch_run(w->ctx, &w->result, "cora", &w->opt));
    snprintf(wanted, sizeof wanted, "%s/ind.cora", w->dir);
    assert_string_equal(w->result.path, wanted);
    assert_int_equal(w->result.files, 8);
    assert_int_equal(w->result.fetched, 8);
    assert_int_equal(w->result.bytes, 572444);
}

TEST_CTX(known_digests_come_out)
{
    /* sha256sum and git hash-object of these contents */
    static const struct {
        const char *text, *sha256, *git;
    } known[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"},
        {"hello\n", "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03",
            "ce013625030ba8dba906f756967f9e9ca394464a"},
    };
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
}

TEST_CTX(a_file_of_many_blocks_agrees_with_the_bytes_in_memory)
{
    enum { MANY = 100003 };
    char path[300], wanted[65];
    char *bytes = malloc(MANY);
    assert_non_null(bytes);
    for (size_t i = 0; i < MANY; i++)
        bytes[i] = (char)(i * i >> 3);
    testing_temporary(path, sizeof path, "blocks");
    write_file(path, bytes, MANY);
    graphss_i_digests d = {0};
    assert_ok(ctx, graphss_i_file_digests(ctx, &d, path));
    graphss_i_sha256_text(wanted, bytes, MANY);
    assert_string_equal(d.sha256, wanted);
    assert_int_equal(d.bytes, MANY);
    unlink(path);
    free(bytes);
}

TEST(a_digest_matches_only_its_own_kind)
{
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

TEST_CTX(what_is_no_plain_file_is_refused)
{
    graphss_i_digests d = {.bytes = 7};
    char path[300];
    testing_temporary(path, sizeof path, "no-file");
    assert_fails(ctx, graphss_i_file_digests(ctx, &d, path), GRAPHSS_ERR_NOT_FOUND, path);
    assert_fails(ctx, graphss_i_file_digests(ctx, &d, "/"), GRAPHSS_ERR_DATA, "plain file");
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_fails(ctx, graphss_i_file_digests(ctx, &d, path), GRAPHSS_ERR_DATA, "plain file");
    assert_int_equal(d.bytes, 7);
    unlink(path);
}

int main(void)
{
    setenv("no_proxy", "*", 1); /* the server is on this machine */
    return testing_run();
}
