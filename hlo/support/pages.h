/* hlo/support/pages.h - how the heap is laid out in pages. The first for main() alone, before any
 * thread. */
#ifndef AUTOMAP_HLO_SUPPORT_PAGES_H
#define AUTOMAP_HLO_SUPPORT_PAGES_H

/* The heap grows in large pages, is one for all threads, and what was freed is used again before it
 * is given back: a page costs more to get than most of what is then done with its bytes, the more
 * so with two threads. Changes nothing where the system has no large pages or too little memory for
 * them. */
void pages_begin(void);

/* Gives back what is free, after much was: O(pages of the heap). Any thread. */
void pages_give_back(void);

#endif
