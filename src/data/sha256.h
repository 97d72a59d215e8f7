/* sha256.h - libmd's SHA-256, by the processor's own instructions where it has them: the hash
 * of the data is a sixth of the time of predict otherwise. */
#ifndef GRAPHSS_SHA256_H
#define GRAPHSS_SHA256_H

#include <sha2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Has the processor the instructions? Asking takes as long as hashing some KB. */
bool graphss_i_sha256_fast(void);
/* SHA256Update; where fast, quicker if what came before is whole blocks of 64 bytes. */
void graphss_i_sha256_update(SHA2_CTX *sha, const uint8_t *data, size_t n, bool fast);

#endif
