/*
 * The IR: a SPIR-V module in memory, as lists of instructions in the order they were read,
 * functions and blocks, with definitions and uses linked both ways. The uses of a definition are
 * kept right by construction: every operand that names an id is a link in that id's list, and only
 * the functions below change one (Mesa's NIR is the model).
 *
 * An unchanged module is emitted word for word. Names, lines and decorations are instructions like
 * any other: they use the ids they name.
 *
 * Lifetime: everything belongs to the module's arena; a pointer stays valid until
 * pm_ir_module_destroy, also to an instruction that was removed. Nothing else is owned by a caller.
 * Errors: a module notices when its memory ran out and stays `failed`; builders then return NULL
 * and accept NULL, so that a pass may check once, at its end (pm_ir_emit refuses a failed module).
 * Thread safety: a module belongs to one thread at a time.
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "shader_rewrite/ir/ir_opcodes.h"
#include "shader_rewrite/ir/target.h"
#include "shader_rewrite/ir/words.h"
#include <spirv/unified1/spirv.h>

/* Bounds on what is read. The id bound is SPIR-V's universal limit (2.17), which spirv-val holds
 * modules to. */
#define PM_IR_MAX_WORDS ((size_t)4 << 20)
#define PM_IR_MAX_BOUND 0x3fffffu

struct pm_ir_instr;
struct pm_ir_block;
struct pm_ir_function;

/* One id: what defines it and the operands that name it. */
struct pm_ir_def {
    uint32_t id;
    struct pm_ir_instr *instr; /* never NULL in a module that was parsed, until it is removed */
    struct pm_ir_operand *first_use; /* through next_use; in no particular order */
    bool decorated;                  /* a decoration names it, or has named it */
};

/* One operand: an id (def set) or a literal (def NULL). Result and result type are not operands. */
struct pm_ir_operand {
    struct pm_ir_instr *user;
    struct pm_ir_def *def;
    union {
        struct {
            struct pm_ir_operand *prev_use, *next_use;
        };
        struct {
            const uint32_t *
                words; /* word_count of them: the literal; NULL when it is the one word in `word` */
            uint32_t word;
        };
    };
    uint32_t word_count; /* 1 for ids */
};

struct pm_ir_list {
    struct pm_ir_instr *first, *last;
};

struct pm_ir_instr {
    struct pm_ir_instr *prev, *next;
    struct pm_ir_list *list;   /* that it is in; NULL: removed, or a function's or block's own */
    struct pm_ir_block *block; /* when it is inside one, or its label; else NULL */
    struct pm_ir_def *result;  /* NULL: none */
    struct pm_ir_operand type; /* result type; def NULL: none */
    struct pm_ir_operand *operands;
    uint16_t opcode;
    uint8_t transposed; /* analysis_transposes.h */
    uint8_t noted;      /* likewise; pm_ir_instr_like has it, too */
    uint32_t operand_count;
    uint32_t
        place;     /* index of its first word in the module that was read; UINT32_MAX: made since */
    uint32_t mark; /* for the pass at work; 0 at first */
};

/* From a label to a terminator, which is the last instruction of `body`. */
struct pm_ir_block {
    struct pm_ir_block *prev, *next; /* in the function's order */
    struct pm_ir_function *function;
    struct pm_ir_instr *label;
    struct pm_ir_list leading; /* OpLine and the like before the label */
    struct pm_ir_list body;
    uint32_t index; /* position in the function; valid with PM_ANALYSIS_CFG (analysis.h) */
};

struct pm_ir_function {
    struct pm_ir_function *prev, *next;
    struct pm_ir_module *module;
    struct pm_ir_list leading;    /* OpLine and the like before OpFunction */
    struct pm_ir_instr *function; /* OpFunction */
    struct pm_ir_list parameters;
    struct pm_ir_block *first_block, *last_block; /* NULL: only declared */
    struct pm_ir_list trailing;                   /* OpLine and the like before OpFunctionEnd */
    struct pm_ir_instr *end;                      /* OpFunctionEnd */
    struct pm_analyses *analyses;                 /* analysis.h; NULL until one was required */
    void (*analyses_finish)(struct pm_analyses *analyses); /* set with them; for the module's end */
};

struct pm_ir_module {
    struct pm_arena *arena;
    bool failed;                         /* memory ran out */
    bool swapped;                        /* it was read in the other byte order and is emitted so */
    bool transposes;                     /* it has an OpTranspose, or had one */
    uint32_t version, generator, schema; /* header words */
    uint32_t bound;                      /* all ids are below */
    struct pm_ir_def **defs;             /* by id; NULL: no such id; defs_capacity of them */
    uint32_t defs_capacity;
    struct pm_ir_list sections[PM_IR_SECTIONS];
    struct pm_ir_global_index *global_index; /* ir_global_index.h; NULL until it was asked for */
    struct pm_ir_function *first_function, *last_function;
    struct pm_ir_list trailing; /* OpLine and the like after the last function */
};

/* Reads a module. NULL on failure: PM_ERROR_INPUT with SPIRV-Tools' reason and the word;
 * PM_ERROR_LIMIT beyond the bounds above; PM_ERROR_MEMORY. The words are not needed afterwards. */
struct pm_ir_module *pm_ir_parse(const uint32_t *words, size_t count, struct pm_error *error);

/* Writes a module. Fails only for lack of memory, or with PM_ERROR_LIMIT for an instruction above
 * 65,535 words. */
bool pm_ir_emit(const struct pm_ir_module *module, struct pm_words *out, struct pm_error *error);

/* NULL is allowed. */
void pm_ir_module_destroy(struct pm_ir_module *module);

