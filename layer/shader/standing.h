/*
 * What stands for a pipeline of the game's outside windows: itself, or the proven variant that a
 * bind binds in its place. It is said only while a bind has nothing else to do: its variant was
 * bound before, nobody counts its binds, it has none in several passes, and nothing is compared or
 * traced. Whoever changes any of that calls pm_standing_change behind it, and binds go the long way
 * until one of them has found out anew.
 *
 * Each pipeline has it, and beside them is a table of the same by handle, for the shortest way. A
 * handle's home in it are two slots, and a pipeline that finds one of them free has it as its own
 * from its first such bind until the game destroys it, so that what a bind finds there is always of
 * the pipeline that it asked for. Where others have both, a bind looks the pipeline up.
 *
 * Of slots of which a quarter is taken, three of a hundred pipelines have none, if their handles'
 * homes are as if by lot. Where more are taken and one finds none, or more find none, a table of
 * twice the size takes the place of the table. Nothing is copied: each
 * pipeline comes over when it is bound next, and so those stay behind that are not bound any more.
 * The smaller tables live as long as the device, since a bind may be reading them; what they say of
 * a pipeline that has not come over is as true as in the other.
 *
 * Thread safety: any thread. A bind never waits: where somebody else is at it, the next finds out.
 * Who changes something waits for a bind that is finding out, and for nobody else who changes
 * something, since that may be a thread of the lowest priority.
 */
#pragma once

#include "layer/core/lookup.h"

struct pm_pipeline;

enum {
    PM_STANDING_FIRST = 256, /* homes of a device's first table: 16 KiB */
    PM_STANDING_MOST = 32768 /* of its last: 2 MiB */
};

/* What stands. */
struct pm_stand {
    uint64_t stands;  /* a handle; 0: it is not known, or a bind has more to do */
    uint64_t careful; /* the same where something may begin that could see a variant, so that it
                         must be one that may be put back */
};

struct pm_standing_slot {
    _Alignas(32) _Atomic uint64_t game;     /* handle; 0: nothing is said of whose slot it is */
    _Atomic uint64_t stands, careful;       /* for it (struct pm_stand) */
    _Atomic(struct pm_pipeline *) pipeline; /* itself; NULL: the slot is nobody's */
};

struct pm_standing_home {
    _Alignas(64) struct pm_standing_slot slots[2]; /* in one cache line */
};

struct pm_standing_table {
    uint64_t mask; /* of the bytes from the first home to one */
    uint32_t homes;
    uint32_t refused;                  /* times that a pipeline has found no slot. Under the lock */
    _Atomic uint32_t taken;            /* slots that are a pipeline's */
    void *memory;                      /* that it lies in */
    struct pm_standing_table *smaller; /* the table before it */
    struct pm_standing_home at[];
};

struct pm_standing {
    _Atomic(struct pm_standing_table *) *shown; /* the table that binds read */
    struct pm_standing_table *table;            /* under lock */
    pthread_rwlock_t lock; /* who says something is alone; who takes it back need not be */
    _Atomic uint32_t turn; /* goes up when pipelines are to say anew what stands for them */
};

/* A pipeline's part; it begins as zeros. */
struct pm_stands {
    _Atomic uint64_t now;                    /* pm_stand.stands */
    _Atomic uint32_t turn;                   /* pm_standing.turn when that was said last */
    _Atomic(struct pm_standing_slot *) slot; /* its own; NULL: none. Given under lock */
    struct pm_standing_table *in; /* whose slot that is; it and the next are said before */
    uint64_t game;                /* the pipeline's handle */
};

/* Bytes from the first home to a handle's: a product's bits, and the handle's own. Of pointers to
 * objects of one size the product's alone may be the same again and again: 2 % of 4,000 had a slot
 * where they lie 0x1f90 bytes apart. */
static inline uint64_t pm_standing_home(const struct pm_standing_table *table, uint64_t game)
{
    return ((game * PM_LOOKUP_ANYTHING) >> 32 ^ game) & table->mask;
}

static inline const struct pm_standing_slot *pm_standing_at(const struct pm_standing_table *table,
                                                            uint64_t bytes)
{
    return (const struct pm_standing_slot *)((const char *)table + bytes +
                                             offsetof(struct pm_standing_table, at));
}

/* What is said of the pipeline with that handle; NULL: nothing. VK_NULL_HANDLE stands for itself.
 * table: what a bind has read of pm_standing.shown. */
static PM_FAST inline __attribute__((always_inline)) const struct pm_standing_slot *
pm_standing_find(const struct pm_standing_table *table, uint64_t game)
{
    uint64_t home = pm_standing_home(table, game);
    if (__builtin_expect(PM_READ(uint64_t, pm_standing_at(table, home)->game) != game, 0)) {
        home += sizeof(struct pm_standing_slot);
        if (PM_READ(uint64_t, pm_standing_at(table, home)->game) != game)
            return NULL;
    }
    __asm__("" : "+r"(home)); /* an address each: one for both takes an instruction more */
    return pm_standing_at(table, home);
}

/* Whether a bind that went the long way is to find out: nothing is said, or it was said before. */
static inline bool pm_standing_wants(const struct pm_standing *standing,
                                     const struct pm_stands *stands)
{
    return atomic_load_explicit(&stands->now, memory_order_relaxed) == 0 ||
           atomic_load_explicit(&stands->turn, memory_order_relaxed) !=
               atomic_load_explicit(&standing->turn, memory_order_relaxed);
}

/* shown: where binds read the table, until it is destroyed. NULL: out of memory. */
struct pm_standing *pm_standing_create(_Atomic(struct pm_standing_table *) *shown);
/* NULL is allowed. */
void pm_standing_destroy(struct pm_standing *standing);

/* A bind of the pipeline with that handle went the long way: says what stands, if find_out can
 * tell, which is asked once more where nobody can have changed it unseen. */
void pm_standing_learn(struct pm_standing *standing, struct pm_stands *stands,
                       struct pm_pipeline *pipeline, uint64_t game,
                       struct pm_stand (*find_out)(const struct pm_pipeline *pipeline));

/* Something of what stands has changed. */
void pm_standing_change(struct pm_standing *standing, struct pm_stands *stands);

/* The same of every pipeline, for pm_stand.careful. */
void pm_standing_change_all(struct pm_standing *standing);

/* The game destroys the pipeline, before the driver does. Waits for nobody. */
void pm_standing_forget(struct pm_stands *stands);
