/* tokens.c - see tokens.h. */
#include "serve/tokens.h"
#include "data/digest.h"
#include <errno.h>
#include <fcntl.h>
#include <graphss_serve/serve.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <unistd.h>

enum { FILE_MOST = 1 << 20, TOKEN_MOST = 256 };

static void hash_of(char *hex, const char *token, size_t n)
{
    graphss_i_digest d;
    graphss_i_digest_begin(&d, GRAPHSS_I_SHA256);
    graphss_i_digest_add(&d, token, n);
    graphss_i_digest_end(&d, hex);
}

bool graphss_i_random(void *bytes, size_t n)
{
    return getrandom(bytes, n, 0) == (ssize_t)n;
}

bool graphss_i_same_secret(const char *given, const char *wanted)
{
    const size_t n = strlen(wanted);
    if (!given || strlen(given) != n)
        return false;
    unsigned char different = 0;
    for (size_t i = 0; i < n; i++)
        different |= (unsigned char)(given[i] ^ wanted[i]);
    return different == 0;
}

/* hash(secret, hash(secret, name)): the outer one keeps the inner from being extended. */
void graphss_i_form_token(char *hex, const unsigned char *secret, const char *who)
{
    graphss_i_digest d;
    char inner[65];
    graphss_i_digest_begin(&d, GRAPHSS_I_SHA256);
    graphss_i_digest_add(&d, secret, GRAPHSS_I_SECRET);
    graphss_i_digest_add(&d, who, strlen(who));
    graphss_i_digest_end(&d, inner);
    graphss_i_digest_begin(&d, GRAPHSS_I_SHA256);
    graphss_i_digest_add(&d, secret, GRAPHSS_I_SECRET);
    graphss_i_digest_add(&d, inner, 64);
    graphss_i_digest_end(&d, hex);
}

/* ---- the file ---- */

static bool sound_name(const char *name)
{
    return *name && strlen(name) <= GRAPHSS_I_WHO &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                        "-_.@") == strlen(name);
}

static bool read_line(graphss_i_token *out, char *line)
{
    char *rest = NULL, *role = strtok_r(line, " \t\r", &rest),
         *name = strtok_r(NULL, " \t\r", &rest), *hash = strtok_r(NULL, " \t\r", &rest);
    if (!role || !name || !hash || strtok_r(NULL, " \t\r", &rest) ||
        !graphss_i_role_parse(&out->role, role) || !sound_name(name) || strlen(hash) != 64 ||
        strspn(hash, "0123456789abcdef") != 64)
        return false;
    snprintf(out->name, sizeof out->name, "%s", name);
    snprintf(out->hash, sizeof out->hash, "%s", hash);
    return true;
}

graphss_status graphss_i_tokens_parse(
    graphss_ctx *ctx, graphss_i_tokens *out, char *text, const char *path)
{
    graphss_i_tokens tokens = {0};
    size_t number = 0;
    for (char *line = text; line;) {
        char *next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        number++;
        line[strcspn(line, "#")] = 0;
        if (line[strspn(line, " \t\r")]) {
            graphss_i_token *more =
                graphss_i_grow(ctx, tokens.item, tokens.n, tokens.n + 1, sizeof *tokens.item);
            if (!more) {
                graphss_i_tokens_destroy(ctx, &tokens);
                return GRAPHSS_ERR_NOMEM;
            }
            tokens.item = more;
            if (!read_line(&tokens.item[tokens.n++], line)) {
                graphss_i_tokens_destroy(ctx, &tokens);
                return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                    "%s:%zu: no token, want: ROLE NAME SHA256, with a role "
                    "of read, write or admin",
                    path, number);
            }
        }
        line = next;
    }
    *out = tokens;
    return GRAPHSS_OK;
}

