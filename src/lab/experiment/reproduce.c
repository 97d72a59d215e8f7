/* reproduce.c - finds the missing cells and runs the processes that make them. Only this
 * process writes records. A worker for each job sends its lines through a pipe; cells that a
 * dead worker did not send become records with an error. */
#include "lab/experiment/cell.h"
#include "lab/experiment/records.h"
#include <errno.h>
#include <fcntl.h>
#include <graphss/synth.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIELD(f) offsetof(graphss_reproduce_options, f)
static const graphss_option table[] = {
    {"mode", GRAPHSS_OPTION_STRING, FIELD(mode), 0, 0, NULL, "MODE",
        "paper or honest; without it both, each in tables of its own", 0},
    {"datasets", GRAPHSS_OPTION_STRING, FIELD(datasets), 0, 0, NULL, "A,B",
        "instead of the recipe's", 0},
    {"models", GRAPHSS_OPTION_STRING, FIELD(models), 0, 0, NULL, "A,B",
        "classifiers, instead of the recipe's", 0},
    {"settings", GRAPHSS_OPTION_STRING, FIELD(settings), 0, 0, NULL, "A,B",
        "of seen, new and growing only these", 0},
    {"methods", GRAPHSS_OPTION_STRING, FIELD(methods), 0, 0, NULL, "A,B",
        "of the recipe's methods only these", 0},
    {"seeds", GRAPHSS_OPTION_INT, FIELD(seeds), 0, 1e6, NULL, "N",
        "how many, from --seed on; 0: as the recipe has it", 0},
    {"recipe", GRAPHSS_OPTION_STRING, FIELD(recipe), 0, 0, NULL, "FILE",
        "a recipe of your own", 0},
    {"output", GRAPHSS_OPTION_STRING, FIELD(folder), 0, 0, NULL, "DIR",
        "where records.jsonl is, or will be", 'o'},
    {NULL, 0, 0, 0, 0, NULL, NULL, NULL, 0},
};

const graphss_option *graphss_reproduce_options_table(void)
{
    return table;
}

const char *graphss_reproduce_recipe(size_t i, const char **text, size_t *n)
{
    const char *name, *own_text;
    size_t own_n;
    return graphss_i_recipe_built_in(i, &name, text ? text : &own_text, n ? n : &own_n) ? name
                                                                                        : NULL;
}

/* A dataset that jobs name. */
typedef struct known_data {
    const char *name;
    char hash[65]; /* empty: generated, its name says all */
    double size;   /* about proportional to the time a method takes */
} known_data;

/* Seconds that a method took so far, for the estimate. */
typedef struct pace {
    const char *method, *train;
    double per_size;
    size_t count;
} pace;

typedef struct running {
    pid_t pid;
    int fd;
    graphss_i_job *job;
    double last; /* when it was started, or sent its last line */
    size_t sent; /* records it sent */
    char *text;  /* from malloc: a line without its end so far */
    size_t used, room;
} running;

enum { MOST_WORKERS = 256, MOST_PACES = 128 };

typedef struct scheduler {
    graphss_ctx *ctx;
    const graphss_reproduce_options *opt;
    graphss_reproduce_result *out;
    graphss_i_plan plan;
    graphss_i_records records;
    known_data *data;
    size_t n_data;
    size_t next; /* job to start */
    running work[MOST_WORKERS];
    size_t n_work, workers;
    pace paces[MOST_PACES];
    size_t n_paces;
    double spent, left; /* seconds of work, done and expected */
} scheduler;

static const known_data *data_of(const scheduler *s, const char *name)
{
    for (size_t i = 0; i < s->n_data; i++)
        if (!strcmp(s->data[i].name, name))
            return &s->data[i];
    return NULL;
}

