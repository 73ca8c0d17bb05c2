/* tui/commands/cmd_cluster.h - automap cluster [FILE]: prints a cluster and what collectives cost
 * on it. */
#ifndef AUTOMAP_TUI_COMMANDS_CMD_CLUSTER_H
#define AUTOMAP_TUI_COMMANDS_CMD_CLUSTER_H

int cmd_cluster(int argc, char **argv);

#endif
