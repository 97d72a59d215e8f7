/* main.c - the table of commands, the life of a run, and Ctrl-C.
 *
 * A new command is a file cmd_NAME.c and a line in the table below. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli.h"

static const cli_command *const commands[] = {
    &cli_demo,
    &cli_info,
    &cli_fetch,
    &cli_convert,
    &cli_split,
    &cli_train,
    &cli_import,
    &cli_export,
    &cli_predict,
    &cli_evaluate,
    &cli_attack,
    &cli_apply_command,
    &cli_snapshots,
    &cli_alert,
    &cli_recover,
    &cli_events,
    &cli_extract,
    &cli_watch,
    &cli_serve,
    &cli_alerts,
    &cli_audit,
    &cli_reproduce,
    &cli_report,
    &cli_shard,
    &cli_plan,
    &cli_version,
    &cli_help_command,
};

const cli_command *cli_command_at(size_t i)
{
    return i < sizeof commands / sizeof *commands ? commands[i] : NULL;
}

const cli_command *cli_command_find(const char *name)
{
    for (size_t i = 0; cli_command_at(i); i++)
        if (strcmp(cli_command_at(i)->name, name) == 0)
            return cli_command_at(i);
    return NULL;
}

static const char *const missing_names[] = {"error", "mean", "zero", NULL};

#define GLOBAL(field) offsetof(cli_globals, field)
static const graphss_option global_rows[] = {
    {"seed", GRAPHSS_OPTION_INT, GLOBAL(seed), 0, 9007199254740991.0, NULL, "N",
        "all that is drawn at random follows from it", 0},
    {"threads", GRAPHSS_OPTION_INT, GLOBAL(threads), 1, 1024, NULL, "N",
        "worker threads; results do not depend on it (default: all cores)", 0},
    {"json", GRAPHSS_OPTION_BOOL, GLOBAL(json), 0, 0, NULL, NULL,
        "one JSON document on standard output", 0},
    {"quiet", GRAPHSS_OPTION_BOOL, GLOBAL(quiet), 0, 0, NULL, NULL,
        "no progress and no notes, only results, warnings and errors", 'q'},
    {"verbose", GRAPHSS_OPTION_BOOL, GLOBAL(verbose), 0, 0, NULL, NULL,
        "print more on standard error", 'v'},
    {"data-dir", GRAPHSS_OPTION_STRING, GLOBAL(data_dir), 0, 0, NULL, "DIR",
        "look for datasets here first; may be given again (also: GRAPHSS_DATA)", 0},
    {"missing", GRAPHSS_OPTION_CHOICE, GLOBAL(missing), 0, 0, missing_names, "RULE",
        "how to read an empty cell among numbers of a CSV or GraphML file: as an error, the "
        "mean of its column in the data the model was trained on, or zero",
        0},
    {"engine", GRAPHSS_OPTION_STRING, GLOBAL(engine), 0, 0, NULL, "mpi",
        "run as one of several ranks that mpiexec started, each with a shard of the dataset",
        0},
    {"no-color", GRAPHSS_OPTION_BOOL, GLOBAL(no_color), 0, 0, NULL, NULL,
        "no colours (also: NO_COLOR)", 0},
    {"help", GRAPHSS_OPTION_BOOL, GLOBAL(help), 0, 0, NULL, NULL, "show this", 'h'},
    {"version", GRAPHSS_OPTION_BOOL, GLOBAL(version), 0, 0, NULL, NULL, "show the version", 0},
    /* For the build, so not in --help. */
    {"man", GRAPHSS_OPTION_BOOL, GLOBAL(man), 0, 0, NULL, NULL, NULL, 0},
    {"completion", GRAPHSS_OPTION_STRING, GLOBAL(completion), 0, 0, NULL, "SHELL", NULL, 0},
    {0},
};

static const graphss_option *global_table(void)
{
    return global_rows;
}

static void global_defaults(void *options)
{
    cli_globals *global = options;
    *global = (cli_globals){.seed = 1};
}

const cli_group cli_global_group = {
    "Global options", global_table, sizeof(cli_globals), global_defaults};

