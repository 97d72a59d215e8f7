/* fuzz_request.c - any bytes as what a client of the service sends: a method byte, a target up
 * to the first newline, then a body, which is read as a form, as lines, and as a file of
 * tokens. */
#include "fuzz_check.h"
#include "serve/tokens.h"

static void check_pairs(const graphss_i_pair *pair, size_t n)
{
    must(n <= GRAPHSS_I_PAIRS);
    for (size_t i = 0; i < n; i++) {
        must(*pair[i].name &&
             graphss_i_is_utf8((const unsigned char *)pair[i].name, strlen(pair[i].name)));
        must(pair[i].value && graphss_i_pair_get(pair, n, pair[i].name));
    }
}

static void check_target(uint8_t method, char *target)
{
    static const char *const methods[] = {"GET", "HEAD", "POST", "PUT"};
    graphss_i_request r;
    const char *allow;
    const int status = graphss_i_request_parse(&r, methods[method % 4], target, &allow);
    must(status == 0 || status == 400 || status == 404 || status == 405 || status == 414);
    must((status == 405) == (status == 405 && allow));
    if (status)
        return;
    must(r.ask < GRAPHSS_I_ASKS);
    must((r.name != NULL) == (strchr(graphss_i_route_of(r.ask)->path, '{') != NULL));
    must(!r.name || graphss_i_is_utf8((const unsigned char *)r.name, strlen(r.name)));
    check_pairs(r.query, r.n_query);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    graphss_ctx *ctx = fuzz_ctx();
    char *text = graphss_i_alloc(ctx, size + 1, 1), *copy = graphss_i_alloc(ctx, size + 1, 1);
    if (size < 2 || !text || !copy) {
        graphss_release(ctx, text);
        graphss_release(ctx, copy);
        graphss_ctx_free(ctx);
        return 0;
    }
    memcpy(text, bytes, size);
    text[size] = 0;
    char *end = memchr(text + 1, '\n', size - 1);
    char *body = end ? end + 1 : text + size;
    const size_t n_body = (size_t)(text + size - body);
    if (end)
        *end = 0;
    (void)graphss_i_host_is_ours(text + 1, "graphs.example,b");
    (void)graphss_i_origin_fits(text + 1, body);
    check_target(bytes[0], text + 1);

    const char *line;
    size_t n, at = 0, seen = 0;
    while (graphss_i_line_next(&line, &n, body, n_body, &at)) {
        must(n > 0 && line >= body && line + n <= body + n_body);
        must(!memchr(line, '\n', n));
        must(++seen <= n_body);
    }
    graphss_i_tokens tokens = {0};
    memcpy(copy, body, n_body);
    copy[n_body] = 0;
    (void)graphss_i_tokens_find(&tokens, copy);
    if (graphss_i_tokens_parse(ctx, &tokens, copy, "tokens") == GRAPHSS_OK)
        (void)graphss_i_tokens_find(&tokens, body);
    graphss_i_tokens_destroy(ctx, &tokens);

    graphss_i_pair pair[GRAPHSS_I_PAIRS];
    memcpy(copy, body, n_body);
    copy[n_body] = 0;
    if (graphss_i_pairs_parse(pair, &n, copy))
        check_pairs(pair, n);
    graphss_release(ctx, copy);
    graphss_release(ctx, text);
    graphss_ctx_free(ctx);
    return 0;
}
