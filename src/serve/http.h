/* http.h - the functions of libmicrohttpd that are used, opened at run time: linked, it would
 * bring GnuTLS into every command. */
#ifndef GRAPHSS_SERVE_HTTP_H
#define GRAPHSS_SERVE_HTTP_H

#include "serve/serve_private.h"
#include <microhttpd.h>
#include <sys/socket.h>

typedef struct graphss_i_mhd {
    void *handle;
    __typeof__(MHD_start_daemon) *start_daemon;
    __typeof__(MHD_stop_daemon) *stop_daemon;
    __typeof__(MHD_quiesce_daemon) *quiesce_daemon;
    __typeof__(MHD_suspend_connection) *suspend_connection;
    __typeof__(MHD_resume_connection) *resume_connection;
    __typeof__(MHD_create_response_from_buffer) *create_response_from_buffer;
    __typeof__(MHD_create_response_from_callback) *create_response_from_callback;
    __typeof__(MHD_add_response_header) *add_response_header;
    __typeof__(MHD_queue_response) *queue_response;
    __typeof__(MHD_destroy_response) *destroy_response;
    __typeof__(MHD_lookup_connection_value) *lookup_connection_value;
    __typeof__(MHD_get_connection_info) *get_connection_info;
} graphss_i_mhd;
graphss_status graphss_i_mhd_open(graphss_ctx *ctx, graphss_i_mhd *out);
void graphss_i_mhd_close(graphss_i_mhd *mhd);

/* A socket that listens on ADDRESS:PORT or unix:PATH. *shown: its address, which the caller
 * releases; *alone: it is reachable only from this machine. */
graphss_status graphss_i_listen(
    graphss_ctx *ctx, int *out, char **shown, bool *alone, const char *where, bool tls);
/* A Unix socket's file is removed. */
void graphss_i_unlisten(const char *where);

/* ---- limits.c: of one address ---- */

enum { GRAPHSS_I_ADDRESSES = 4096 };
typedef struct graphss_i_bucket_of {
    unsigned char address[16];
    double requests, failures, at; /* tokens left, and when that was counted */
} graphss_i_bucket_of;
typedef struct graphss_i_limits {
    graphss_i_bucket_of item[GRAPHSS_I_ADDRESSES];
    uint64_t secret;
} graphss_i_limits;
/* True if this address may send a request now. rate requests a second, at most two seconds'
 * worth at once. */
bool graphss_i_limits_take(
    graphss_i_limits *limits, const struct sockaddr *from, double rate, double now);
/* A token was wrong. False: too many were, lately (20, and one more each three seconds). */
bool graphss_i_limits_failed(
    graphss_i_limits *limits, const struct sockaddr *from, double now);

#endif