/* The one variable of the program: a signal handler can reach nothing else. */
static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

/* The first Ctrl-C asks the work to stop, the second ends the program. */
static void catch_signals(void)
{
    struct sigaction action = {0};
    action.sa_handler = on_interrupt;
    action.sa_flags = (int)SA_RESETHAND;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a write beyond ulimit -f fails and is reported */
    signal(SIGCHLD, SIG_DFL); /* we wait for children even if our parent ignores them */
}

/* A closed standard descriptor would be handed to the next file opened, and results would
 * be written into it. Stdout is opened for reading, so that writing to it fails. */
static void fill_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF)
            if (open("/dev/null", fd == 2 ? O_WRONLY : O_RDONLY) == -1)
                exit(4);
}

static bool on_progress(
    void *user, const char *stage, size_t done, size_t total, const char *note)
{
    cli *app = user;
    terminal_progress(&app->term, stage, done, total, note);
    return !interrupted;
}

graphss_status cli_progress(cli *app, const char *stage, size_t done, size_t total)
{
    return on_progress(app, stage, done, total, NULL) ? GRAPHSS_OK : GRAPHSS_ERR_CANCELLED;
}

static void on_log(void *user, graphss_log_level level, const char *line)
{
    cli *app = user;
    if (level == GRAPHSS_LOG_WARN)
        cli_warn(app, "%s", line);
    else if (level == GRAPHSS_LOG_NOTICE)
        cli_notice(app, line);
    else if (app->global.verbose)
        cli_note(app, "%s", line);
}

static graphss_status open_context(cli *app, size_t threads)
{
    graphss_ctx_free(app->ctx);
    app->ctx =
        graphss_ctx_new(&(graphss_ctx_options){.struct_size = sizeof(graphss_ctx_options),
            .threads = threads,
            .log = on_log,
            .progress = on_progress,
            .user = app});
    if (!app->ctx)
        return GRAPHSS_ERR_NOMEM;
    return app->engine.ranks ? graphss_ctx_join(app->ctx, &app->engine) : GRAPHSS_OK;
}

/* Text that takes the place of a command's results. */
static void print_text(cli *app, const char *key, void (*write)(FILE *, const cli_command *),
    const cli_command *command)
{
    if (!app->global.json) {
        write(stdout, command);
        return;
    }
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    if (!memory)
        return;
    write(memory, command);
    fclose(memory);
    cli_json_set(app->json, key, cli_json_text(text));
    free(text);
}

static graphss_status run_help(cli *app)
{
    const cli_command *command = NULL;
    if (app->n_arguments > 0) {
        command = cli_command_find(app->argument[0]);
        if (!command)
            return cli_unknown_command(app, app->argument[0]);
    }
    print_text(app, "help", cli_help, command);
    return GRAPHSS_OK;
}

const cli_command cli_help_command = {
    .name = "help",
    .arguments = "[COMMAND]",
    .summary = "Show help for a command",
    .examples = "help train\n",
    .max_arguments = 1,
    .run = run_help,
};

/* A file to write that stands without its -o is the usual reason. */
static graphss_status too_many(cli *app)
{
    const cli_command *command = app->command;
    const char *extra = app->argument[command->max_arguments];
    const bool writes = strstr(command->arguments, "-o ") && access(extra, F_OK) != 0;
    if (writes)
        return cli_usage(app,
            "%s: one argument too many: '%s'; if it is the file to write, give "
            "it as -o %s",
            command->name, extra, extra);
    return cli_usage(app, "%s: one argument too many: '%s', want: graphss %s %s",
        command->name, extra, command->name, command->arguments);
}

