/* A mutator for SPIR-V: it works on words and knows where ids are likely, so that modules stay
 * nearly valid. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    if (size < 24 || seed % 8 == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    size_t count = size / 4;
    uint32_t *words = malloc(count * 4);
    if (!words)
        return size;
    memcpy(words, data, count * 4);
    srand(seed);
    for (int changes = 1 + rand() % 3; changes > 0; changes--) {
        size_t at = 5 + (size_t)rand() % (count - 5), from = 5 + (size_t)rand() % (count - 5);
        uint32_t bound = words[3] ? words[3] : 1;
        switch (rand() % 5) {
        case 0: /* another id */
            words[at] = (uint32_t)rand() % bound;
            break;
        case 1: /* what stands elsewhere */
            words[at] = words[from];
            break;
        case 2: { /* exchanged */
            uint32_t swap = words[at];
            words[at] = words[from];
            words[from] = swap;
            break;
        }
        case 3: /* a near opcode, id or literal */
            words[at] += (uint32_t)(rand() % 5) - 2;
            break;
        default: /* one bit */
            words[at] ^= 1u << rand() % 32;
            break;
        }
    }
    memcpy(data, words, count * 4);
    free(words);
    return size;
}
