/* graphss_serve/serve.h - a live graph behind HTTP: events in, answers, alerts and a page out.
 *
 *     graphss_serve_options opt;
 *     graphss_serve_options_init(&opt);
 *     opt.listen = "127.0.0.1:8321";
 *     graphss_server_new(ctx, &server, store, model, live, &opt);
 *     graphss_server_run(ctx, server);        until the context's progress says stop
 *     graphss_server_free(ctx, server);
 *
 * The thread that calls graphss_server_run owns the live graph and the store: it applies
 * events and answers questions in turn. Requests are read by a thread of libmicrohttpd, which
 * is opened at run time. Requests wait in a bounded queue; where it is full they are refused
 * with 429. An answer to events is given once they are on the disk. docs/operations.md says
 * how to run it, docs/service.md what it answers.
 *
 * A library of its own, graphss_serve, on top of graphss_store. */
#ifndef GRAPHSS_SERVE_H
#define GRAPHSS_SERVE_H

#include <graphss_store/store.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct graphss_server graphss_server;

enum { GRAPHSS_SERVE_SOURCES = 16 };

typedef struct graphss_serve_options {
    uint32_t struct_size; /* sizeof(graphss_serve_options) */
    const char *listen;   /* ADDRESS:PORT or unix:PATH; port 0: any; "127.0.0.1:8321" */
    const char *tokens;   /* file of tokens, as graphss_server_token_add writes it; NULL: none,
                           * which needs a loopback address or a Unix socket */
    const char *tls_cert, *tls_key; /* PEM files; NULL: no TLS */
    /* names besides those of loopback by which clients may call the server, separated by
     * commas; NULL: none */
    const char *host;
    bool behind_proxy; /* a proxy does TLS: another address without tls_cert is allowed */
    int64_t batch;     /* most events applied at once; 1000 */
    int64_t queue;     /* most events that wait; 50000 */
    int64_t body;      /* most bytes of a request's body; 4194304 */
    int64_t connections, connections_each; /* at once, and from one address; 512, 256 */
    int64_t rate; /* requests a second from one address; 0: any; 20000 */
    double wait;  /* seconds a request may take to arrive; 15 */
    /* Where else events come from: graphss_event_source_open. Borrowed until it is freed. */
    graphss_event_source *source[GRAPHSS_SERVE_SOURCES];
    size_t n_sources;
    /* receivers of alerts, served by a thread of its own; none at first */
    graphss_store_receivers tell;
    /* where graphss_server_reload reads the model from; NULL: nowhere */
    const char *model_file;
} graphss_serve_options;

GRAPHSS_API void graphss_serve_options_init(graphss_serve_options *opt);
GRAPHSS_API const graphss_option *graphss_serve_options_table(void);

/* Begins to listen; requests wait until graphss_server_run. The store is open for writing and
 * borrowed; model and live become the server's, also on an error. INVALID: an option, or an
 * address that is not ours alone without tokens and TLS; IO: the address is taken,
 * libmicrohttpd is missing. */
GRAPHSS_MUST_CHECK graphss_status graphss_server_new(graphss_ctx *ctx, graphss_server **out,
    graphss_store *store, graphss_model *model, graphss_live *live,
    const graphss_serve_options *opt);
/* Its address: "http://127.0.0.1:8321/" or "unix:PATH". Borrowed. */
GRAPHSS_API const char *graphss_server_address(const graphss_server *server);
/* Serves until the progress callback of ctx asks to stop, then answers the waiting requests
 * and returns OK; otherwise the error that stopped it. */
GRAPHSS_MUST_CHECK graphss_status graphss_server_run(graphss_ctx *ctx, graphss_server *server);
/* The same from another thread, or before it runs. */
GRAPHSS_API void graphss_server_stop(graphss_server *server);
/* Reads tokens and model_file again, soon; safe in a handler of signals. New tokens hold at
 * once. Another model is loaded beside the one in use, which answers until then, and takes
 * over between two batches (graphss_live_adopt): nothing is lost, and requests wait for a
 * whole pass. While an alert is open it waits. What cannot be read is logged, and changes
 * nothing. */
GRAPHSS_API void graphss_server_reload(graphss_server *server);
GRAPHSS_API void graphss_server_free(graphss_ctx *ctx, graphss_server *server);

/* A new token, of a role ("read", "write" or "admin") and a name: its SHA-256 is added to the
 * file, which is made if need be, and the token itself is in no file. The caller releases it.
 * INVALID, IO. */
GRAPHSS_MUST_CHECK graphss_status graphss_server_token_add(
    graphss_ctx *ctx, char **token, const char *path, const char *role, const char *name);

#ifdef __cplusplus
}
#endif
#endif
