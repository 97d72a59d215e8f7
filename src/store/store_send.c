/* store_send.c - alerts leave the outbox: signed webhooks, and Alertmanager's API, version 2.
 *
 * A message stays in the outbox until all receivers took it, so it arrives at least once; its
 * webhook-id is the same each time. Alertmanager forgets alerts that are not repeated: open
 * alerts are pushed every minute, and end five minutes after the last push. */
#include "data/digest.h"
#include "store/store_private.h"
#include <curl/curl.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HASH = 32, BLOCK = 64, MESSAGES = 100 /* at once */ };
static const double PUSH = 60, LIVES = 300, FIRST_WAIT = 5, LONGEST_WAIT = 600; /* seconds */
static const long TIMEOUT = 5;

/* ---- signatures ---- */

static void sha256(
    unsigned char out[HASH], const void *a, size_t n_a, const void *b, size_t n_b)
{
    char hex[2 * HASH + 1];
    graphss_i_digest d;
    graphss_i_digest_begin(&d, GRAPHSS_I_SHA256);
    graphss_i_digest_add(&d, a, n_a);
    graphss_i_digest_add(&d, b, n_b);
    graphss_i_digest_end(&d, hex);
    for (size_t i = 0; i < HASH; i++) {
        const char pair[3] = {hex[2 * i], hex[2 * i + 1], 0};
        out[i] = (unsigned char)strtoul(pair, NULL, 16);
    }
}

void graphss_i_hmac_sha256(
    unsigned char *out, const void *key, size_t n_key, const void *text, size_t n)
{
    unsigned char block[BLOCK] = {0}, inner[HASH];
    if (n_key > BLOCK)
        sha256(block, key, n_key, "", 0);
    else if (n_key)
        memcpy(block, key, n_key);
    for (size_t i = 0; i < BLOCK; i++)
        block[i] ^= 0x36;
    sha256(inner, block, BLOCK, text, n);
    for (size_t i = 0; i < BLOCK; i++)
        block[i] ^= 0x36 ^ 0x5C;
    sha256(out, block, BLOCK, inner, HASH);
}

static void base64(char out[2 * HASH], const unsigned char in[HASH])
{
    static const char digit[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < HASH; i += 3) {
        const uint32_t x = (uint32_t)in[i] << 16 |
                           (i + 1 < HASH ? (uint32_t)in[i + 1] << 8 : 0) |
                           (i + 2 < HASH ? in[i + 2] : 0);
        for (size_t j = 0; j < 4; j++)
            *out++ = i + j > HASH ? '=' : digit[x >> (18 - 6 * j) & 63];
    }
    *out = '\0';
}

/* ---- HTTP ---- */

static size_t ignore(char *bytes, size_t size, size_t n, void *user)
{
    (void)bytes;
    (void)user;
    return size * n;
}

/* Aborts a request if the progress callback asks to stop. */
static int go_on(
    void *user, curl_off_t total, curl_off_t done, curl_off_t up_total, curl_off_t up_done)
{
    (void)total;
    (void)done;
    (void)up_total;
    (void)up_done;
    return graphss_i_pulse(user) != GRAPHSS_OK;
}

/* The result of a request. */
typedef struct answer {
    long code;    /* 0: none came */
    double again; /* seconds the receiver asks to wait, 0: none */
    char error[CURL_ERROR_SIZE];
} answer;