static graphss_status look_at_data(scheduler *s)
{
    const graphss_read_options read = {
        .struct_size = sizeof read, .data_dirs = s->opt->data_dirs};
    graphss_status st = GRAPHSS_OK;
    s->data = graphss_i_calloc(s->ctx, s->plan.n_words + 1, sizeof *s->data);
    if (!s->data)
        return GRAPHSS_ERR_NOMEM;
    for (size_t j = 0; j < s->plan.n_jobs && !st; j++) {
        const char *name = s->plan.job[j].dataset;
        if (data_of(s, name))
            continue;
        known_data *d = &s->data[s->n_data++];
        *d = (known_data){.name = name, .size = 10000};
        if (!strncmp(name, "synth:", 6)) {
            graphss_synth_options synth;
            st = graphss_synth_options_parse(s->ctx, &synth, name + 6);
            d->size = st ? 1 : (double)synth.nodes * (synth.degree + synth.words);
            continue;
        }
        graphss_dataset data = {0};
        st = graphss_dataset_read(s->ctx, &data, name, &read);
        if (!st) {
            memcpy(d->hash, data.hash, sizeof d->hash);
            d->size = (double)graphss_graph_edges(&data.graph) * 2 +
                      (double)graphss_features_stored(&data.features);
        }
        graphss_dataset_destroy(s->ctx, &data);
    }
    return st;
}

/* ---- how long cells take ---- */

static pace *pace_of(scheduler *s, const graphss_i_cell *cell)
{
    const char *method = cell->method ? cell->method : "";
    for (size_t i = 0; i < s->n_paces; i++)
        if (!strcmp(s->paces[i].method, method) && !strcmp(s->paces[i].train, cell->train))
            return &s->paces[i];
    if (s->n_paces == MOST_PACES)
        return NULL;
    s->paces[s->n_paces] = (pace){.method = method, .train = cell->train};
    return &s->paces[s->n_paces++];
}

static void count_seconds(
    scheduler *s, const graphss_i_job *job, const graphss_i_cell *cell, double seconds)
{
    pace *p = pace_of(s, cell);
    if (p) {
        p->per_size += seconds / data_of(s, job->dataset)->size;
        p->count++;
    }
    s->spent += seconds;
}

/* ---- existing records ---- */

/* True if the cell ran into the present time limit. Older records, which lack the mark, show
 * it by their code. */
static bool took_too_long(const json_t *error, int64_t limit)
{
    const json_t *mark = json_object_get(error, "timeout");
    const bool timeout =
        mark ? json_is_true(mark) : json_integer_value(json_object_get(error, "code")) == 4;
    return timeout && limit && json_integer_value(json_object_get(error, "limit")) >= limit;
}

static void count_failure(graphss_reproduce_result *out, const json_t *record)
{
    const json_t *error = json_object_get(record, "error");
    const int code = (int)json_integer_value(json_object_get(error, "code"));
    if (!error)
        return;
    out->failed++;
    if (!out->first_code)
        out->first_code = code > 0 && code < 256 ? code : 70;
}

/* True if the cell was run with the same options on the same data. One that timed out counts
 * too, if the limit is the same. */
static graphss_status find_record(scheduler *s, const graphss_i_job *job, graphss_i_cell *cell)
{
    json_t *options = NULL, *id = graphss_i_cell_identity(job, cell);
    graphss_status st = id ? GRAPHSS_OK : graphss_i_nomem(s->ctx, 0);
    if (!st)
        st = graphss_i_cell_options_json(s->ctx, &options, job, cell);
    if (!st) {
        const json_t *record = graphss_i_records_find(&s->records, id);
        const json_t *repeat = json_object_get(record, "repeat");
        const json_t *error = json_object_get(record, "error");
        const char *hash = json_string_value(json_object_get(repeat, "dataset_sha256"));
        const char *own = data_of(s, job->dataset)->hash;
        cell->done = record && json_equal(json_object_get(repeat, "options"), options);
        if (cell->done && error)
            cell->done = took_too_long(error, job->limit);
        else if (cell->done && *own)
            cell->done = hash && !strcmp(hash, own);
        const json_t *seconds = json_object_get(json_object_get(record, "metrics"), "seconds");
        if (cell->done)
            count_failure(s->out, record);
        if (cell->done && !cell->copied && json_is_number(seconds))
            count_seconds(s, job, cell, json_number_value(seconds));
    }
    json_decref(options);
    json_decref(id);
    return st;
}

