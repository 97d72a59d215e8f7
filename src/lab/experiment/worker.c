/* worker.c - see cell.h. Each cell has its own process, so that its processor time and peak
 * memory can be measured, and a crash affects only this cell. */
#include "lab/experiment/cell.h"

#include "commit.h"
#include "lab/experiment/records.h"
#include "models/model_private.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- how to repeat it ---- */

static json_t *time_text(void)
{
    char text[32];
    struct tm parts;
    const time_t now = time(NULL);
    gmtime_r(&now, &parts);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return json_string(text);
}

static json_t *machine(graphss_ctx *ctx)
{
    char line[256], cpu[128] = "";
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file && !cpu[0] && fgets(line, sizeof line, file))
        if (!strncmp(line, "model name", 10) && strchr(line, ':'))
            snprintf(cpu, sizeof cpu, "%.*s", (int)strcspn(strchr(line, ':') + 1, "\n"),
                strchr(line, ':') + 1);
    if (file)
        fclose(file);
    const char *name = cpu[0] == ' ' ? cpu + 1 : cpu;
    json_t *m = json_object();
    int bad = json_object_set_new(m, "cpu", graphss_i_json_text(name));
    bad |= json_object_set_new(m, "cores", json_integer(sysconf(_SC_NPROCESSORS_ONLN)));
    bad |=
        json_object_set_new(m, "memory", json_integer((json_int_t)graphss_i_machine_memory()));
    bad |=
        json_object_set_new(m, "instructions", json_string(graphss_ctx_instruction_set(ctx)));
    if (bad) {
        json_decref(m);
        m = NULL;
    }
    return m;
}

json_t *graphss_i_repeat(
    graphss_ctx *ctx, const graphss_i_job *job, const graphss_i_cell *cell, const char *hash)
{
    json_t *options = NULL, *r = json_object();
    int bad = graphss_i_cell_options_json(ctx, &options, job, cell) != GRAPHSS_OK;
    bad |= json_object_set_new(r, "version", json_string(graphss_version()));
    bad |= json_object_set_new(r, "commit", json_string(GRAPHSS_COMMIT));
    bad |= json_object_set_new(r, "recipe", graphss_i_json_text(job->recipe->name));
    if (hash && *hash)
        bad |= json_object_set_new(r, "dataset_sha256", json_string(hash));
    bad |= json_object_set_new(r, "options", options);
    bad |= json_object_set_new(r, "threads", json_integer((json_int_t)job->threads));
    bad |= json_object_set_new(r, "machine", machine(ctx));
    bad |= json_object_set_new(r, "started", time_text());
    if (bad) {
        json_decref(r);
        r = NULL;
    }
    return r;
}

/* States explicitly whether it timed out: the code alone could also mean lack of memory. */
static int set_error(
    json_t *record, const graphss_i_job *job, int code, const char *message, bool timeout)
{
    json_t *error = json_object();
    int bad = json_object_set_new(error, "code", json_integer(code));
    bad |= json_object_set_new(error, "message", graphss_i_json_text(message));
    bad |= json_object_set_new(error, "limit", json_integer(job->limit));
    bad |= json_object_set_new(error, "timeout", json_boolean(timeout));
    return bad | json_object_set_new(record, "error", error);
}

json_t *graphss_i_error_record(graphss_ctx *ctx, const graphss_i_job *job,
    const graphss_i_cell *cell, int code, const char *message, bool timeout)
{
    json_t *record = graphss_i_cell_identity(job, cell);
    int bad = !record;
    if (!bad) {
        bad |= set_error(record, job, code, message, timeout);
        bad |= json_object_set_new(record, "repeat", graphss_i_repeat(ctx, job, cell, NULL));
    }
    if (bad) {
        json_decref(record);
        record = NULL;
    }
    return record;
}

/* ---- processes ---- */

/* Ends a child at once, without the exit handlers of the parent. */
#if defined GRAPHSS_COVERAGE
void __gcov_dump(void);
#endif
_Noreturn static void leave(int code)
{
#if defined GRAPHSS_COVERAGE
    __gcov_dump();
#endif
    _exit(code);
}

/* Makes the process die with its parent, leave Ctrl-C to it, wait for its own children
 * whatever the host program does, and be the first victim of the OOM killer. */
