/* tui/commands/cmd_bench.h - `automap bench`: how fast the parts are (tui/commands/bench.h has the
 * table). */
#ifndef AUTOMAP_TUI_COMMANDS_CMD_BENCH_H
#define AUTOMAP_TUI_COMMANDS_CMD_BENCH_H

int cmd_bench(int argc, char **argv);

#endif
