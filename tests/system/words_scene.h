/*
 * What the programs of constants.sh draw and compute: strips of a picture and sums, each of a call
 * of its own, by two shaders that hang on words. How a call gets its words is the program's.
 */
#pragma once

#include "tests/gpu/gpu_private.h"

#include <stdio.h>

enum { SIDE = 64, LANES = 32 };

struct words_scene {
    struct pm_gpu gpu;
    int calls;
    VkPipeline drawn, dispatched;
    struct gpu_image target;
    struct pm_gpu_buffer vertices, sums, texels;
};

/* The pipelines of NAME.frag and NAME.comp, with the layout that gpu has by now, and buffers. */
void words_scene_make(struct words_scene *scene, const char *name, int calls);
void words_scene_destroy(struct words_scene *scene);

/* Records the picture; give records what call i is given before its draw. */
void words_scene_draw(const struct words_scene *scene, VkCommandBuffer commands,
                      void (*give)(void *user, VkCommandBuffer commands, int i), void *user);

/* Appends the picture's and the sums' bytes. */
void words_scene_write(const struct words_scene *scene, FILE *file);

/* The whole of main: run writes to a file; usual is the value of the word that most calls have. */
int words_scene_main(int argc, char **argv, void (*run)(FILE *file, int usual));
