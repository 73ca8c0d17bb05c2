/* engine/plan/file_identity.h - what plan files of every kind share: the model and cluster a plan
 * is for, by name, size and fingerprint; the schema at their head; atomic writing.
 *
 * The files: engine/plan/plan_file.h, engine/pipeline/pipeline_file.h, engine/hybrid/hybrid_file.h.
 * Any thread. */
#ifndef AUTOMAP_ENGINE_PLAN_FILE_IDENTITY_H
#define AUTOMAP_ENGINE_PLAN_FILE_IDENTITY_H

#include "engine/problem/problem.h"
#include "engine/text/json_check.h"
#include "hlo/support/err.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

/* For tables of json_document: what file_identity_add writes. */
extern const struct json_field file_model_keys[];
extern const struct json_field file_cluster_keys[];

/* Adds the key "fingerprint": 16 hexadecimal digits, because a JSON number holds only 53 bits. */
void file_fingerprint_add(cJSON *o, uint64_t fingerprint);

/* Adds the objects "model" and "cluster". */
void file_identity_add(const struct problem *p, cJSON *o);
/* Checks them against the problem. ERR_INPUT names the one that differs. */
int file_identity_check(const struct problem *p, const cJSON *root, struct err *e) MUST_CHECK;

/* Writes `o` and deletes it, even on error; NULL counts as out of memory. Errors name the file. */
int file_json_save(cJSON *o, const char *path, struct err *e) MUST_CHECK;

/* Whether the first 255 bytes of the file name the schema. False also if it cannot be read, and for
 * "-" and pipes, which cannot be read twice. */
bool file_has_schema(const char *path, const char *schema);

/* Reads from a file what a caller needs to build the problem: the number of devices, at most
 * CLUSTER_DEVICES_MOST. `fields` is the table for the whole file. Errors name the file. */
int file_cluster_devices(const char *path, const char *schema, const struct json_field *fields,
                         uint32_t *devices, struct err *e) MUST_CHECK;

#endif
