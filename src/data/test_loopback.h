/* test_loopback.h - a small HTTP server for tests: one thread on 127.0.0.1, one request per
 * connection, answered by a function of the test. What it keeps about the requests is read
 * after loopback_stop. It ends by itself after LOOPBACK_CONNECTIONS or ten idle seconds. */
#ifndef GRAPHSS_TEST_LOOPBACK_H
#define GRAPHSS_TEST_LOOPBACK_H

#include "testing.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/time.h>

enum { LOOPBACK_CONNECTIONS = 200, LOOPBACK_LOGGED = 32 };

typedef struct loopback_request {
    char path[200];
    long long from; /* of the Range header; -1 without one */
    size_t body;    /* bytes of the body that were sent */
} loopback_request;

typedef struct loopback loopback;
/* Runs on the server's thread: no assertions in it. */
typedef void (*loopback_answer)(loopback *server, int fd, loopback_request *request);

struct loopback {
    int listener;
    unsigned port;
    bool running;
    pthread_t thread;
    loopback_answer answer;
    const char *content; /* for answers to use */
    size_t n_content;
    size_t n_requests;
    loopback_request requests[LOOPBACK_LOGGED];
};

static inline bool loopback_send(int fd, const char *bytes, size_t n)
{
    while (n) {
        const ssize_t k = send(fd, bytes, n, MSG_NOSIGNAL);
        if (k <= 0)
            return false;
        bytes += k;
        n -= (size_t)k;
    }
    return true;
}

static inline void loopback_send_text(int fd, const char *text)
{
    loopback_send(fd, text, strlen(text));
}

/* The content from the byte asked for, or all of it when ranges are not honoured; the
 * header tells the whole length, and at most `most` bytes of the body follow. */
static inline void loopback_send_content(loopback *server, int fd, loopback_request *request,
                                         bool honour_range, size_t most)
{
    char head[300];
    size_t from = 0;
    if (honour_range && request->from >= 0)
        from = (size_t)request->from;
    if (from >= server->n_content && from) {
        loopback_send_text(fd, "HTTP/1.1 416 No\r\nContent-Length: 2\r\n\r\nno");
        return;
    }
    const size_t rest = server->n_content - from;
    if (from)
        snprintf(head, sizeof head,
                 "HTTP/1.1 206 Part\r\nContent-Length: %zu\r\nConnection: close\r\n"
                 "Content-Range: bytes %zu-%zu/%zu\r\n\r\n",
                 rest, from, server->n_content - 1, server->n_content);
    else
        snprintf(head, sizeof head,
                 "HTTP/1.1 200 Fine\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
                 rest);
    loopback_send_text(fd, head);
    const size_t n = rest < most ? rest : most;
    if (loopback_send(fd, server->content + from, n))
        request->body = n;
}

static inline bool loopback_read_request(int fd, loopback_request *request)
{
    char text[4096];
    size_t n = 0;
    *request = (loopback_request){.from = -1};
    for (;;) {
        const ssize_t k = recv(fd, text + n, sizeof text - 1 - n, 0);
        if (k <= 0)
            return false;
        n += (size_t)k;
        text[n] = '\0';
        if (strstr(text, "\r\n\r\n"))
            break;
        if (n + 1 == sizeof text)
            return false;
    }
    if (sscanf(text, "GET %199s", request->path) != 1)
        return false;
    const char *range = strstr(text, "Range: bytes=");
    if (range)
        request->from = atoll(range + 13);
    return true;
}

static inline void *loopback_run(void *arg)
{
    loopback *server = arg;
    const struct timeval idle = {.tv_sec = 10};
    for (int k = 0; k < LOOPBACK_CONNECTIONS; k++) {
        const int fd = accept(server->listener, NULL, NULL);
        if (fd < 0)
            break;
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &idle, sizeof idle);
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &idle, sizeof idle);
        loopback_request request;
        if (loopback_read_request(fd, &request)) {
            server->answer(server, fd, &request);
            if (server->n_requests < LOOPBACK_LOGGED)
                server->requests[server->n_requests] = request;
            server->n_requests++;
        }
        close(fd);
    }
    return NULL;
}

static inline void loopback_start(loopback *server, loopback_answer answer,
                                  const char *content, size_t n_content)
{
    const struct timeval idle = {.tv_sec = 10};
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    *server = (loopback){.answer = answer, .content = content, .n_content = n_content};
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(server->listener >= 0);
    setsockopt(server->listener, SOL_SOCKET, SO_RCVTIMEO, &idle, sizeof idle);
    assert_int_equal(bind(server->listener, (struct sockaddr *)&address, length), 0);
    assert_int_equal(listen(server->listener, 8), 0);
    assert_int_equal(getsockname(server->listener, (struct sockaddr *)&address, &length), 0);
    server->port = ntohs(address.sin_port);
    assert_int_equal(pthread_create(&server->thread, NULL, loopback_run, server), 0);
    server->running = true;
}

static inline void loopback_stop(loopback *server)
{
    if (!server->running)
        return;
    shutdown(server->listener, SHUT_RDWR); /* ends accept */
    pthread_join(server->thread, NULL);
    close(server->listener);
    server->running = false;
}

#endif
