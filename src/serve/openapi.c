/* openapi.c - the routes as an OpenAPI 3 document, written from their table, so that it is
 * always up to date. */
#include "serve/serve_private.h"
#include <string.h>

static void put_parameter(graphss_i_text *t, const char *path)
{
    const char *open = strchr(path, '{');
    if (!open)
        return;
    graphss_i_text_format(t,
        ",\"parameters\":[{\"name\":\"%.*s\",\"in\":\"path\",\"required\":"
        "true,\"schema\":{\"type\":\"string\"}}]",
        (int)strcspn(open + 1, "}"), open + 1);
}

static void put_operation(graphss_i_text *t, const graphss_i_route *r)
{
    static const char *const types[] = {
        "", "application/json", "application/jsonl", "application/x-www-form-urlencoded"};
    graphss_i_text_format(
        t, "\"%s\":{\"summary\":", !strcmp(r->method, "GET") ? "get" : "post");
    graphss_i_text_json(t, r->summary);
    put_parameter(t, r->path);
    if (r->role != GRAPHSS_I_ROLE_NONE)
        graphss_i_text_format(t, ",\"security\":[{\"token\":[]}],\"x-role\":\"%s\"",
            graphss_i_role_text(r->role));
    if (r->body != GRAPHSS_I_BODY_NONE)
        graphss_i_text_format(t, ",\"requestBody\":{\"content\":{\"%s\":{}}}", types[r->body]);
    graphss_i_text_format(t,
        ",\"responses\":{\"default\":{\"description\":\"the answer, or what "
        "was wrong\",\"content\":{\"%s\":{}}}}}",
        r->answer);
}

void graphss_i_openapi(graphss_i_text *t)
{
    graphss_i_text_format(t,
        "{\"openapi\":\"3.0.3\",\"info\":{\"title\":\"graphss serve\","
        "\"version\":\"%s\"},\"components\":{\"securitySchemes\":{\"token\":{"
        "\"type\":\"http\",\"scheme\":\"bearer\"}}},\"paths\":{",
        graphss_version());
    bool done[GRAPHSS_I_ASKS] = {false};
    for (int i = 0; i < GRAPHSS_I_ASKS; i++) {
        const char *path = graphss_i_route_of((graphss_i_ask)i)->path;
        if (done[i])
            continue;
        graphss_i_text_add(t, i ? "," : "");
        graphss_i_text_json(t, path);
        graphss_i_text_add(t, ":{");
        for (int j = i; j < GRAPHSS_I_ASKS; j++) {
            const graphss_i_route *r = graphss_i_route_of((graphss_i_ask)j);
            if (strcmp(r->path, path) != 0)
                continue;
            done[j] = true;
            graphss_i_text_add(t, j > i ? "," : "");
            put_operation(t, r);
        }
        graphss_i_text_add(t, "}");
    }
    graphss_i_text_add(t, "}}\n");
}
