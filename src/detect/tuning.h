/* tuning.h - every number of the recovery method that was chosen rather than learned, with the
 * reason. Choices were made on seeds below 1000 of Cora and Citeseer, with attackers that the
 * rehearsal does not contain (docs/recovery.md). */
#ifndef GRAPHSS_TUNING_H
#define GRAPHSS_TUNING_H

/* ---- the class model (class_model.c) ---- */

/* Ratios P(item | class) / P(item) stay within 1/20 and 20: one edge or feature, however rare,
 * must not decide alone. */
#define TUNE_RATIO_MOST 20.0
/* Pseudo-count, in nodes, that pulls the ratio of a feature towards 1. */
#define TUNE_FEATURE_PRIOR 2.0
/* Exponent of the features an attacker picks: the strongest evidence is preferred. Between 1
 * and 2 the figures hardly change. */
#define TUNE_LOUD 1.5
/* How far a given training label is believed; a tenth of the labels may be wrong. */
#define TUNE_LABEL_TRUST 0.9

/* ---- class evidence (class_evidence.c) ---- */

/* Share of a tampered node's features and of its edges that is the attacker's. With 0.3 loud
 * attacks are read wrongly, since half of a victim's features is then foreign. */
#define TUNE_FOREIGN_FEATURES 0.5
#define TUNE_FOREIGN_EDGES 0.4
/* Weights of one feature and one edge: they are not independent, as the product presumes. From
 * TUNE_MANY_FEATURES features on the weight falls with the root of their number. */
#define TUNE_FEATURE_WEIGHT 0.4
#define TUNE_EDGE_WEIGHT 0.8
#define TUNE_MANY_FEATURES 36.0
/* Probabilities have this, spread over the classes, added before the logarithm, and evidence
 * is cut at this: no source is ever certain. */
#define TUNE_DOUBT 0.07
#define TUNE_EVIDENCE_LEAST (-6.0)
/* Pseudo-vote, spread over all classes, of neighbours, labelled or not, and of labels that
 * were propagated, which are small. */
#define TUNE_VOTE_PRIOR 0.3
#define TUNE_PROPAGATED_PRIOR 0.02
/* Label propagation with the weight of the method of that name, and fewer steps, for time. */
#define TUNE_PROPAGATION 0.9
#define TUNE_PROPAGATION_STEPS 20
/* Classes an attacker may push to that are considered: the most likely ones. More cost time.
 */
#define TUNE_TARGETS 8
/* Added to the classifier's probability of a class for the chance that an attacker pushes
 * there: the attack may have failed. With 1 attacks that succeed are read 1.2 points worse. */
#define TUNE_TARGET_PRIOR 0.1

/* ---- anomalies (anomaly.c) ---- */

/* Loudness is the mean of the ten loudest features. */
#define TUNE_LOUDEST 10
/* A feature speaks strongly for a class that has it this much more often (log). */
#define TUNE_STRONG 1.0
/* A feature is evidence for a class that has it this much more often; training nodes in which
 * pairs of features are counted. */
#define TUNE_SPEAKS 1.5
#define TUNE_REFERENCE 2048
/* Features of a node whose pairs are counted, and neighbours compared for similarity and
 * triangles, evenly spaced: long rows and hubs would cost too much. */
#define TUNE_SAMPLED 64
/* Standardised anomalies are cut here, and their squares here. With 3 and 9 swaps are read two
 * points better (six splits each of Cora and Citeseer), but alerts on small graphs miss some.
 */
#define TUNE_FARTHEST 5.0
#define TUNE_SQUARE_MOST 9.0

/* ---- the rehearsal (rehearsal.c) ---- */

/* Labelled nodes that are rehearsed with: more cost time and gain nothing; with fewer the
 * penalties of the fits rise in proportion. Where there are fewer validation nodes than the
 * least, training nodes join them. */
