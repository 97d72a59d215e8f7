/* listen.c - opens libmicrohttpd, and the socket it listens on; the protocol of systemd over
 * its socket, without a library. */
#include "serve/http.h"
#include "serve/serve_private.h"
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 1024 };

graphss_status graphss_i_mhd_open(graphss_ctx *ctx, graphss_i_mhd *out)
{
    graphss_i_mhd m = {.handle = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL)};
    if (!m.handle)
        return graphss_i_fail(ctx, GRAPHSS_ERR_IO,
            "libmicrohttpd is wanted here (libmicrohttpd12): %s", dlerror());
    const struct {
        const char *name;
        void *to;
    } wanted[] = {{"MHD_start_daemon", &m.start_daemon}, {"MHD_stop_daemon", &m.stop_daemon},
        {"MHD_quiesce_daemon", &m.quiesce_daemon},
        {"MHD_suspend_connection", &m.suspend_connection},
        {"MHD_resume_connection", &m.resume_connection},
        {"MHD_create_response_from_buffer", &m.create_response_from_buffer},
        {"MHD_create_response_from_callback", &m.create_response_from_callback},
        {"MHD_add_response_header", &m.add_response_header},
        {"MHD_queue_response", &m.queue_response},
        {"MHD_destroy_response", &m.destroy_response},
        {"MHD_lookup_connection_value", &m.lookup_connection_value},
        {"MHD_get_connection_info", &m.get_connection_info}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *const found = dlsym(m.handle, wanted[i].name);
        if (!found) {
            dlclose(m.handle);
            return graphss_i_fail(
                ctx, GRAPHSS_ERR_IO, "libmicrohttpd.so.12 lacks %s", wanted[i].name);
        }
        memcpy(wanted[i].to, &found, sizeof found);
    }
    *out = m;
    return GRAPHSS_OK;
}

/* It stays open: GnuTLS below it does not like to be loaded twice. */
void graphss_i_mhd_close(graphss_i_mhd *m)
{
    *m = (graphss_i_mhd){0};
}

/* ---- sockets ---- */

static graphss_status fail(graphss_ctx *ctx, const char *where, int fd)
{
    const int cause = errno;
    if (fd >= 0)
        close(fd);
    return graphss_i_fail(ctx, GRAPHSS_ERR_IO, "listen on %s: %s", where, strerror(cause));
}

static graphss_status listen_unix(graphss_ctx *ctx, int *out, const char *where)
{
    const char *path = where + strlen("unix:");
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (!*path || strlen(path) >= sizeof to.sun_path)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "listen on %s: want a path of 1 to %zu bytes", where, sizeof to.sun_path - 1);
    memcpy(to.sun_path, path, strlen(path) + 1);
    const struct sockaddr *address = (const struct sockaddr *)&to;
    const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (probe < 0)
        return fail(ctx, where, -1);
    /* A socket file without a listener was left by a process that was killed. */
    const bool taken = connect(probe, address, sizeof to) == 0;
    const bool stale = !taken && errno == ECONNREFUSED;
    close(probe);
    if (stale)
        (void)unlink(path);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return fail(ctx, where, -1);
    (void)fchmod(fd, 0600);
    if (bind(fd, address, sizeof to) != 0 || chmod(path, 0600) != 0 ||
        listen(fd, BACKLOG) != 0)
        return fail(ctx, where, fd);
    *out = fd;
    return GRAPHSS_OK;
}

static bool is_loopback(const struct sockaddr *a)
{
    if (a->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)a;
        return ntohl(in->sin_addr.s_addr) >> 24 == 127;
    }
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)(const void *)a;
    return a->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
}

