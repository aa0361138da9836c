/*
 * The canonical module, which a shader's key and everything that is counted of it rest on, and what else is asked of
 * an original module (DESIGN, Canonical module; HAZARDS 3). Fragment and compute shaders only.
 *
 * Units: sizes are in 32-bit words; words are in host byte order.
 * Ownership: output words are malloc'ed; the caller frees them with pm_words_finish.
 * Thread safety: no state; any thread.
 */
#pragma once

#include "base/error.h"
#include "profile/shader_key.h"
#include "shader_rewrite/ir/target.h"
#include "shader_rewrite/ir/words.h"

/* The recipe's and SPIRV-Tools' version, part of every shader key, as one string. */
const char *pm_canonicalize_recipe(void);

struct pm_pass_times; /* pass.h */

struct pm_canonicalize_info {
    const uint32_t *words;
    size_t word_count;
    enum pm_stage stage;
    const char *entry_point;
    const struct pm_spec_value *spec_values; /* what the pipeline sets; unset ones keep their default */
    size_t spec_value_count;
    struct pm_target target;
    bool keep_names; /* for people only: the module keeps OpName and OpMemberName, and its values have the names
                        of the author's variables (canonical_names.h), so it is not what the key is of, but has
                        the same blocks in the same order */
    bool keep_lines; /* likewise for people: instructions keep the lines of the author's files, as OpLine, also those
                        that NonSemantic.Shader.DebugInfo.100 tells; not together with keep_names */
    struct pm_pass_times *times; /* how long passes, the optimizer's steps and validating took is
                                    added; NULL: not wanted */
    struct pm_error *kept; /* why the module was not simplified; message "" where it was; NULL: not
                              wanted */
};

/* The canonical module: one entry point, specialization constants frozen (floats keep their SpecId
 * and have the value as their default: canonical_freeze.c says why), the fixed recipe run, results
 * kept bit for bit (every float result is NoContraction while the optimizer runs), names, lines,
 * sources and non-semantic instructions stripped, generator zeroed, ids compacted. It is validated,
 * and canonicalizing it again gives the same words. Where the optimizer gives up, the module is
 * only frozen, stripped and compacted, and info->kept says why: what is in its functions is then
 * not in the entry point's, and can be no point. PM_ERROR_INPUT: malformed; PM_ERROR_UNSUPPORTED:
 * SPIRV-Tools does not know an opcode or extension in it; PM_ERROR_LIMIT: absurdly large;
 * PM_ERROR_STOPPED: base/stop.h. */
bool pm_canonicalize(const struct pm_canonicalize_info *info, struct pm_words *out, struct pm_error *error);

/* What a pass made of a canonical module, without the branches, blocks and values that became
 * needless, as canonicalization does it: results keep their bits, and ids of what is left stay. Not
 * validated, neither before nor after. Fails as pm_canonicalize where the optimizer gives up. */
bool pm_simplify(const uint32_t *words, size_t count, struct pm_pass_times *times, struct pm_words *out,
                 struct pm_error *error);

/* spirv-val for the target; the message has its diagnostic. */
bool pm_validate(const uint32_t *words, size_t count, const struct pm_target *target,
                 struct pm_error *error);

/* A game's own module may break a rule that Vulkan adds to SPIR-V's own (a "VUID": a Flat that is
 * missing, say), and drivers run it all the same. That is between the game and its driver, and no
 * reason to leave it alone. Of the original: true also where it is valid but for such a rule, and
 * then *broken has it; its code is PM_OK otherwise. */
bool pm_validate_original(const uint32_t *words, size_t count, const struct pm_target *target,
                          struct pm_error *broken, struct pm_error *error);
/* Of what is made of it: that very rule may be broken, and no other of SPIR-V's own. */
bool pm_validate_as_broken(const uint32_t *words, size_t count, const struct pm_target *target,
                           const struct pm_error *broken, struct pm_error *error);
/* Both: of what was made of a module that is given by its words. */
bool pm_validate_made(const struct pm_words *made, const uint32_t *words, size_t count,
                      const struct pm_target *target, struct pm_error *error);

/* ---- facts about a module, original or canonical ---- */

struct pm_ir_module;

/* The stage of the first entry point called so. PM_ERROR_INPUT: there is none;
 * PM_ERROR_UNSUPPORTED: it is of another stage. */
bool pm_shader_stage(const struct pm_ir_module *module, const char *entry_point,
                     enum pm_stage *stage, struct pm_error *error);

/* The name of a canonical module's one entry point; malloc'ed. NULL: *error says why. */
char *pm_canonical_entry_point(const uint32_t *words, size_t count, struct pm_error *error);

struct pm_shader_facts {
    enum pm_stage stage;
    bool uses_kill;            /* OpKill, OpTerminateInvocation, demote */
    bool exports_depth_or_mask;
    bool has_side_effects;     /* writes memory beyond its outputs */
    bool early_tests;          /* declares EarlyFragmentTests */
    bool reads_attachments;    /* may read what its own fragment's tests write: depth, stencil */
};
/* PM_ERROR_INPUT: it has no such entry point. */
bool pm_shader_facts(const struct pm_ir_module *module, const char *entry_point,
                     enum pm_stage stage, struct pm_shader_facts *facts, struct pm_error *error);
