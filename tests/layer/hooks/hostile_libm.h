/* A program with functions of libm's names, which are libm's but that they note who calls them. */
#pragma once

/* How often the layer called one of the program's. */
unsigned hostile_libm_calls(void);
