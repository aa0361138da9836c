/*
 * piecemeal-deferred: a deferred renderer of our own without a window, the workload that tests,
 * benchmarks and the demo share. See --help.
 */
#include "examples/common/picture.h"
#include "examples/deferred/renderer.h"
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct options {
    uint32_t frames, width, height;
    unsigned scene;
    uint64_t seed;
    const char *png, *hash, *time, *device;
    bool record_once, quiet;
};

static const char help[] =
    "usage: piecemeal-deferred [OPTION]...\n"
    "Draws frames of a lit scene with Vulkan, without a window.\n"
    "\n"
    "  --frames N       frames to draw (60)\n"
    "  --size WxH       pixels (640x360)\n"
    "  --scene N        0 courtyard at night, 1 valley in the evening, 2 hall by day (0)\n"
    "  --seed N         the scene's seed (1)\n"
    "  --png OUT.png    write the last frame\n"
    "  --hash FILE      write a line a frame: its BLAKE2b-128\n"
    "  --time FILE      write a line a frame: milliseconds since the frame before\n"
    "  --device NAME    use the device whose name contains NAME\n"
    "  --record-once    record the commands once, submit them every frame\n"
    "  --quiet          say nothing\n"
    "  --help           this text\n";

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

/* 0: run; 1: help was printed; -1: usage error, printed. */
static int parse(struct options *o, int argc, char **argv)
{
    enum { FRAMES = 1000, SIZE, SCENE, SEED, PNG, HASH, TIME, DEVICE, ONCE, QUIET, HELP };
    static const struct option known[] = {
        {"frames", 1, NULL, FRAMES}, {"size", 1, NULL, SIZE},     {"scene", 1, NULL, SCENE},
        {"seed", 1, NULL, SEED},     {"png", 1, NULL, PNG},       {"hash", 1, NULL, HASH},
        {"time", 1, NULL, TIME},     {"device", 1, NULL, DEVICE}, {"record-once", 0, NULL, ONCE},
        {"quiet", 0, NULL, QUIET},   {"help", 0, NULL, HELP},     {0},
    };
    uint64_t number;
    int index = 0;
    for (int option; (option = getopt_long(argc, argv, "", known, &index)) != -1;) {
        bool good = true;
        switch (option) {
        case FRAMES:
            good = parse_number(optarg, 1, UINT32_MAX, &number);
            o->frames = good ? (uint32_t)number : 0;
            break;
        case SCENE:
            good = parse_number(optarg, 0, PM_SCENES - 1, &number);
            o->scene = good ? (unsigned)number : 0;
            break;
        case SEED:
            good = parse_number(optarg, 0, UINT64_MAX, &o->seed);
            break;
        case SIZE:
            good = parse_size(optarg, &o->width, &o->height);
            break;
        case PNG:
            o->png = optarg;
            break;
        case HASH:
            o->hash = optarg;
            break;
        case TIME:
            o->time = optarg;
            break;
        case DEVICE:
            o->device = optarg;
            break;
        case ONCE:
            o->record_once = true;
            break;
        case QUIET:
            o->quiet = true;
            break;
        case HELP:
            fputs(help, stdout);
            return 1;
        default:
            fputs("piecemeal-deferred: see --help\n", stderr);
            return -1;
        }
        if (!good) {
            fprintf(stderr, "piecemeal-deferred: --%s: '%s' is not possible; see --help\n",
                    known[index].name, optarg);
            return -1;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "piecemeal-deferred: what is '%s'? See --help\n", argv[optind]);
        return -1;
    }
    return 0;
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

struct outputs {
    FILE *hash, *time;
    double last;
};

static bool open_output(FILE **file, const char *path, struct pm_error *error)
{
    if (!path)
        return true;
    *file = fopen(path, "w");
    if (!*file)
        return pm_fail_errno(error, errno, "%s", path);
    setvbuf(*file, NULL, _IOLBF,
            0); /* a line is there as soon as its frame is, whatever comes next */
    return true;
}

static bool close_output(FILE *file, const char *path, struct pm_error *error)
{
    if (!file || fclose(file) == 0)
        return true;
    return pm_fail_errno(error, errno, "%s", path);
}

/* A complete frame, in order. */
static void take_picture(const struct options *o, struct outputs *out, const struct pm_frame *frame)
{
    const double now = now_ms();
    if (out->time)
        fprintf(out->time, "%.3f\n", now - out->last);
    out->last = now;
    if (out->hash) {
        char hash[PM_PICTURE_HASH_SIZE];
        pm_picture_hash(frame->picture.mapped, o->width, o->height, hash);
        fprintf(out->hash, "%s\n", hash);
    }
}

static bool draw(const struct options *o, struct pm_renderer *r, struct outputs *out,
                 struct pm_error *error)
{
    out->last = now_ms();
    const double start = out->last;
    for (uint32_t i = 0; i < o->frames + PM_FRAMES_IN_FLIGHT; i++) {
        struct pm_frame *frame = &r->frames[i % PM_FRAMES_IN_FLIGHT];
        const bool pending = frame->submitted;
        if (!pm_renderer_wait(r, frame, error))
            return false;
        if (pending)
            take_picture(o, out, frame);
        if (i >= o->frames)
            continue;
        pm_renderer_update(r, frame, (float)i / 60.0f);
        if (!pm_renderer_submit(r, frame, error))
            return false;
    }
    if (!o->quiet)
        printf("%s, seed %llu, on %s: %u frames of %ux%u, %.1f ms a frame\n",
               pm_scene_name(o->scene), (unsigned long long)o->seed, r->gpu->properties.deviceName,
               o->frames, o->width, o->height, (now_ms() - start) / o->frames);
    const struct pm_frame *last = &r->frames[(o->frames - 1) % PM_FRAMES_IN_FLIGHT];
    return !o->png || pm_picture_write(o->png, last->picture.mapped, o->width, o->height, error);
}

static bool run(const struct options *o, struct pm_error *error)
{
    struct pm_gpu gpu = {0};
    struct pm_renderer renderer = {0};
    struct outputs out = {0};
    bool done = false;
    struct pm_scene *scene = malloc(sizeof *scene);
    if (!scene)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    if (!pm_scene_init(scene, o->scene, o->seed)) {
        pm_fail(error, PM_ERROR_MEMORY, "the scene does not fit into memory");
        goto end;
    }
    const struct pm_gpu_info info = {.application = "piecemeal-deferred", .device = o->device};
    if (!pm_gpu_init(&gpu, &info, error) ||
        !pm_renderer_init(&renderer, &gpu, scene, o->width, o->height, o->record_once, error) ||
        !open_output(&out.hash, o->hash, error) || !open_output(&out.time, o->time, error))
        goto end;
    done = draw(o, &renderer, &out, error);
end:
    done = close_output(out.hash, o->hash, done ? error : NULL) && done;
    done = close_output(out.time, o->time, done ? error : NULL) && done;
    pm_renderer_finish(&renderer);
    pm_gpu_finish(&gpu);
    pm_scene_finish(scene);
    free(scene);
    return done;
}

int main(int argc, char **argv)
{
    struct options options = {.frames = 60, .width = 640, .height = 360, .seed = 1};
    const int parsed = parse(&options, argc, argv);
    if (parsed)
        return parsed < 0 ? 2 : 0;
    struct pm_error error = {0};
    if (run(&options, &error))
        return 0;
    fprintf(stderr, "piecemeal-deferred: %s\n", error.message);
    return 1;
}
