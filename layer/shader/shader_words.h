/*
 * How a shader becomes canonical: from the words that a pipeline has, or from what an earlier
 * session kept in the shader store.
 *
 * Thread safety: any thread. As slow as a compiler: compile threads only, but for pm_device_driver.
 */
#pragma once

#include "layer/shader/shader_request.h"
#include "layer/shader/spec_values.h"
#include "profile/shader_store.h"
#include "shader_rewrite/quirks/quirks.h"

/* A request with what it takes to look it up. */
struct pm_asked_shader {
    const struct pm_shader_request *request;
    struct pm_words words;     /* of its module */
    struct pm_spec_values set; /* by its stage */
};

/* The canonical module of a shader: of an earlier session, or made now and kept. store NULL: it is
 * made anew each time. */
bool pm_shader_canonicalize(const struct pm_device *device, struct pm_shader_store *store,
                            const struct pm_shader_key *digest, const struct pm_asked_shader *asked,
                            struct pm_words *canonical, struct pm_error *error);
/* Whether the driver needs hiding casts to compute the same bits. */
bool pm_shader_casts_matter(const struct pm_device *device);
/* On the drivers that do not, and where there are none. */
bool pm_shader_may_do_without_casts(const struct pm_device *device, const struct pm_words *original,
                                    struct pm_error *error);

/* On the drivers whose helper invocations do not leave loops too early, and where nothing depends
 * on it; and on those whose compiler cannot crash where a loop is left, and where nothing is shared
 * there. */
bool pm_shader_may_be_changed(const struct pm_device *device, const struct pm_words *canonical,
                              struct pm_error *error);
/* The latter, of what was made of a shader. Also false for lack of memory. */
bool pm_shader_may_be_compiled(const struct pm_device *device, const struct pm_words *made);

/* For what it gets wrong. */
struct pm_driver pm_device_driver(const struct pm_device *device);
