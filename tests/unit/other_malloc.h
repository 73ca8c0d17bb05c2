/* Sanitizers have a malloc of their own: what a test says of the heap is not of theirs. */
#ifndef AUTOMAP_TESTS_OTHER_MALLOC_H
#define AUTOMAP_TESTS_OTHER_MALLOC_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OTHER_MALLOC 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OTHER_MALLOC 1
#endif
#ifndef OTHER_MALLOC
#define OTHER_MALLOC 0
#endif

#endif
