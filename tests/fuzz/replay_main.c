/* replay_main.c - runs a fuzz target, without libFuzzer, over the files named on the command
 * line, and over each of them cut short and with single bytes changed. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LARGEST = 1 << 20, VARIANTS = 64 };

int main(int argc, char **argv)
{
    int run = 0;
    uint8_t *bytes = malloc(LARGEST);
    for (int a = 1; bytes && a < argc; a++) {
        FILE *file = fopen(argv[a], "rb");
        if (!file) {
            perror(argv[a]);
            free(bytes);
            return 1;
        }
        const size_t n = fread(bytes, 1, LARGEST, file);
        fclose(file);
        LLVMFuzzerTestOneInput(bytes, n);
        for (size_t v = 0; v < VARIANTS && n; v++) {
            const size_t at = n * v / VARIANTS;
            LLVMFuzzerTestOneInput(bytes, at);
            bytes[at] ^= (uint8_t)(1u << v % 8);
            LLVMFuzzerTestOneInput(bytes, n);
            bytes[at] ^= (uint8_t)(1u << v % 8);
        }
        run++;
    }
    free(bytes);
    printf("%d seeds replayed\n", run);
    return run ? 0 : 1;
}