static void be_child(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        leave(70);
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
    const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        if (write(fd, "500", 3) != 3)
            errno = 0; /* then it is as likely to go as any */
        close(fd);
    }
}

static bool write_all(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        const ssize_t some = write(fd, bytes, n);
        if (some < 0 && errno == EINTR)
            continue;
        if (some <= 0)
            return false;
        bytes += some;
        n -= (size_t)some;
    }
    return true;
}

/* In a process of its own, with a context of its own: threads do not survive a fork. */
static void run_cell(const graphss_i_job_state *state, const graphss_i_job *job,
    const graphss_i_cell *cell, int out)
{
    graphss_ctx *ctx = graphss_ctx_new(&(graphss_ctx_options){
        .struct_size = sizeof(graphss_ctx_options), .threads = job->threads});
    if (!ctx)
        leave(4);
    json_t *record = graphss_i_cell_identity(job, cell);
    json_t *repeat = graphss_i_repeat(ctx, job, cell, state->data.hash);
    if (!record || !repeat)
        leave(4);
    const graphss_status st = graphss_i_cell_run(ctx, record, state, job, cell);
    if (st && set_error(record, job, graphss_status_exit_code(st), graphss_ctx_error(ctx),
                  false) != 0)
        leave(4);
    if (json_object_set_new(repeat, "finished", time_text()) != 0 ||
        json_object_set_new(record, "repeat", repeat) != 0)
        leave(4);
    char *text = json_dumps(record, JSON_COMPACT);
    leave(text && write_all(out, text, strlen(text)) ? 0 : 4);
}

/* All that comes until the writer closes; false when the time is up. *text is freed by free.
 */
static bool collect(int fd, char **text, size_t *n, int64_t limit)
{
    const double began = graphss_i_seconds();
    size_t room = 0;
    for (;;) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        const int ready = poll(&wait, 1, 500);
        if (limit && graphss_i_seconds() - began > (double)limit)
            return false;
        if (ready <= 0)
            continue;
        if (room - *n < 4096) {
            room = room ? 2 * room : 65536;
            char *more = realloc(*text, room);
            if (!more)
                return true;
            *text = more;
        }
        const ssize_t some = read(fd, *text + *n, room - *n);
        if (some < 0 && errno == EINTR)
            continue;
        if (some <= 0)
            return true;
        *n += (size_t)some;
    }
}

static double cpu_seconds(const struct rusage *use)
{
    return (double)(use->ru_utime.tv_sec + use->ru_stime.tv_sec) +
           1e-6 * (double)(use->ru_utime.tv_usec + use->ru_stime.tv_usec);
}

