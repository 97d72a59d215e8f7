/* predictor.c - a program in place of a model's own answers: --predictor COMMAND.
 *
 * It is run by the shell as COMMAND IN.npz OUT.npz, reads a snapshot (the layout of convert)
 * from the first file and writes an array `probabilities` [nodes x classes] to the second.
 * What it prints goes to standard error, so that results of ours stay alone. */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"

extern char **environ;

typedef struct program {
    cli *app;
    graphss_ctx *ctx; /* its own, since the two may run at the same time */
    size_t n_classes;
    char *command, *folder; /* names of files with the id of this process */
} program;

static void program_free(void *user)
{
    program *p = user;
    if (!p)
        return;
    if (p->folder)
        (void)rmdir(p->folder);
    free(p->command);
    free(p->folder);
    graphss_ctx_free(p->ctx);
    free(p);
}

/* Its exit code, 128 and more: a signal; -1: it did not start. */
static int run_command(const program *p, char *in, char *out)
{
    posix_spawn_file_actions_t files;
    char *const argument[] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c", p->command,
        (char *)(uintptr_t) "graphss-predictor", in, out, NULL};
    pid_t child;
    int status = -1;
    if (posix_spawn_file_actions_init(&files) != 0)
        return -1;
    const bool ready =
        posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO) == 0;
    const int failed =
        ready ? posix_spawn(&child, "/bin/sh", &files, NULL, argument, environ) : -1;
    posix_spawn_file_actions_destroy(&files);
    if (failed)
        return -1;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static graphss_status read_answer(
    program *p, float *prob, size_t n, const char *out, char *why, size_t size)
{
    graphss_predictions answer = {0};
    graphss_status st = graphss_predictions_read(p->ctx, &answer, out);
    if (st) {
        snprintf(why, size, "%s", graphss_ctx_error(p->ctx));
        return st == GRAPHSS_ERR_NOMEM ? st : GRAPHSS_ERR_DATA;
    }
    if (!answer.prob || answer.n_nodes != n || answer.n_classes != p->n_classes) {
        snprintf(why, size,
            "%s has probabilities of %zu nodes and %zu classes, want %zu and %zu", out,
            answer.prob ? answer.n_nodes : 0, answer.n_classes, n, p->n_classes);
        st = GRAPHSS_ERR_DATA;
    } else {
        memcpy(prob, answer.prob, n * p->n_classes * sizeof *prob);
    }
    graphss_predictions_destroy(p->ctx, &answer);
    return st;
}

static graphss_status ask(void *user, float *prob, const graphss_graph *graph,
    const graphss_features *features, char *why, size_t size)
{
    program *p = user;
    const graphss_dataset snapshot = {
        .graph = *graph, .features = *features, .n_classes = p->n_classes};
    char *in = cli_format("%s/%ld-snapshot.npz", p->folder, (long)getpid());
    char *out = cli_format("%s/%ld-probabilities.npz", p->folder, (long)getpid());
    graphss_status st = graphss_dataset_write(p->ctx, &snapshot, in);
    if (st) {
        snprintf(why, size, "%s", graphss_ctx_error(p->ctx));
    } else {
        const int code = run_command(p, in, out);
        p->app->predictor_calls++;
        if (code == 128 + SIGINT)
            st = GRAPHSS_ERR_CANCELLED;
        else if (code == 0)
            st = read_answer(p, prob, graph->n_nodes, out, why, size);
        else
            st = GRAPHSS_ERR_DATA;
        if (code != 0)
            snprintf(why, size, "'%s' ended with code %d", p->command, code);
    }
    (void)remove(in);
    (void)remove(out);
    free(in);
    free(out);
    return st;
}

graphss_status cli_predictor_open(
    cli *app, graphss_predictor *out, const char *command, size_t n_classes)
{
    const char *tmp = getenv("TMPDIR");
    program *p = cli_alloc(1, sizeof *p);
    *p = (program){.app = app, .n_classes = n_classes};
    p->ctx = graphss_ctx_new(
        &(graphss_ctx_options){.struct_size = sizeof(graphss_ctx_options), .threads = 1});
    p->command = cli_format("%s \"$1\" \"$2\"", command);
    p->folder = cli_format("%s/graphss-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!p->ctx || !mkdtemp(p->folder)) {
        const graphss_status st = cli_fail(app, GRAPHSS_ERR_IO,
            "--predictor: no folder for its files in %s: %s", p->folder, strerror(errno));
        free(p->folder);
        p->folder = NULL;
        program_free(p);
        return st;
    }
    app->predictor = true;
    *out = (graphss_predictor){
        .struct_size = sizeof *out, .probabilities = ask, .release = program_free, .user = p};
    return GRAPHSS_OK;
}

graphss_status cli_predictor_attach(cli *app, graphss_model *model, const char *command)
{
    graphss_predictor p;
    graphss_status st = cli_predictor_open(app, &p, command, graphss_model_classes(model));
    if (st)
        return st;
    st = graphss_model_set_predictor(app->ctx, model, &p);
    if (st)
        p.release(p.user);
    return st;
}
