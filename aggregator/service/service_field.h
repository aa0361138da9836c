/*
 * Which field of an upload an error is about, for {"error": …, "field": …}. Errors about profiles
 * are sentences that begin with where it is: "profile: shader 3: field key has …", "shader 5f…:
 * point 7: lanes: …".
 *
 * Thread safety: no state.
 */
#pragma once

#define PM_FIELD_BYTES 128

/* "shaders[3].key", "shaders[5f…].points[7].lanes"; "body" when the message names none. A shader is
 * named by its place or by its key, a point by its index in the shader's space. */
void pm_field_of(const char *message, char field[static PM_FIELD_BYTES]);