/* NULL when there is no such id, or nothing defines it. */
struct pm_ir_instr *pm_ir_find(const struct pm_ir_module *module, uint32_t id);

/* The id with this number, made when new; NULL when out of memory or above PM_IR_MAX_BOUND. For the
 * parser. */
struct pm_ir_def *pm_ir_def_get(struct pm_ir_module *module, uint32_t id);

/* A new id. NULL as above. */
struct pm_ir_def *pm_ir_def_create(struct pm_ir_module *module);

/* ---- operands ---- */

/* The id an operand names, as a number; 0 for a literal. */
uint32_t pm_ir_operand_id(const struct pm_ir_operand *operand);
/* The operand's first word, id or literal. */
uint32_t pm_ir_operand_word(const struct pm_ir_operand *operand);
/* A literal number of one word or two; of one, its upper half is 0. */
uint64_t pm_ir_operand_literal(const struct pm_ir_operand *operand);
/* What defines an instruction's operand: NULL when there is no such operand, or it is a literal. */
struct pm_ir_instr *pm_ir_operand_instr(const struct pm_ir_instr *instr, uint32_t index);
/* What defines an instruction's result type; NULL: it has none. */
struct pm_ir_instr *pm_ir_type_of(const struct pm_ir_instr *instr);
/* How many components a vector type has; 1: it is none, or NULL. */
uint32_t pm_ir_components(const struct pm_ir_instr *type);
/* The type of a vector type's components; of any other, or NULL, itself. */
const struct pm_ir_instr *pm_ir_component_type(const struct pm_ir_instr *type);

/* Makes an operand name another id. */
void pm_ir_operand_set(struct pm_ir_operand *operand, struct pm_ir_def *def);
/* Makes it a literal of one word. */
void pm_ir_operand_set_word(struct pm_ir_operand *operand, uint32_t word);

/* Makes it the same literal as another operand; the words are shared. */
void pm_ir_operand_copy_literal(struct pm_ir_operand *operand, const struct pm_ir_operand *from);

/* Makes it a literal of so many words; they are copied. */
void pm_ir_operand_set_words(struct pm_ir_module *module, struct pm_ir_operand *operand,
                             const uint32_t *words, uint32_t count);

/* The text of a literal string. */
const char *pm_ir_operand_text(const struct pm_ir_operand *operand);

/* The variable that a pointer leads into, by access chains; NULL: another pointer. NULL is allowed.
 */
const struct pm_ir_instr *pm_ir_variable_of(const struct pm_ir_instr *pointer);

/* Whether it imports GLSL.std.450. NULL is allowed. */
bool pm_ir_imports_glsl(const struct pm_ir_instr *instr);

/* Whether this OpExtInst is one of GLSL.std.450. Others may do anything, as to read other lanes. */
bool pm_ir_is_glsl(const struct pm_ir_instr *instr);
/* Makes it a literal string; the text is copied. */
void pm_ir_operand_set_text(struct pm_ir_module *module, struct pm_ir_operand *operand,
                            const char *text);

/* Makes room for count operands at index; they are literals of one word 0 until set. */
bool pm_ir_operands_insert(struct pm_ir_module *module, struct pm_ir_instr *instr, uint32_t index,
                           uint32_t count);
void pm_ir_operands_remove(struct pm_ir_instr *instr, uint32_t index, uint32_t count);

/* Every use of `def` names `with` instead. */
void pm_ir_replace_uses(struct pm_ir_def *def, struct pm_ir_def *with);

/* ---- instructions ---- */

/* An instruction in no list; operands are literals 0 until set. type NULL: none. It gets a new id
 * when its opcode has a result. */
struct pm_ir_instr *pm_ir_instr_create(struct pm_ir_module *module, uint16_t opcode,
                                       struct pm_ir_def *type, uint32_t operand_count);

/* Likewise, for a copy of one of this module or of another: of its opcode, of a type of this
 * module's, with as many operands. */
struct pm_ir_instr *pm_ir_instr_like(struct pm_ir_module *module, const struct pm_ir_instr *instr,
                                     struct pm_ir_def *type);

/* Puts an instruction that is in no list before another one of `list`; before NULL: at the end.
 * block: the one the list is the body of, or NULL. */
void pm_ir_insert(struct pm_ir_list *list, struct pm_ir_block *block, struct pm_ir_instr *before,
                  struct pm_ir_instr *instr);

/* Takes an instruction out of its list; its operands stay, so that it can be put elsewhere. */
void pm_ir_detach(struct pm_ir_instr *instr);

/* Takes it out and drops its operands' links. Its result must have no uses left but names and
 * decorations, which are removed with it. */
void pm_ir_remove(struct pm_ir_instr *instr);

/* As above; what names its result stays, and names what nothing defines. */
void pm_ir_remove_alone(struct pm_ir_instr *instr);

/* ---- functions and blocks ---- */

struct pm_ir_instr *pm_ir_terminator(const struct pm_ir_block *block);

/* Whether a terminator leads to no block: the function or the invocation ends. Of those that a
 * shader without calls and rays has. */
bool pm_ir_ends_invocation(const struct pm_ir_instr *terminator);
/* OpSelectionMerge or OpLoopMerge, else NULL. */
struct pm_ir_instr *pm_ir_merge(const struct pm_ir_block *block);
/* The block of an OpLabel's id; NULL when it is none. */
struct pm_ir_block *pm_ir_block_of(const struct pm_ir_def *label);
/* The function an OpFunction defines. NULL: none. */
struct pm_ir_function *pm_ir_function_of(const struct pm_ir_module *module, uint32_t id);
