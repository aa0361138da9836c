#include "examples/common/example.h"
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static void print_help(const struct pm_example *example)
{
    printf("usage: %s [OPTION]...\n%s\n\n"
           "  --frames N       frames to draw (60)\n"
           "  --size WxH       pixels (640x360)\n"
           "  --scene N       ",
           example->name, example->purpose);
    for (unsigned i = 0; i < example->scene_count; i++)
        printf(" %u %s%s", i, example->scenes[i].help, i + 1 < example->scene_count ? "," : "");
    fputs(" (0)\n"
          "  --next N@FRAME   draw scene N from that frame on\n"
          "  --unnamed        do not tell the layer which scene is drawn\n"
          "  --seed N         the scene's seed (1)\n"
          "  --png OUT.png    write the last frame\n"
          "  --hash FILE      write a line a frame: its BLAKE2b-128\n"
          "  --time FILE      write a line a frame: milliseconds since the frame before\n"
          "  --passes FILE    write the names of the passes, and a line a frame: milliseconds\n"
          "                   that each took on the GPU, by its timestamps\n"
          "  --step           before each frame wait for a byte on standard input, and stop at\n"
          "                   its end; after each wait until it is complete and write a line:\n"
          "                   milliseconds from the begin of its recording\n"
          "  --scalar         use shaders split into scalars, as a translator from Direct3D\n"
          "                   hands them to the driver\n"
          "  --device NAME    use the device whose name contains NAME\n"
          "  --record-once    record the commands once, submit them every frame\n"
          "  --no-one-time    do not say of commands that they are submitted once\n"
          "  --secondary      record each pass into a secondary command buffer\n"
          "  --quiet          say nothing\n"
          "  --help           this text\n",
          stdout);
}

static bool parse_number(const char *text, uint64_t low, uint64_t high, uint64_t *out)
{
    char *end;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    if (errno || end == text || *end || *text == '-' || value < low || value > high)
        return false;
    *out = value;
    return true;
}

static bool parse_size(const char *text, uint32_t *width, uint32_t *height)
{
    unsigned w, h;
    int used = 0;
    if (sscanf(text, "%ux%u%n", &w, &h, &used) != 2 || text[used] || w < 16 || h < 16 || w > 8192 ||
        h > 8192)
        return false;
    *width = w;
    *height = h;
    return true;
}

/* N@FRAME */
static bool parse_next(const char *text, unsigned scenes, struct pm_example_options *o)
{
    unsigned scene, frame;
    int used = 0;
    if (sscanf(text, "%u@%u%n", &scene, &frame, &used) != 2 || text[used] || scene >= scenes ||
        frame == 0 || frame == UINT32_MAX)
        return false;
    o->next_scene = scene;
    o->next_from = frame;
    return true;
}

enum {
    FRAMES = 1000,
    SIZE,
    SCENE,
    NEXT,
    SEED,
    PNG,
    HASH,
    TIME,
    PASSES,
    STEP,
    SCALAR,
    DEVICE,
    ONCE,
    SECONDARY,
    UNNAMED,
    NO_ONE_TIME,
    QUIET,
    HELP
};

static const struct option known[] = {
    {"frames", 1, NULL, FRAMES},
    {"size", 1, NULL, SIZE},
    {"scene", 1, NULL, SCENE},
    {"next", 1, NULL, NEXT},
    {"unnamed", 0, NULL, UNNAMED},
    {"seed", 1, NULL, SEED},
    {"png", 1, NULL, PNG},
    {"hash", 1, NULL, HASH},
    {"time", 1, NULL, TIME},
    {"passes", 1, NULL, PASSES},
    {"step", 0, NULL, STEP},
    {"scalar", 0, NULL, SCALAR},
    {"device", 1, NULL, DEVICE},
    {"record-once", 0, NULL, ONCE},
    {"secondary", 0, NULL, SECONDARY},
    {"no-one-time", 0, NULL, NO_ONE_TIME},
    {"quiet", 0, NULL, QUIET},
    {"help", 0, NULL, HELP},
    {0},
};

static bool set_number(const struct pm_example *example, struct pm_example_options *o, int option)
{
    uint64_t number;
    switch (option) {
    case FRAMES:
        if (!parse_number(optarg, 1, UINT32_MAX - PM_FRAMES_IN_FLIGHT, &number))
            return false;
        o->frames = (uint32_t)number;
        return true;
    case SCENE:
        if (!parse_number(optarg, 0, example->scene_count - 1, &number))
            return false;
        o->scene = (unsigned)number;
        return true;
    case NEXT:
        return parse_next(optarg, example->scene_count, o);
    case SEED:
        return parse_number(optarg, 0, UINT64_MAX, &o->seed);
    default:
        return parse_size(optarg, &o->width, &o->height);
    }
}

static void set_other(struct pm_example_options *o, int option)
{
    switch (option) {
    case PNG:
        o->png = optarg;
        break;
    case HASH:
        o->hash = optarg;
        break;
    case TIME:
        o->time = optarg;
        break;
    case PASSES:
        o->passes = optarg;
        break;
    case STEP:
        o->step = true;
        break;
    case SCALAR:
        o->scalar = true;
        break;
    case DEVICE:
        o->device = optarg;
        break;
    case ONCE:
        o->record_once = true;
        break;
    case NO_ONE_TIME:
        o->no_one_time = true;
        break;
    case SECONDARY:
        o->secondary = true;
        break;
    case UNNAMED:
        o->unnamed = true;
        break;
    default:
        o->quiet = true;
        break;
    }
}

int pm_example_parse(const struct pm_example *example, struct pm_example_options *o, int argc,
                     char **argv)
{
    *o = (struct pm_example_options){
        .width = 640, .height = 360, .seed = 1, .next_from = UINT32_MAX};
    int index = 0;
    for (int option; (option = getopt_long(argc, argv, "", known, &index)) != -1;) {
        if (option == HELP) {
            print_help(example);
            return 1;
        }
        if (option < FRAMES) {
            fprintf(stderr, "%s: see --help\n", example->name);
            return -1;
        }
        if (option == SECONDARY && !example->secondaries) {
            fprintf(stderr, "%s: it has no secondary command buffers\n", example->name);
            return -1;
        }
        if (option != FRAMES && option != SIZE && option != SCENE && option != NEXT &&
            option != SEED) {
            set_other(o, option);
        } else if (!set_number(example, o, option)) {
            fprintf(stderr, "%s: --%s: '%s' is not possible; see --help\n", example->name,
                    known[index].name, optarg);
            return -1;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "%s: what is '%s'? See --help\n", example->name, argv[optind]);
        return -1;
    }
    if (!o->frames)
        o->frames = o->step ? UINT32_MAX : 60;
    return 0;
}