static graphss_status run(cli *app, int argc, char **argv)
{
    global_defaults(&app->global);
    /* So that even a wrong command line is answered in JSON and in the right colours. */
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--json") == 0)
            app->global.json = true;
        if (strcmp(argv[i], "--no-color") == 0)
            app->global.no_color = true;
    }
    terminal_init(&app->term, false, app->global.no_color);

    graphss_status st = open_context(app, 1);
    if (st)
        return st;
    st = cli_ranks_start(app, argc, argv);
    if (st)
        return st;
    if (!cli_leads(app))
        terminal_init(&app->term, true, app->global.no_color);
    st = cli_parse(app, argc, argv);
    if (st)
        return st;
    st = cli_apply(app, -1, &app->global);
    if (st)
        return st;
    app->global.quiet = app->global.quiet || !cli_leads(app);
    terminal_init(&app->term, app->global.quiet, app->global.no_color);

    if (app->global.man) {
        cli_manual(stdout);
        return GRAPHSS_OK;
    }
    if (app->global.completion)
        return cli_completion(app, stdout, app->global.completion);
    if (app->global.json)
        app->json = json_object();
    if (app->global.version) {
        if (app->json)
            cli_json_set(app->json, "version", cli_json_text(graphss_version()));
        else
            printf("graphss %s\n", graphss_version());
        return GRAPHSS_OK;
    }
    if (app->global.help || (!app->command && !app->global.json)) {
        print_text(app, "help", cli_help, app->command);
        return GRAPHSS_OK;
    }
    const cli_command *command = app->command;
    if (!command)
        return cli_usage(app, "no command given");
    if (app->n_arguments < command->min_arguments)
        return cli_usage(app, "%s: an argument is missing, want: graphss %s %s", command->name,
            command->name, command->arguments);
    if (app->n_arguments > command->max_arguments)
        return too_many(app);
    st = cli_ranks_check(app);
    if (!st)
        st = open_context(app, cli_ranks_threads(app));
    if (!st)
        st = cli_find_data_dirs(app);
    return st ? st : cli_ranks_run(app);
}

/* The reader of standard output closed it. The program ends by SIGPIPE as others do, so the
 * shell reports 141 and prints nothing. */
static int end_by_pipe(void)
{
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
    return 128 + SIGPIPE;
}

static int run_program(int argc, char **argv)
{
    cli app = {.program = argc > 0 && argv[0] && argv[0][0] ? argv[0] : "graphss"};
    graphss_status st = run(&app, argc, argv);
    if (st == GRAPHSS_ERR_CANCELLED)
        cli_fail(&app, st, "interrupted");
    st = cli_ranks_agree(&app, st);
    terminal_clear(&app.term);
    if (st == GRAPHSS_OK)
        st = cli_finish(&app);
    int code = app.alerted ? 1 : app.partial;
    if (st)
        code = cli_report_error(&app, st);
    json_decref(app.json);
    json_decref(app.warnings);
    json_decref(app.notices);
    graphss_release(app.ctx, (void *)app.usual_dirs);
    graphss_part_close(app.ctx, app.past);
    graphss_part_close(app.ctx, app.part);
    graphss_ctx_free(app.ctx);
    cli_ranks_end(&app);
    free(app.item);
    free(app.argument);
    free(app.data_dirs);
    return app.reader_left ? end_by_pipe() : code;
}

/* ---- a stack that is large enough ---- */

enum { STACK_LEAST = 1 << 20, STACK = 8 << 20 }; /* bytes */

typedef struct call {
    int argc, code;
    char **argv;
} call;

static void *run_call(void *arg)
{
    call *c = arg;
    c->code = run_program(c->argc, c->argv);
    return NULL;
}

/* Under a small ulimit -s the program runs on a thread, whose stack it can choose. */
int main(int argc, char **argv)
{
    struct rlimit limit;
    fill_descriptors();
    catch_signals();
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= STACK_LEAST)
        return run_program(argc, argv);
    call c = {argc, 0, argv};
    pthread_t thread;
    pthread_attr_t how;
    if (pthread_attr_init(&how) != 0 || pthread_attr_setstacksize(&how, STACK) != 0 ||
        pthread_create(&thread, &how, run_call, &c) != 0 || pthread_join(thread, NULL) != 0) {
        fputs("graphss: out of memory: no stack\n", stderr);
        return graphss_status_exit_code(GRAPHSS_ERR_NOMEM);
    }
    return c.code;
}
