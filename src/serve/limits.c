/* limits.c - token buckets by address, in a table of fixed size: an attacker with many
 * addresses costs no memory. Two addresses in one slot share it, which refuses too much rather
 * than too little; the slot depends on a secret, so that an attacker cannot choose it. Of an
 * IPv6 address the first half counts, which is the network of one customer. */
#include "serve/http.h"
#include <math.h>
#include <netinet/in.h>
#include <string.h>

static const double FAILURES = 20, FAILURES_BACK = 1.0 / 3;

static graphss_i_bucket_of *bucket(
    graphss_i_limits *l, const struct sockaddr *from, double rate, double now)
{
    unsigned char address[16] = {0};
    if (from && from->sa_family == AF_INET)
        memcpy(address, &((const struct sockaddr_in *)(const void *)from)->sin_addr, 4);
    else if (from && from->sa_family == AF_INET6)
        memcpy(address, &((const struct sockaddr_in6 *)(const void *)from)->sin6_addr, 8);
    uint64_t hash = l->secret;
    for (size_t i = 0; i < sizeof address; i++) {
        hash = (hash ^ address[i]) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    graphss_i_bucket_of *b = &l->item[hash % GRAPHSS_I_ADDRESSES];
    if (b->at == 0)
        *b = (graphss_i_bucket_of){.requests = 2 * rate, .failures = FAILURES, .at = now};
    const double passed = now > b->at ? now - b->at : 0;
    b->requests = fmin(b->requests + passed * rate, 2 * rate);
    b->failures = fmin(b->failures + passed * FAILURES_BACK, FAILURES);
    b->at = now;
    return b;
}

bool graphss_i_limits_take(
    graphss_i_limits *l, const struct sockaddr *from, double rate, double now)
{
    graphss_i_bucket_of *b = bucket(l, from, rate, now);
    if (rate > 0 && b->requests < 1)
        return false;
    b->requests -= 1;
    return true;
}

bool graphss_i_limits_failed(graphss_i_limits *l, const struct sockaddr *from, double now)
{
    graphss_i_bucket_of *b = bucket(l, from, 1, now);
    if (b->failures < 1)
        return false;
    b->failures -= 1;
    return true;
}