static graphss_status post(graphss_ctx *ctx, answer *out, const char *url, const char *body,
    struct curl_slist *headers)
{
    curl_off_t again = 0;
    CURL *c = curl_easy_init();
    *out = (answer){0};
    if (!c || curl_easy_setopt(c, CURLOPT_ERRORBUFFER, out->error) ||
        curl_easy_setopt(c, CURLOPT_URL, url) || curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L) ||
        curl_easy_setopt(c, CURLOPT_USERAGENT, "graphss") ||
        curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, TIMEOUT) ||
        curl_easy_setopt(c, CURLOPT_TIMEOUT, 2 * TIMEOUT) ||
        curl_easy_setopt(c, CURLOPT_HTTPHEADER, headers) ||
        curl_easy_setopt(c, CURLOPT_POSTFIELDS, body) ||
        curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, ignore) ||
        curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, go_on) ||
        curl_easy_setopt(c, CURLOPT_XFERINFODATA, ctx) ||
        curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L)) {
        curl_easy_cleanup(c);
        return graphss_i_nomem(ctx, 0);
    }
    const CURLcode code = curl_easy_perform(c);
    if (code == CURLE_OK) {
        (void)curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &out->code);
        (void)curl_easy_getinfo(c, CURLINFO_RETRY_AFTER, &again);
        out->again = (double)again;
    } else if (!out->error[0]) {
        snprintf(out->error, sizeof out->error, "%s", curl_easy_strerror(code));
    }
    curl_easy_cleanup(c);
    if (code == CURLE_ABORTED_BY_CALLBACK)
        return GRAPHSS_ERR_CANCELLED;
    return code == CURLE_OUT_OF_MEMORY ? graphss_i_nomem(ctx, 0) : GRAPHSS_OK;
}

static bool add_header(struct curl_slist **list, const char *name, const char *value)
{
    char line[256];
    snprintf(line, sizeof line, "%s: %s", name, value);
    struct curl_slist *more = curl_slist_append(*list, line);
    *list = more ? more : *list;
    return more != NULL;
}

/* ---- webhooks: Standard Webhooks ---- */

static graphss_status send_webhook(graphss_ctx *ctx, answer *out,
    const graphss_store_receivers *to, const char *json, uint64_t id, double now)
{
    unsigned char hash[HASH];
    char name[64], time[32], signature[2 * HASH + 4] = "v1,";
    struct curl_slist *headers = NULL;
    sha256(hash, json, strlen(json), "", 0);
    snprintf(name, sizeof name, "graphss_%llu_%02x%02x%02x%02x", (unsigned long long)id,
        hash[0], hash[1], hash[2], hash[3]);
    snprintf(time, sizeof time, "%.0f", floor(now));
    char *content = graphss_i_format(ctx, "%s.%s.%s", name, time, json);
    if (!content)
        return GRAPHSS_ERR_NOMEM;
    if (to->secret)
        graphss_i_hmac_sha256(hash, to->secret, strlen(to->secret), content, strlen(content));
    base64(signature + 3, hash);
    bool good = add_header(&headers, "Content-Type", "application/json") &&
                add_header(&headers, "webhook-id", name) &&
                add_header(&headers, "webhook-timestamp", time);
    if (good && to->secret)
        good = add_header(&headers, "webhook-signature", signature);
    const graphss_status st =
        good ? post(ctx, out, to->webhook, json, headers) : graphss_i_nomem(ctx, 0);
    curl_slist_free_all(headers);
    graphss_release(ctx, content);
    return st;
}

/* ---- Alertmanager ---- */

typedef struct pushed {
    json_t *list;
    double now;
    const char *link;
} pushed;

/* Alerts that are open, and those settled within the last five minutes. */
static graphss_status push_one(void *user, const graphss_store_alert *a)
{
    pushed *p = user;
    const bool open = a->state <= GRAPHSS_ALERT_ACKNOWLEDGED;
    char id[24], from[GRAPHSS_TIME_TEXT], to[GRAPHSS_TIME_TEXT], p_value[32], text[160];
    if (!open && !(a->settled >= p->now - LIVES))
        return GRAPHSS_OK;
    snprintf(id, sizeof id, "%llu", (unsigned long long)a->id);
    snprintf(p_value, sizeof p_value, "%.3g", a->p_value);
    snprintf(text, sizeof text, "The graph looks tampered with in group %.80s", a->group);
    const double end = open ? p->now + LIVES : a->settled;
    graphss_time_text(from, a->t < end ? a->t : end - 1); /* times of events may be ahead */
    graphss_time_text(to, end);
    json_t *o = json_pack("{s:{s:s,s:s,s:s,s:s},s:{s:s,s:s,s:s},s:s,s:s,s:s}", "labels",
        "alertname", "GraphssTampering", "group", a->group, "alert", id, "severity", "warning",
        "annotations", "summary", text, "p_value", p_value, "state",
        graphss_alert_state_text(a->state), "startsAt", from, "endsAt", to, "generatorURL",
        p->link ? p->link : "");
    return o && !json_array_append_new(p->list, o) ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
}

