/* tui/app/explore.h - the explorer in a terminal, and the same without one. */
#ifndef AUTOMAP_TUI_APP_EXPLORE_H
#define AUTOMAP_TUI_APP_EXPLORE_H

int cmd_explore(int argc, char **argv); /* automap [MODEL [CLUSTER]] */
int cmd_tour(int argc, char **argv);    /* automap tour [NAME] */
int cmd_screen(int argc, char **argv);  /* automap screen: one screen as text or as a picture */

#endif
