#include "tests/profile/message.h"

#include <string.h>

void message_init(struct message *f)
{
    memset(f, 0, sizeof(*f));
    piecemeal__profile__init(&f->profile);
    f->profile.version = 1;
    f->profile.upload_id = (ProtobufCBinaryData){16, f->id};
    f->profile.game = (char *)"game";
    f->profile.left_alone = f->left_alone;
    f->profile.n_shaders = 2;
    f->profile.shaders = f->list;
    for (int s = 0; s < 2; s++) {
        Piecemeal__ShaderProfile *shader = &f->shader[s];
        f->list[s] = shader;
        piecemeal__shader_profile__init(shader);
        piecemeal__environment__init(&f->environment[s]);
        f->environment[s].subgroup_size = 8;
        f->key[s][0] = (uint8_t)s;
        shader->key = (ProtobufCBinaryData){24, f->key[s]};
        shader->environment = &f->environment[s];
        shader->kind = PM_KIND_BLOCK;
        shader->space = 12;
        f->bitmap[0] = 1;
        shader->at_most_once = (ProtobufCBinaryData){2, f->bitmap};
        shader->n_point = shader->n_calls = shader->n_entry_lanes = shader->n_entry_subgroups = 3;
        shader->n_counts = 9;
        shader->point = f->point[s];
        shader->calls = f->calls[s];
        shader->entry_lanes = f->lanes[s];
        shader->entry_subgroups = f->subgroups[s];
        shader->counts = f->counts[s];
        shader->lanes_alone = f->alone[s];
        for (uint32_t i = 0; i < 3; i++) {
            f->point[s][i] = i * 5;
            f->calls[s][i] = 1;
            f->lanes[s][i] = 100;
            f->subgroups[s][i] = 13;
            f->counts[s][3 * i] = 100;
            f->counts[s][3 * i + 1] = 90;
            f->counts[s][3 * i + 2] = 13;
        }
    }
}

void message_make_zero(struct message *f)
{
    f->shader[1].kind = PM_KIND_ZERO;
    for (int i = 0; i < 3; i++)
        f->counts[1][3 * i + 2] = 0;
}

void message_make_timing(struct message *f)
{
    Piecemeal__ShaderProfile *shader = &f->shader[1];
    message_make_zero(f);
    shader->kind = PM_KIND_TIMING;
    shader->space = 1;
    shader->at_most_once.len = 0;
    shader->n_point = shader->n_calls = shader->n_entry_lanes = shader->n_entry_subgroups = 1;
    shader->n_counts = 3;
    f->environment[1].vendor_id = 0x10de;
    f->subgroups[1][0] = 100;
}

void message_make_constant(struct message *f)
{
    f->shader[1].kind = PM_KIND_CONSTANT;
    f->shader[1].at_most_once.len = 0;
}
