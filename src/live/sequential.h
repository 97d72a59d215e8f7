/* sequential.h - a test over an endless stream that keeps a promise on false alarms.
 *
 * Each changed node has a score. Its p-value is its rank among all earlier changes of the same
 * kind (conformal, ties broken at random), so if changes are exchangeable in time the p-values
 * are independent and uniform, whatever the score is (Vovk, Nouretdinov, Gammerman 2003). A
 * bet f(p) with mean 1 under that is an e-value; the bets are
 *     f(p) = 1 - d + d c p^(c - 1)   for several c < 1 and stakes d,
 * so that a few very small p-values among many, and many that are a little small, both pay. At
 * each check t the bets since the last one are multiplied to e_t and
 *     C_t = max(C_{t-1}, 1) e_t,
 * the mean of which over the bets is an e-detector (Shin, Ramdas, Rinaldo 2024): the expected
 * number of checks until it first reaches A is at least A if nothing changes. So A = checks in
 * a period / false alarms allowed in it. Weak evidence adds up in C; a losing streak is
 * forgotten at the max.
 *
 * The p-value since the trusted snapshot comes from a mixture of starts: of a wealth of 1, the
 * share 1 / (n (n + 1)) is bet from the n-th start on, n = 1, 2, ...; a start is a check after
 * which something is judged. What waits is kept. The wealth is a martingale, so 1 / its
 * greatest value is valid whenever it is read (Ville), and calm days before an attack cost
 * little. */
#ifndef GRAPHSS_SEQUENTIAL_H
#define GRAPHSS_SEQUENTIAL_H

#include "base/base.h"

enum {
    GRAPHSS_I_BINS = 512, /* of scores: ties within a bin are broken at random, which keeps the
                           * p-values exact */
    GRAPHSS_I_BETS = 12
};

/* The scores of one stratum of change so far. {0} is empty. */
typedef struct graphss_i_score_counts {
    uint64_t n;
    uint32_t count[GRAPHSS_I_BINS];
} graphss_i_score_counts;

/* The p-value of a score among those so far; u in (0, 1) breaks ties. */
double graphss_i_score_counts_rank(const graphss_i_score_counts *ref, double score, double u);
void graphss_i_score_counts_add(graphss_i_score_counts *ref, double score);

/* The bets on one group. {0} is a start. All are logarithms. */
typedef struct graphss_i_bets {
    double pending[GRAPHSS_I_BETS]; /* since the last check */
    double sum[GRAPHSS_I_BETS];     /* C of each bet */
    double
        product[GRAPHSS_I_BETS]; /* twice the wealth that is bet since the trusted snapshot */
    double largest;              /* the greatest wealth so far, averaged over the bets */
    uint64_t judged;             /* p-values since then, */
    uint64_t starts, started_at; /* further starts, and `judged` at the last */
} graphss_i_bets;

void graphss_i_bets_place(graphss_i_bets *bets, double p);
/* A check: the e-value C, to be compared with the threshold. */
double graphss_i_bets_check(graphss_i_bets *bets);
/* C as of the last check. */
double graphss_i_bets_value(const graphss_i_bets *bets);
/* Valid at any time; 1 at the start. */
double graphss_i_bets_p_value(const graphss_i_bets *bets);
/* An alert was settled: C starts afresh. */
void graphss_i_bets_restart(graphss_i_bets *bets);
/* The trusted snapshot moved: the products restart, C continues. */
void graphss_i_bets_trust(graphss_i_bets *bets);

#endif