static graphss_status find_missing(scheduler *s)
{
    for (size_t j = 0; j < s->plan.n_jobs; j++)
        for (size_t i = 0; i < s->plan.job[j].n_cells; i++) {
            graphss_i_cell *cell = &s->plan.job[j].cell[i];
            const graphss_status st = find_record(s, &s->plan.job[j], cell);
            if (st)
                return st;
            s->out->cells++;
            s->out->before += cell->done;
        }
    return GRAPHSS_OK;
}

/* ---- copies ---- */

/* True if two jobs differ only in their setting. */
static bool same_but_setting(const graphss_i_job *a, const graphss_i_job *b)
{
    return a->recipe == b->recipe && a->point == b->point && a->dataset == b->dataset &&
           a->model == b->model && a->any == b->any && a->seed == b->seed;
}

/* The record of a cell, copied to another setting. Its fields about the classifier are
 * dropped, since that was trained on another past. */
static json_t *copied_record(graphss_ctx *ctx, const json_t *record, const graphss_i_job *job,
    const graphss_i_cell *cell)
{
    static const char *const other[] = {"victims_before", "others_before", "test_before",
        "victims_attacked", "others_attacked", "test_attacked", "changed", "node_auc",
        "prepare_seconds", "train_seconds", "attack_seconds"};
    json_t *copy = json_deep_copy(record), *id = graphss_i_cell_identity(job, cell);
    json_t *options = NULL, *metrics = json_object_get(copy, "metrics");
    bool bad = !copy || !id || graphss_i_cell_options_json(ctx, &options, job, cell);
    for (size_t i = 0; i < sizeof other / sizeof *other && metrics; i++)
        json_object_del(metrics, other[i]);
    bad |= json_object_set(copy, "copied_from", json_object_get(record, "setting")) != 0;
    bad |= json_object_update(copy, id) != 0;
    bad |= json_object_set_new(json_object_get(copy, "repeat"), "options", options) != 0;
    json_decref(id);
    if (bad) {
        json_decref(copy);
        copy = NULL;
    }
    return copy;
}

/* Writes the copies of a cell that has a record. */
static graphss_status write_copies(
    scheduler *s, const graphss_i_job *from, const graphss_i_cell *cell, const json_t *record)
{
    graphss_status st = GRAPHSS_OK;
    for (size_t j = 0; j < s->plan.n_jobs && !st; j++) {
        graphss_i_job *job = &s->plan.job[j];
        for (size_t i = 0; i < job->n_cells && !st && same_but_setting(job, from); i++) {
            graphss_i_cell *to = &job->cell[i];
            if (!to->copied || to->done || to->method != cell->method ||
                to->set != cell->set || to->point != cell->point ||
                strcmp(to->train, cell->train) != 0)
                continue;
            json_t *own = copied_record(s->ctx, record, job, to);
            st = own ? graphss_i_records_add(s->ctx, &s->records, own)
                     : graphss_i_nomem(s->ctx, 0);
            json_decref(own);
            to->done = true;
            s->out->run++;
            count_failure(s->out, record);
        }
    }
    return st;
}

/* Copies that an interrupted run did not write. */
static graphss_status write_missing_copies(scheduler *s)
{
    graphss_status st = GRAPHSS_OK;
    for (size_t j = 0; j < s->plan.n_jobs && !st; j++)
        for (size_t i = 0; i < s->plan.job[j].n_cells && !st; i++) {
            const graphss_i_job *job = &s->plan.job[j];
            const graphss_i_cell *cell = &job->cell[i];
            if (!cell->done || cell->copied)
                continue;
            json_t *id = graphss_i_cell_identity(job, cell);
            const json_t *record = id ? graphss_i_records_find(&s->records, id) : NULL;
            if (record)
                st = write_copies(s, job, cell, record);
            json_decref(id);
        }
    return st;
}

/* ---- the estimate ---- */