static graphss_status listen_tcp(
    graphss_ctx *ctx, int *out, char **shown, bool *alone, const char *where, bool tls)
{
    char host[256];
    const char *colon = strrchr(where, ':');
    const size_t n = colon ? (size_t)(colon - where) : 0;
    uint64_t port;
    const bool brackets = n > 2 && where[0] == '[' && where[n - 1] == ']';
    if (n == 0 || n >= sizeof host || !graphss_i_number_parse(&port, colon + 1, 0, 65535))
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "listen on '%s': want ADDRESS:PORT, [ADDRESS]:PORT or unix:PATH", where);
    snprintf(host, sizeof host, "%.*s", (int)(n - 2 * brackets), where + brackets);
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
                        .ai_socktype = SOCK_STREAM},
                    *found = NULL;
    if (!strcmp(host, "localhost"))
        snprintf(host, sizeof host, "127.0.0.1");
    if (getaddrinfo(host, colon + 1, &hints, &found) != 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "listen on '%s': want an address in numbers, such as 127.0.0.1 "
            "or [::1]",
            where);
    const int yes = 1;
    *alone = is_loopback(found->ai_addr);
    const int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const bool open =
        fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
        bind(fd, found->ai_addr, found->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0;
    const int cause = errno;
    freeaddrinfo(found);
    errno = cause;
    if (!open)
        return fail(ctx, where, fd);
    struct sockaddr_storage is;
    socklen_t size = sizeof is;
    if (getsockname(fd, (struct sockaddr *)&is, &size) != 0)
        return fail(ctx, where, fd);
    const unsigned real =
        ntohs(is.ss_family == AF_INET ? ((struct sockaddr_in *)&is)->sin_port
                                      : ((struct sockaddr_in6 *)&is)->sin6_port);
    *shown =
        graphss_i_format(ctx, "%s://%.*s:%u/", tls ? "https" : "http", (int)n, where, real);
    if (!*shown) {
        close(fd);
        return GRAPHSS_ERR_NOMEM;
    }
    *out = fd;
    return GRAPHSS_OK;
}

graphss_status graphss_i_listen(
    graphss_ctx *ctx, int *out, char **shown, bool *alone, const char *where, bool tls)
{
    const int given = graphss_i_notify_socket();
    const bool is_unix = !strncmp(where, "unix:", 5);
    if (given < 0 && !is_unix)
        return listen_tcp(ctx, out, shown, alone, where, tls);
    *shown = graphss_i_strdup(ctx, where);
    if (!*shown)
        return GRAPHSS_ERR_NOMEM;
    *alone = is_unix;
    if (given < 0) {
        const graphss_status st = listen_unix(ctx, out, where);
        if (st)
            graphss_release(ctx, *shown);
        return st;
    }
    struct sockaddr_storage is = {0};
    socklen_t size = sizeof is;
    *alone = getsockname(given, (struct sockaddr *)&is, &size) == 0 &&
             (is.ss_family == AF_UNIX || is_loopback((struct sockaddr *)&is));
    *out = given;
    return GRAPHSS_OK;
}

void graphss_i_unlisten(const char *where)
{
    if (!strncmp(where, "unix:", 5) && graphss_i_notify_socket() < 0)
        (void)unlink(where + 5);
}

/* ---- systemd ---- */

void graphss_i_notify(const char *text)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    const size_t n = path ? strlen(path) : 0;
    if (n == 0 || n >= sizeof to.sun_path || (*path != '/' && *path != '@'))
        return;
    memcpy(to.sun_path, path, n);
    if (*path == '@') /* a name that is no file */
        to.sun_path[0] = 0;
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    (void)sendto(fd, text, strlen(text), MSG_NOSIGNAL, (const struct sockaddr *)&to,
        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n));
    close(fd);
}

/* Is a variable of systemd's meant for this process? */
static bool is_for_us(const char *variable)
{
    const char *pid = getenv(variable);
    return !pid || strtoll(pid, NULL, 10) == (long long)getpid();
}

double graphss_i_notify_watchdog(void)
{
    const char *text = getenv("WATCHDOG_USEC");
    const double micro = text ? strtod(text, NULL) : 0;
    return micro > 0 && is_for_us("WATCHDOG_PID") ? micro * 1e-6 : 0;
}

int graphss_i_notify_socket(void)
{
    const char *text = getenv("LISTEN_FDS");
    return text && strtol(text, NULL, 10) >= 1 && getenv("LISTEN_PID") &&
                   is_for_us("LISTEN_PID")
               ? 3
               : -1;
}
