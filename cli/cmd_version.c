/* cmd_version.c - version, build and machine, for bug reports. */
#include "cli.h"

static graphss_status run(cli *app)
{
    if (app->json) {
        cli_json_set(app->json, "version", cli_json_text(graphss_version()));
        cli_json_set(app->json, "instruction_set",
            cli_json_text(graphss_ctx_instruction_set(app->ctx)));
        cli_json_set(
            app->json, "threads", json_integer((json_int_t)graphss_ctx_threads(app->ctx)));
        return GRAPHSS_OK;
    }
    printf("graphss %s, kernels for %s, %zu threads\n", graphss_version(),
        graphss_ctx_instruction_set(app->ctx), graphss_ctx_threads(app->ctx));
    return GRAPHSS_OK;
}

const cli_command cli_version = {
    .name = "version",
    .arguments = "",
    .summary = "Show the version, the kernels in use and the threads",
    .examples = "version\n--json version\n",
    .run = run,
};