static json_t *cell_record(graphss_ctx *ctx, const graphss_i_job_state *state,
    const graphss_i_job *job, const graphss_i_cell *cell)
{
    int pipes[2], status = 0;
    char *text = NULL, message[160];
    size_t n = 0;
    struct rusage use = {0};
    const pid_t self = getpid();
    if (pipe2(pipes, O_CLOEXEC) != 0)
        return graphss_i_error_record(ctx, job, cell, 4, strerror(errno), false);
    const pid_t child = fork();
    if (child == 0) {
        be_child(self);
        close(pipes[0]);
        run_cell(state, job, cell, pipes[1]);
    }
    close(pipes[1]);
    if (child < 0) {
        close(pipes[0]);
        return graphss_i_error_record(ctx, job, cell, 4, strerror(errno), false);
    }
    const bool in_time = collect(pipes[0], &text, &n, job->limit);
    close(pipes[0]);
    if (!in_time)
        kill(child, SIGKILL);
    pid_t ended;
    do
        ended = wait4(child, &status, 0, &use);
    while (ended < 0 && errno == EINTR);
    json_t *record = NULL;
    if (ended < 0)
        snprintf(message, sizeof message, "cannot be waited for: %s", strerror(errno));
    else if (!in_time)
        snprintf(message, sizeof message, "took longer than %lld s", (long long)job->limit);
    else if (WIFSIGNALED(status))
        snprintf(message, sizeof message, "ended by signal %d%s", WTERMSIG(status),
            WTERMSIG(status) == SIGKILL ? " (out of memory?)" : "");
    else if (WEXITSTATUS(status) != 0)
        snprintf(message, sizeof message, "ended with code %d", WEXITSTATUS(status));
    else {
        snprintf(message, sizeof message, "gave no record");
        record = json_loadb(text ? text : "", n, 0, NULL);
    }
    free(text);
    if (!record) {
        const bool limit =
            !in_time || (ended > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        return graphss_i_error_record(ctx, job, cell, limit ? 4 : 70, message, !in_time);
    }
    json_t *metrics = json_object_get(record, "metrics");
    if (metrics) {
        json_object_set_new(metrics, "cpu_seconds", json_real(cpu_seconds(&use)));
        json_object_set_new(
            metrics, "peak_memory", json_integer((json_int_t)use.ru_maxrss * 1024));
    }
    return record;
}

static void deliver(int out, size_t number, json_t *record)
{
    char *text = record ? json_dumps(record, JSON_COMPACT) : NULL;
    char head[32];
    const int n = snprintf(head, sizeof head, "%zu ", number);
    if (!text)
        return; /* the reader notices the missing record */
    const size_t length = strlen(text);
    text[length] = '\n';
    if (!write_all(out, head, (size_t)n) || !write_all(out, text, length + 1))
        leave(70);
    free(text);
    json_decref(record);
}

/* ---- from one set of victims to the next ---- */

/* Each cell runs in its own process; what one leaves to the next set of victims is returned
 * through shared memory. */
static graphss_status share_state(
    graphss_ctx *ctx, graphss_i_job_state *state, const graphss_i_job *job)
{
    bool wanted = false;
    for (size_t i = 0; i < job->n_cells; i++)
        wanted |= job->cell[i].set > 1 && graphss_i_cell_carries(job, &job->cell[i]);
    const size_t size = wanted && state->protocol.model
                            ? graphss_i_model_state_size(state->protocol.model)
                            : 0;
    if (!size)
        return GRAPHSS_OK;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return graphss_i_nomem(ctx, size);
    state->left = memory;
    return GRAPHSS_OK;
}

static graphss_status carry_over(graphss_ctx *ctx, graphss_i_job_state *state)
{
    if (!state->left || !state->left->filled)
        return GRAPHSS_OK;
    graphss_model_free(ctx, state->carried);
    state->carried = NULL;
    state->left->filled = false;
    return graphss_i_model_state_take(
        ctx, &state->carried, state->protocol.model, state->left);
}

/* A finished cell runs again if a later one needs what it leaves. */
static bool needed(const graphss_i_job *job, size_t i)
{
    const graphss_i_cell *cell = &job->cell[i];
    if (!cell->done && !cell->copied)
        return true;
    for (size_t j = i + 1; j < job->n_cells && graphss_i_cell_carries(job, cell); j++)
        if (job->cell[j].method == cell->method && !job->cell[j].done)
            return true;
    return false;
}

void graphss_i_worker_run(const graphss_i_worker *worker, int out)
{
    const graphss_i_job *job = worker->job;
    graphss_i_job_state state = {0};
    be_child(worker->parent);
    graphss_ctx *ctx = graphss_ctx_new(
        &(graphss_ctx_options){.struct_size = sizeof(graphss_ctx_options), .threads = 1});
    if (!ctx)
        leave(4);
    graphss_status st = graphss_i_job_state_make(ctx, &state, job, worker->data_dirs);
    if (!st)
        st = share_state(ctx, &state, job);
    bool broken = false; /* a cell that later ones depend on failed */
    for (size_t i = 0; i < job->n_cells; i++) {
        const graphss_i_cell *cell = &job->cell[i];
        const bool carries = graphss_i_cell_carries(job, cell);
        char message[1024];
        if (!needed(job, i))
            continue;
        if (!st)
            st = graphss_i_job_state_set(ctx, &state, job, cell->set);
        snprintf(message, sizeof message, "%s",
            st ? graphss_ctx_error(ctx) : "the set of victims before it was not finished");
        json_t *record = st || (broken && carries)
                             ? graphss_i_error_record(ctx, job, cell,
                                   st ? graphss_status_exit_code(st) : 70, message, false)
                             : cell_record(ctx, &state, job, cell);
        broken |= carries && (!record || json_object_get(record, "error"));
        deliver(out, i, record);
        if (!st)
            st = carry_over(ctx, &state);
    }
    leave(0);
}
