/* notify.c - the few words systemd wants to hear, over its socket; no library for them. */
#include "serve/serve_private.h"
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

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