static void estimate(scheduler *s)
{
    double mean = 0;
    size_t known = 0;
    for (size_t i = 0; i < s->n_paces; i++)
        if (s->paces[i].count) {
            mean += s->paces[i].per_size / (double)s->paces[i].count;
            known++;
        }
    mean = known ? mean / (double)known : 1e-5;
    s->left = 0;
    for (size_t j = 0; j < s->plan.n_jobs; j++)
        for (size_t i = 0; i < s->plan.job[j].n_cells; i++) {
            const graphss_i_cell *cell = &s->plan.job[j].cell[i];
            if (cell->done || cell->copied)
                continue;
            const pace *p = pace_of(s, cell);
            s->left += data_of(s, s->plan.job[j].dataset)->size *
                       (p && p->count ? p->per_size / (double)p->count : mean);
        }
}

static graphss_status tell(scheduler *s)
{
    char note[160];
    const graphss_reproduce_result *o = s->out;
    snprintf(note, sizeof note, "%zu of %zu cells", o->before + o->run, o->cells);
    if (o->failed)
        snprintf(note, sizeof note, "%zu of %zu cells, %zu failed", o->before + o->run,
            o->cells, o->failed);
    const double done = s->spent, total = s->spent + s->left;
    return graphss_i_progress(
        s->ctx, "reproduce", (size_t)(1000 * done), (size_t)(1000 * total) + 1, note);
}

/* ---- lines ---- */

static graphss_status finish_cell(scheduler *s, running *w, size_t number, json_t *record)
{
    graphss_i_cell *cell = &w->job->cell[number];
    const double now = graphss_i_seconds();
    const json_t *error = json_object_get(record, "error");
    char text[320];
    const graphss_status st = graphss_i_records_add(s->ctx, &s->records, record);
    if (st)
        return st;
    cell->done = true;
    s->out->run++;
    const graphss_status copied = write_copies(s, w->job, cell, record);
    if (copied)
        return copied;
    graphss_i_cell_text(text, sizeof text, w->job, cell);
    if (error) {
        const char *message = json_string_value(json_object_get(error, "message"));
        count_failure(s->out, record);
        if (!s->out->first_error[0])
            snprintf(s->out->first_error, sizeof s->out->first_error, "%.300s: %.200s", text,
                message ? message : "");
        graphss_i_log(s->ctx, GRAPHSS_LOG_WARN, "%s: %s", text, message ? message : "");
    } else {
        const json_t *m = json_object_get(record, "metrics");
        const json_t *victims = json_object_get(m, "victims"),
                     *auc = json_object_get(m, "auc");
        char found[64] = "";
        if (json_is_number(victims))
            snprintf(
                found, sizeof found, "victims %.1f %%, ", 100 * json_number_value(victims));
        else if (json_is_number(auc))
            snprintf(found, sizeof found, "AUC %.3f, ", json_number_value(auc));
        graphss_i_log(s->ctx, GRAPHSS_LOG_INFO, "%zu/%zu %s: %s%.2f s",
            s->out->before + s->out->run, s->out->cells, text, found, now - w->last);
    }
    count_seconds(s, w->job, cell, now - w->last);
    w->last = now;
    estimate(s);
    return GRAPHSS_OK;
}

static graphss_status take_line(scheduler *s, running *w, const char *line, size_t n)
{
    char *rest = NULL;
    const unsigned long number = strtoul(line, &rest, 10);
    json_t *record =
        rest && rest < line + n ? json_loadb(rest, n - (size_t)(rest - line), 0, NULL) : NULL;
    graphss_status st = GRAPHSS_OK;
    if (record && number < w->job->n_cells && !w->job->cell[number].done) {
        w->sent++;
        st = finish_cell(s, w, number, record);
    }
    json_decref(record);
    return st;
}