static graphss_status push_alerts(graphss_ctx *ctx, answer *out, graphss_store *s,
    const graphss_store_receivers *to, double now)
{
    pushed p = {json_array(), now, to->link};
    struct curl_slist *headers = NULL;
    graphss_status st =
        p.list ? graphss_store_alerts(ctx, s, push_one, &p) : graphss_i_nomem(ctx, 0);
    char *body = st ? NULL : json_dumps(p.list, JSON_COMPACT);
    char *url = graphss_i_format(ctx, "%s/api/v2/alerts", to->alertmanager);
    *out = (answer){.code = 200};
    if (!st && (!body || !url || !add_header(&headers, "Content-Type", "application/json")))
        st = graphss_i_nomem(ctx, 0);
    if (!st && json_array_size(p.list))
        st = post(ctx, out, url, body, headers);
    curl_slist_free_all(headers);
    graphss_release(ctx, url);
    free(body);
    json_decref(p.list);
    return st;
}

/* ---- the outbox ---- */

/* Did the receiver take it? If not, it is noted why, and when is next. */
static bool took(graphss_store *s, const answer *a, const char *who, double now)
{
    if (a->code >= 200 && a->code < 300) {
        s->send_failures = 0;
        s->send_again = 0;
        s->trouble[0] = '\0';
        return true;
    }
    double wait = FIRST_WAIT * ldexp(1, (int)(s->send_failures < 10 ? s->send_failures : 10));
    wait = wait < LONGEST_WAIT ? wait : LONGEST_WAIT;
    s->send_failures++;
    s->send_again = now + (a->again > wait ? a->again : wait);
    if (a->code)
        snprintf(s->trouble, sizeof s->trouble, "%s answers %ld", who, a->code);
    else
        snprintf(s->trouble, sizeof s->trouble, "%s: %s", who, a->error);
    return false;
}

graphss_status graphss_store_send(graphss_ctx *ctx, graphss_store *s, size_t *sent,
    char trouble[GRAPHSS_STORE_TROUBLE], const graphss_store_receivers *to, double now)
{
    if (GRAPHSS_I_LACKS(ctx, {"store", s}, {"receivers", to}))
        return GRAPHSS_ERR_INVALID;
    size_t count = 0;
    graphss_status st = GRAPHSS_OK;
    answer a;
    /* The clock may have been set back. */
    bool good = !(now < s->send_again && s->send_again < now + 2 * LONGEST_WAIT);
    bool push = !(now >= s->pushed && now < s->pushed + PUSH);
    for (int i = 0; i < MESSAGES && good && !st; i++) {
        uint64_t id = 0;
        char *json = NULL;
        st = graphss_store_message(ctx, s, &id, &json, now);
        if (st || !json)
            break;
        if (to->alertmanager) {
            st = push_alerts(ctx, &a, s, to, now);
            good = !st && took(s, &a, "alertmanager", now);
            push = push && !good;
            s->pushed = good ? now : s->pushed;
        }
        if (!st && good && to->webhook) {
            st = send_webhook(ctx, &a, to, json, id, now);
            a.code = a.code == 410 ? 200 : a.code; /* gone: it wants no more */
            good = !st && took(s, &a, "webhook", now);
        }
        if (!st && good)
            st = graphss_store_message_done(ctx, s, id, true, 0);
        count += !st && good;
        graphss_release(ctx, json);
    }
    if (!st && good && push && to->alertmanager) {
        st = push_alerts(ctx, &a, s, to, now);
        if (!st && took(s, &a, "alertmanager", now))
            s->pushed = now;
    }
    if (trouble)
        memcpy(trouble, s->trouble, sizeof s->trouble);
    if (sent && !st)
        *sent = count;
    return st;
}
