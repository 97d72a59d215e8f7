/* tokens.h - authentication. The file of tokens has lines "ROLE NAME SHA256"; '#' begins a
 * comment. Tokens are 32 random bytes, so a plain hash protects them: they cannot be guessed.
 * / */
#ifndef GRAPHSS_SERVE_TOKENS_H
#define GRAPHSS_SERVE_TOKENS_H

#include "serve/request.h"

enum { GRAPHSS_I_WHO = 64 };
typedef struct graphss_i_token {
    graphss_i_role role;
    char name[GRAPHSS_I_WHO + 1], hash[65];
} graphss_i_token;
typedef struct graphss_i_tokens {
    graphss_i_token *item;
    size_t n;
} graphss_i_tokens;

/* DATA names the line; IO. */
graphss_status graphss_i_tokens_read(
    graphss_ctx *ctx, graphss_i_tokens *out, const char *path);
graphss_status graphss_i_tokens_parse(
    graphss_ctx *ctx, graphss_i_tokens *out, char *text, const char *path);
void graphss_i_tokens_destroy(graphss_ctx *ctx, graphss_i_tokens *tokens);
/* The token of an Authorization header: "Bearer TOKEN", or "Basic" with the token as its
 * password, which is what browsers send. Compares with all in constant time; NULL: none. */
const graphss_i_token *graphss_i_tokens_find(
    const graphss_i_tokens *tokens, const char *authorization);

enum { GRAPHSS_I_SECRET = 32 };
/* The secret that a form must send back, so that only a page of ours can have made it: hex
 * [65]. */
void graphss_i_form_token(char *hex, const unsigned char *secret, const char *who);
/* In constant time. given may be NULL. */
bool graphss_i_same_secret(const char *given, const char *wanted);
/* False: the system has no random bytes. */
bool graphss_i_random(void *bytes, size_t n);

#endif