/* Reads from a worker; *ended: it closed its end. */
static graphss_status take_lines(scheduler *s, running *w, bool *ended)
{
    if (w->room - w->used < 4096) {
        const size_t room = w->room ? 2 * w->room : 65536;
        char *more = realloc(w->text, room);
        if (!more)
            return graphss_i_nomem(s->ctx, room);
        w->text = more;
        w->room = room;
    }
    const ssize_t n = read(w->fd, w->text + w->used, w->room - w->used);
    *ended = n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN);
    if (n <= 0)
        return GRAPHSS_OK;
    w->used += (size_t)n;
    size_t from = 0;
    for (char *end; (end = memchr(w->text + from, '\n', w->used - from)) != NULL;) {
        const graphss_status st =
            take_line(s, w, w->text + from, (size_t)(end - w->text) - from);
        if (st)
            return st;
        from = (size_t)(end - w->text) + 1;
    }
    memmove(w->text, w->text + from, w->used - from);
    w->used -= from;
    return GRAPHSS_OK;
}

/* ---- workers ---- */

static bool pending(const graphss_i_job *job)
{
    for (size_t i = 0; i < job->n_cells; i++)
        if (!job->cell[i].done && !job->cell[i].copied)
            return true;
    return false;
}

static graphss_status start(scheduler *s, graphss_i_job *job)
{
    int pipes[2];
    const pid_t self = getpid();
    job->threads = job->alone ? s->workers : 1;
    if (pipe2(pipes, O_CLOEXEC) != 0)
        return graphss_i_fail(
            s->ctx, GRAPHSS_ERR_IO, "cannot make a pipe: %s", strerror(errno));
    const pid_t pid = fork();
    if (pid == 0) {
        close(s->records.fd);
        close(pipes[0]);
        for (size_t i = 0; i < s->n_work; i++)
            close(s->work[i].fd);
        graphss_i_worker_run(&(graphss_i_worker){job, s->opt->data_dirs, self}, pipes[1]);
    }
    close(pipes[1]);
    if (pid < 0) {
        close(pipes[0]);
        return graphss_i_fail(
            s->ctx, GRAPHSS_ERR_LIMIT, "cannot start a process: %s", strerror(errno));
    }
    s->work[s->n_work++] =
        (running){.pid = pid, .fd = pipes[0], .job = job, .last = graphss_i_seconds()};
    return GRAPHSS_OK;
}

static graphss_status start_some(scheduler *s)
{
    graphss_status st = GRAPHSS_OK;
    while (s->next < s->plan.n_jobs && s->n_work < s->workers && !st) {
        graphss_i_job *job = &s->plan.job[s->next];
        if (s->n_work && (job->alone || s->work[0].job->alone) && pending(job))
            break;
        s->next++;
        if (pending(job))
            st = start(s, job);
    }
    return st;
}

/* message: how it ended; the code of an error. If a host program ignores its children, or
 * waits for all of them, the exit status is unknown. */
static int reap(running *w, char *message, size_t size)
{
    int status = 0;
    pid_t ended;
    do
        ended = waitpid(w->pid, &status, 0);
    while (ended < 0 && errno == EINTR);
    if (ended < 0)
        snprintf(message, size, "ended, and cannot be waited for: %s", strerror(errno));
    else if (WIFSIGNALED(status))
        snprintf(message, size, "ended by signal %d%s", WTERMSIG(status),
            WTERMSIG(status) == SIGKILL ? " (out of memory?)" : "");
    else
        snprintf(message, size, "ended with code %d", WEXITSTATUS(status));
    close(w->fd);
    free(w->text);
    return ended > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? 4 : 70;
}

/* Handles the end of a worker: cells it did not send become errors. */
static graphss_status end_worker(scheduler *s, size_t i)
{
    running w = s->work[i];
    graphss_status st = GRAPHSS_OK;
    char how[128], message[192];
    const int code = reap(&w, how, sizeof how);
    if (w.sent)
        snprintf(message, sizeof message, "after %zu record%s: %s", w.sent,
            w.sent == 1 ? "" : "s", how);
    else
        snprintf(message, sizeof message, "while the scene was made: %s", how);
    s->work[i] = s->work[--s->n_work];
    for (size_t c = 0; c < w.job->n_cells && !st; c++) {
        if (w.job->cell[c].done || w.job->cell[c].copied)
            continue;
        json_t *record =
            graphss_i_error_record(s->ctx, w.job, &w.job->cell[c], code, message, false);
        st = record ? finish_cell(s, &w, c, record) : graphss_i_nomem(s->ctx, 0);
        json_decref(record);
    }
    return st;
}

