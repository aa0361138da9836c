/* What the generated functions of a hostile program are made of (test_hostile.c). */
#pragma once

/* Notes that a function of the program was called in the place of one of the layer's. */
void hostile_called(const char *name);

#define HOSTILE(name)                                                                              \
    __attribute__((visibility("default"))) void name(void);                                        \
    void name(void)                                                                                \
    {                                                                                              \
        hostile_called(#name);                                                                     \
    }
