/* tui/watch/ledger_text.h - rows of the ledger (engine/live/ledger.h) in words: what was edited,
 * from what to what, with what proof, and all of them as a page. UI thread. */
#ifndef AUTOMAP_TUI_WATCH_LEDGER_TEXT_H
#define AUTOMAP_TUI_WATCH_LEDGER_TEXT_H

#include "engine/live/ledger.h"
#include "hlo/support/mem.h"
#include "tui/watch/watch.h"

#include <stdbool.h>
#include <stddef.h>

enum { LEDGER_EDIT_ROOM = 128 };

/* "network bandwidth 25 Gbit/s to 100 Gbit/s", "pin encoder self = 1", "batch 32 to 64". Returns
 * out. */
char *ledger_edit(const struct watch *w, const struct ledger_row *r, char *out, size_t room);
enum { LEDGER_PROOF_ROOM = 64 };
/* "proven over variables", "no split of both fits", "best found"; brief, as a cell of a column that
 * says "proof": "over variables", "no split fits". Returns out. */
char *ledger_proof(const struct ledger_row *r, bool brief, char out[static LEDGER_PROOF_ROOM]);
/* Its line for the search, to make the same edit again; false: it is too long, or no edit. */
bool ledger_command(const struct watch *w, const struct ledger_row *r, char *out, size_t room);

/* Memory of all rows is shown in one unit, GB, or MB where none takes one GB. True: in MB. */
bool ledger_in_mb(const struct ledger *l);

/* Row `r` against `before` in one sentence; "" unless both have plans. Returns out. */
char *ledger_sentence(const struct ledger_row *before, const struct ledger_row *r, char *out,
                      size_t room);
/* The ledger as Markdown: one sentence, the table, row by row against where it starts from.
 * Appended. */
void ledger_page(const struct watch *w, const char *model, struct str *out);

#endif