static graphss_status run_all(scheduler *s)
{
    estimate(s);
    graphss_status st = tell(s);
    if (!st)
        st = start_some(s);
    while (s->n_work && !st) {
        struct pollfd wait[MOST_WORKERS];
        for (size_t i = 0; i < s->n_work; i++)
            wait[i] = (struct pollfd){.fd = s->work[i].fd, .events = POLLIN};
        const size_t n = s->n_work;
        if (poll(wait, (nfds_t)n, 200) < 0 && errno != EINTR)
            st = graphss_i_fail(s->ctx, GRAPHSS_ERR_IO, "cannot wait: %s", strerror(errno));
        for (size_t i = n; i-- > 0 && !st;) {
            bool ended = false;
            if (wait[i].revents)
                st = take_lines(s, &s->work[i], &ended);
            if (!st && ended)
                st = end_worker(s, i);
        }
        if (!st)
            st = tell(s);
        if (!st)
            st = start_some(s);
    }
    for (size_t i = 0; i < s->n_work; i++)
        kill(s->work[i].pid, SIGKILL);
    char how[128];
    while (s->n_work)
        reap(&s->work[--s->n_work], how, sizeof how);
    return st;
}

void graphss_reproduce_options_init(graphss_reproduce_options *opt)
{
    *opt = (graphss_reproduce_options){.struct_size = sizeof *opt};
}

graphss_status graphss_reproduce_run(graphss_ctx *ctx, graphss_reproduce_result *out,
    uint64_t first_seed, const graphss_reproduce_options *opt)
{
    if (GRAPHSS_I_LACKS(ctx, {"options", opt}, {"place for the counts", out}) ||
        GRAPHSS_I_TAKE(ctx, graphss_reproduce_options, NULL, opt))
        return GRAPHSS_ERR_INVALID;
    scheduler *s = NULL;
    char *path = NULL;
    const double began = graphss_i_seconds();
    *out = (graphss_reproduce_result){0};
    if (!opt->folder || (!opt->what && !opt->recipe))
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "want what to reproduce and a folder");
    if (opt->mode && strcmp(opt->mode, "paper") != 0 && strcmp(opt->mode, "honest") != 0 &&
        strcmp(opt->mode, "default") != 0)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_INVALID, "--mode: found '%s', want paper or honest", opt->mode);
    s = graphss_i_calloc(ctx, 1, sizeof *s);
    if (!s)
        return GRAPHSS_ERR_NOMEM;
    s->ctx = ctx;
    s->opt = opt;
    s->out = out;
    s->workers =
        graphss_ctx_threads(ctx) < MOST_WORKERS ? graphss_ctx_threads(ctx) : MOST_WORKERS;
    graphss_status st = graphss_i_plan_make(ctx, &s->plan, first_seed, opt);
    if (!st && s->plan.n_jobs == 0)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "%s: no experiment is left; its recipe does not have these "
            "--models, --settings and --methods together",
            opt->what ? opt->what : opt->recipe);
    if (!st)
        st = look_at_data(s);
    if (!st)
        st = graphss_i_folder_make(ctx, opt->folder);
    if (!st && !(path = graphss_i_format(ctx, "%s/records.jsonl", opt->folder)))
        st = GRAPHSS_ERR_NOMEM;
    if (!st)
        st = graphss_i_records_open(ctx, &s->records, path);
    if (!st) {
        out->cut = s->records.cut;
        st = find_missing(s);
    }
    if (!st)
        st = write_missing_copies(s);
    if (!st)
        st = run_all(s);
    out->seconds = graphss_i_seconds() - began;
    graphss_i_records_close(ctx, &s->records);
    graphss_i_plan_destroy(ctx, &s->plan);
    graphss_release(ctx, s->data);
    graphss_release(ctx, path);
    graphss_release(ctx, s);
    return st;
}