#define TUNE_REHEARSED_MOST 600
#define TUNE_REHEARSED_LEAST 150
/* With fewer nodes than this nothing is learned, and the classifier is believed; a stratum of
 * the alert's reference with fewer takes those of all strata. */
#define TUNE_NEEDED 20
/* Rounds of recipes, and of Nettack beside them. */
#define TUNE_ROUNDS 8
#define TUNE_NETTACK_ROUNDS 2
/* Share of the nodes that is attacked in a round, of the others that changes benignly, and of
 * the edges that the past of a node that grew lacks: honest growth is rehearsed, too. */
#define TUNE_HALF 0.5
/* Candidates for edges that pull hardest, and for features that speak loudest; at most a fifth
 * of these are changed at one node. */
#define TUNE_LOUD_EDGES 60
#define TUNE_LOUD_FEATURES 400

/* ---- alerts (reference.c, alert/) ---- */

/* Honest change may have this many times the tail of the rehearsed one at every threshold.
 * With 2, edges of all nodes to any others raise alerts on Citeseer; attacks have 30 times the
 * tail and more. */
#define TUNE_TOLERANCE 4.0
/* The same for looks, and by how much, in log odds, the validation nodes are taken to look
 * worse than they do: the middle of the scores is matched before (alert_score.c), so that less
 * is left to tolerate. Of 84 honest snapshots of Cora and Citeseer none alerts then. */
#define TUNE_STATIC_TOLERANCE 1.5
#define TUNE_STATIC_MARGIN 0.25
/* Share of the reference beyond which its tail is taken as exponential, and the least mean
 * excess of it, in log odds. */
#define TUNE_TAIL 0.1
#define TUNE_TAIL_LEAST 0.25
/* A snapshot is quiet, and nodes outside a group serve as its reference, above this p-value;
 * validation nodes count as contaminated where so many standard errors are above it. */
#define TUNE_QUIET 0.05
#define TUNE_CONTAMINATED_ERRORS 3.0
/* Nodes outside that it takes, as a multiple of those in the group. */
#define TUNE_OUTSIDE 4
/* New nodes of a class are called a wave if this share of them was attacked. */
#define TUNE_WAVE 0.3
/* Nodes are listed as long as this share of the list is expected to be innocent. With 0.1, 16
 * % of those listed on a graph of packages were. */
#define TUNE_LISTED_INNOCENT 0.03

/* ---- fits and inference (state_model.c, recover/graphss_infer.c) ---- */

/* Ridge penalties, per unit of weight. */
#define TUNE_READER_PENALTY 1e-2
#define TUNE_GATE_PENALTY 1e-3
/* Log odds of a state against untouched are cut here: a gate is never certain. */
#define TUNE_ODDS_MOST 8.0
/* Exponent of the odds among tampered states, whose sum stays: rehearsed ones differ more than
 * an attacker's own. Six splits each of Cora and Citeseer, 17 attackers: with 0.6 and 1 swaps
 * end 3 and 5 points lower on Cora, with 0 all of the states are read alike and most is lost.
 */
#define TUNE_STATE_CONTRAST 0.3
/* Dirichlet prior of the shares, in nodes: untouched, each other state. With 10 of untouched a
 * tenth of a clean graph of 600 nodes is thought hit. */
#define TUNE_PRIOR_UNTOUCHED 30.0
#define TUNE_PRIOR_TAMPERED 0.75
/* An attack is named from this share of tampered nodes on, above that of the clean snapshot:
 * nobody attacked eight splits of Cora and Citeseer, and 0.057 was found on one. */
#define TUNE_WORTH_NAMING 0.07
/* The previous snapshot counts as contaminated from this share on, above that of the clean one
 * and what few nodes, looked at or rehearsed with, give by chance: three standard errors,
 * since a false word here throws a good past away (one was too few for a weak model of 400
 * nodes). */
#define TUNE_CONTAMINATED 0.1

#endif