graphss_status graphss_i_tokens_read(graphss_ctx *ctx, graphss_i_tokens *out, const char *path)
{
    char *text = NULL;
    size_t n;
    graphss_status st = graphss_i_file_read(ctx, &text, &n, path, FILE_MOST);
    if (!st && memchr(text, 0, n))
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: it has a NUL", path);
    if (!st)
        st = graphss_i_tokens_parse(ctx, out, text, path);
    graphss_release(ctx, text);
    return st;
}

void graphss_i_tokens_destroy(graphss_ctx *ctx, graphss_i_tokens *tokens)
{
    graphss_release(ctx, tokens->item);
    *tokens = (graphss_i_tokens){0};
}

/* ---- authentication ---- */

/* Base64 to bytes; returns their number, 0: broken or too many. */
static size_t unpack(char *out, size_t room, const char *text)
{
    size_t n = 0;
    uint32_t bits = 0;
    unsigned have = 0;
    for (; *text && *text != '='; text++) {
        const char c = *text;
        const int value = c >= 'A' && c <= 'Z'   ? c - 'A'
                          : c >= 'a' && c <= 'z' ? c - 'a' + 26
                          : c >= '0' && c <= '9' ? c - '0' + 52
                          : c == '+'             ? 62
                          : c == '/'             ? 63
                                                 : -1;
        if (value < 0)
            return 0;
        bits = bits << 6 | (uint32_t)value;
        have += 6;
        if (have >= 8) {
            have -= 8;
            if (n == room)
                return 0;
            out[n++] = (char)(bits >> have & 0xFF);
        }
    }
    return n;
}

const graphss_i_token *graphss_i_tokens_find(
    const graphss_i_tokens *tokens, const char *authorization)
{
    char plain[2 * TOKEN_MOST], hash[65];
    const char *token = NULL;
    size_t n = 0;
    const graphss_i_token *found = NULL;
    if (!authorization)
        return NULL;
    if (!strncasecmp(authorization, "Bearer ", 7)) {
        token = authorization + 7;
        n = strlen(token);
    } else if (!strncasecmp(authorization, "Basic ", 6)) {
        n = unpack(plain, sizeof plain, authorization + 6);
        const char *colon = n ? memchr(plain, ':', n) : NULL;
        token = colon ? colon + 1 : NULL;
        n = token ? n - (size_t)(token - plain) : 0;
    }
    if (!token || n == 0 || n > TOKEN_MOST)
        return NULL;
    hash_of(hash, token, n);
    for (size_t i = 0; i < tokens->n; i++)
        if (graphss_i_same_secret(hash, tokens->item[i].hash))
            found = &tokens->item[i];
    return found;
}

graphss_status graphss_server_token_add(
    graphss_ctx *ctx, char **token, const char *path, const char *role, const char *name)
{
    unsigned char bytes[32];
    char text[65], hash[65];
    graphss_i_role known;
    if (GRAPHSS_I_LACKS(ctx, {"place for the token", token}, {"path", path}, {"role", role},
            {"name", name}))
        return GRAPHSS_ERR_INVALID;
    if (!graphss_i_role_parse(&known, role) || !sound_name(name))
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "token of role '%s' for '%s': want read, write or admin, and a "
            "name of letters, digits, - _ . @",
            role, name);
    if (!graphss_i_random(bytes, sizeof bytes))
        return graphss_i_fail(ctx, GRAPHSS_ERR_IO, "random bytes: %s", strerror(errno));
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    hash_of(hash, text, 64);
    char *line = graphss_i_format(ctx, "%s %s %s\n", role, name, hash);
    char *given = graphss_i_strdup(ctx, text);
    graphss_status st = line && given ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    const int fd = st ? -1 : open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (!st &&
        (fd < 0 || write(fd, line, strlen(line)) != (ssize_t)strlen(line) || fsync(fd) != 0))
        st = graphss_i_fail(ctx, GRAPHSS_ERR_IO, "%s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    graphss_release(ctx, line);
    if (st)
        graphss_release(ctx, given);
    else
        *token = given;
    return st;
}
