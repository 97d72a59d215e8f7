/* test_loopback.h - a small HTTP server for tests: one thread on 127.0.0.1, one request per
 * connection, answered by a function of the test. Its record of the requests is read after
 * loopback_stop. It stops after LOOPBACK_CONNECTIONS or ten idle seconds. */
#ifndef GRAPHSS_TEST_LOOPBACK_H
#define GRAPHSS_TEST_LOOPBACK_H

#include "testing.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>

enum { LOOPBACK_CONNECTIONS = 200, LOOPBACK_LOGGED = 32 };

typedef struct loopback_request {
    char path[200];
    long long from; /* offset in the Range header; -1 without one */
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

/* The content from the requested byte, or all of it if ranges are not honoured; the header has
 * the whole length, and at most `most` bytes of the body follow. */
static inline void loopback_send_content(
    loopback *server, int fd, loopback_request *request, bool honour_range, size_t most)
{
    char head[300];
    size_t from = 0;
    if (honour_range && request->from >= 0)
        from = (size_t)request->from;
    if (from >= server->n_content && from) {
        loopback_send_text(
            fd, "HTTP/1.1 416 No\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno");
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
            "HTTP/1.1 200 Fine\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n", rest);
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

static inline void loopback_start(
    loopback *server, loopback_answer answer, const char *content, size_t n_content)
{
    const struct timeval idle = {.tv_sec = 10};
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
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

/* Answers that know no test. */

static inline void answer_well(loopback *server, int fd, loopback_request *request)
{
    loopback_send_content(server, fd, request, true, SIZE_MAX);
}

static inline void answer_404(loopback *server, int fd, loopback_request *request)
{
    (void)server;
    (void)request;
    loopback_send_text(
        fd, "HTTP/1.1 404 Gone\r\nContent-Length: 9\r\nConnection: close\r\n\r\nnot here\n");
}

static inline void answer_503_first(loopback *server, int fd, loopback_request *request)
{
    if (server->n_requests == 0)
        loopback_send_text(
            fd, "HTTP/1.1 503 Busy\r\nContent-Length: 5\r\nConnection: close\r\n\r\nbusy\n");
    else
        answer_well(server, fd, request);
}

static inline void answer_in_circles(loopback *server, int fd, loopback_request *request)
{
    char head[300];
    (void)request;
    snprintf(head, sizeof head,
        "HTTP/1.1 302 There\r\nLocation: /again/%zu\r\n"
        "Content-Length: 0\r\nConnection: close\r\n\r\n",
        server->n_requests);
    loopback_send_text(fd, head);
}

static inline void answer_to_file_scheme(loopback *server, int fd, loopback_request *request)
{
    (void)server;
    (void)request;
    loopback_send_text(fd, "HTTP/1.1 302 There\r\nLocation: file:///etc/passwd\r\n"
                           "Content-Length: 0\r\nConnection: close\r\n\r\n");
}

static inline void answer_too_long_a_length(
    loopback *server, int fd, loopback_request *request)
{
    (void)server;
    (void)request;
    loopback_send_text(fd, "HTTP/1.1 200 Fine\r\nContent-Length: 99999999999\r\n\r\nx");
}

static inline void answer_without_end(loopback *server, int fd, loopback_request *request)
{
    (void)request;
    loopback_send_text(fd, "HTTP/1.1 200 Fine\r\nConnection: close\r\n\r\n");
    for (int k = 0; k < 100; k++)
        if (!loopback_send(fd, server->content, server->n_content))
            break;
}

/* Serves FOLDER/FILE for /files/FILE; content is the folder's name. */
static inline void answer_from_folder(loopback *server, int fd, loopback_request *request)
{
    char path[700];
    struct stat info;
    snprintf(path, sizeof path, "%s/%s", server->content, strrchr(request->path, '/') + 1);
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    if (file && fstat(fileno(file), &info) == 0)
        bytes = malloc((size_t)info.st_size + 1);
    if (bytes && fread(bytes, 1, (size_t)info.st_size, file) == (size_t)info.st_size) {
        char head[120];
        snprintf(head, sizeof head,
            "HTTP/1.1 200 Fine\r\nContent-Length: %lld\r\nConnection: close\r\n\r\n",
            (long long)info.st_size);
        loopback_send_text(fd, head);
        loopback_send(fd, bytes, (size_t)info.st_size);
    } else {
        answer_404(server, fd, request);
    }
    free(bytes);
    if (file)
        fclose(file);
}

static inline void answer_elsewhere(loopback *server, int fd, loopback_request *request)
{
    if (strncmp(request->path, "/files/", 7) == 0)
        loopback_send_text(fd, "HTTP/1.1 302 There\r\nLocation: /moved/thing.npz\r\n"
                               "Content-Length: 6\r\nConnection: close\r\n\r\nmoved\n");
    else
        answer_well(server, fd, request);
}

/* Sends half, then nothing more until the other side hangs up. */
static inline void answer_half_and_wait(loopback *server, int fd, loopback_request *request)
{
    char rest[16];
    loopback_send_content(server, fd, request, true, server->n_content / 2);
    while (recv(fd, rest, sizeof rest, 0) > 0)
        ;
}

#endif
