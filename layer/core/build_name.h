/*
 * The name of this build of the layer, for what one build writes and another one must not take for
 * its own: a shader that was specialized by code that has changed since (profile/verdicts.h). It is
 * the version and the build id that the linker has computed of all that it linked (--build-id, a
 * note of the object), so two builds of one version have different names, and one build has the
 * same name on every machine.
 *
 * Thread safety: no state; any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { PM_BUILD_NAME_BYTES = 128 };

/* One word: "0.1.0+" and the build id in hexadecimal. false: the object has no build id, and the
 * name is the version alone. */
bool pm_build_name(char name[PM_BUILD_NAME_BYTES]);

/* For tests: of the notes of an object (a segment PT_NOTE, aligned as its entries are) the build id
 * in hexadecimal. align: of the entries, 4 or 8. false: there is none, it is longer than `text`, or
 * what comes before it is damaged. */
bool pm_build_id_of_notes(const void *notes, size_t size, size_t align, char *text,
                          size_t text_bytes);
