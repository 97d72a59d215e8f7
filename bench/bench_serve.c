/* bench_serve.c - mixed load on a running server: questions about nodes, status, and events.
 *
 *     graphss serve ... --rate 0 & bench_serve PORT PID NODES [SECONDS [RATE [CONNECTIONS]]]
 *
 * Nodes are called 0 to NODES - 1. Prints what was answered, latencies, and processor time and
 * memory of the server. RATE (10000) requests a second in all, of which 30 % send an event. */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BUCKETS = 4096, MOST = 256 }; /* of 50 microseconds */

typedef struct client {
    pthread_t thread;
    int port, nodes, number;
    double seconds, every;
    size_t done, errors, busy, late;
    size_t bucket[BUCKETS];
} client;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int connect_to(int port)
{
    const struct sockaddr_in to = {.sin_family = AF_INET,
        .sin_port = htons((uint16_t)port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* One request and its whole answer: the status, or 0. */
static int ask(int fd, const char *request, size_t n)
{
    static __thread char answer[1 << 17];
    size_t have = 0;
    if (send(fd, request, n, MSG_NOSIGNAL) != (ssize_t)n)
        return 0;
    for (;;) {
        const ssize_t got = recv(fd, answer + have, sizeof answer - have - 1, 0);
        if (got <= 0)
            return 0;
        have += (size_t)got;
        answer[have] = 0;
        const char *end = strstr(answer, "\r\n\r\n"),
                   *length = strstr(answer, "Content-Length: ");
        if (end && length && have >= (size_t)(end + 4 - answer) + (size_t)atol(length + 16))
            return atoi(answer + 9);
    }
}

static size_t make(char *out, size_t room, client *c, unsigned *seed)
{
    char event[160];
    const int kind = rand_r(seed) % 10, u = rand_r(seed) % c->nodes,
              v = (u + 1 + rand_r(seed) % (c->nodes - 1)) % c->nodes;
    if (kind >= 3)
        return (size_t)snprintf(out, room, "GET %s%.0d HTTP/1.1\r\nHost: localhost\r\n\r\n",
            kind == 9 ? "/v1/status" : "/v1/nodes/", kind == 9 ? 0 : u + 1);
    const int n = snprintf(event, sizeof event,
        "{\"op\":\"%clink\",\"u\":\"%d\",\"v\":\"%d\",\"source\":\"b%d\","
        "\"seq\":%zu}",
        kind == 2 ? '-' : '+', u, v, c->number, c->done);
    return (size_t)snprintf(out, room,
        "POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
        "application/jsonl\r\nContent-Length: %d\r\n\r\n%s",
        n, event);
}

static void *run(void *arg)
{
    client *c = arg;
    unsigned seed = (unsigned)c->number;
    char request[600];
    int fd = -1;
    const double from = now();
    for (double due = from; due < from + c->seconds; due += c->every) {
        const double wait = due - now();
        if (wait > 0)
            nanosleep(&(struct timespec){.tv_nsec = (long)(wait * 1e9)}, NULL);
        c->late += wait < -0.1;
        if (fd < 0)
            fd = connect_to(c->port);
        const size_t n = make(request, sizeof request, c, &seed);
        const double began = now();
        const int status = fd < 0 ? 0 : ask(fd, request, n);
        const double took = now() - began;
        size_t b = (size_t)(took / 50e-6);
        c->bucket[b < BUCKETS ? b : BUCKETS - 1]++;
        c->done++;
        c->busy += status == 429;
        c->errors += status != 200 && status != 202 && status != 404 && status != 429;
        if (status == 0 && fd >= 0) {
            close(fd);
            fd = -1;
        }
    }
    if (fd >= 0)
        close(fd);
    return NULL;
}

/* Processor seconds and resident MB of a process. */
static void usage(const char *pid, double *cpu, double *memory)
{
    char path[64], line[1024] = "";
    unsigned long user = 0, system = 0, pages = 0;
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    FILE *f = fopen(path, "r");
    if (f && fgets(line, sizeof line, f) && strrchr(line, ')'))
        sscanf(strrchr(line, ')') + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
            &user, &system);
    if (f)
        fclose(f);
    snprintf(path, sizeof path, "/proc/%s/statm", pid);
    f = fopen(path, "r");
    if (f && fscanf(f, "%*u %lu", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    *cpu = (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
    *memory = (double)pages * (double)sysconf(_SC_PAGESIZE) / 1e6;
}

int main(int argc, char **argv)
{
    static client c[MOST];
    if (argc < 4) {
        fprintf(stderr, "want: bench_serve PORT PID NODES [SECONDS [RATE [CONNECTIONS]]]\n");
        return 2;
    }
    const double seconds = argc > 4 ? atof(argv[4]) : 10,
                 rate = argc > 5 ? atof(argv[5]) : 1e4;
    int n = argc > 6 ? atoi(argv[6]) : 16;
    n = n < 1 ? 1 : n > MOST ? MOST : n;
    double cpu[2], memory[2];
    size_t all = 0, errors = 0, busy = 0, late = 0, bucket[BUCKETS] = {0};
    usage(argv[2], &cpu[0], &memory[0]);
    const double from = now();
    for (int i = 0; i < n; i++) {
        c[i] = (client){.port = atoi(argv[1]), .nodes = atoi(argv[3]), .number = i};
        c[i].seconds = seconds;
        c[i].every = n / rate;
        if (pthread_create(&c[i].thread, NULL, run, &c[i]) != 0)
            return 1;
    }
    for (int i = 0; i < n; i++) {
        pthread_join(c[i].thread, NULL);
        all += c[i].done;
        errors += c[i].errors;
        busy += c[i].busy;
        late += c[i].late;
        for (size_t b = 0; b < BUCKETS; b++)
            bucket[b] += c[i].bucket[b];
    }
    const double took = now() - from;
    usage(argv[2], &cpu[1], &memory[1]);
    double share[3] = {0.5, 0.99, 0.999}, at[3] = {0};
    for (size_t q = 0; q < 3; q++)
        for (size_t b = 0, sum = 0; b < BUCKETS && sum <= share[q] * (double)all; b++) {
            sum += bucket[b];
            at[q] = (double)(b + 1) * 0.05;
        }
    printf("requests %zu, %.0f a second of %.0f wanted, %zu sent late\n", all,
        (double)all / took, rate, late);
    printf("errors   %zu, and %zu times 429\n", errors, busy);
    printf("latency  median %.2f ms, 99 %% %.2f ms, 99.9 %% %.2f ms\n", at[0], at[1], at[2]);
    printf(
        "server   %.1f us of processor a request, memory %.1f MB before and %.1f MB after\n",
        1e6 * (cpu[1] - cpu[0]) / (double)all, memory[0], memory[1]);
    return errors != 0;
}
