/*
 * A getaddrinfo() that stands before libc's, for this program and for libcurl in it: names that end in ".fake.test"
 * are answered as tests say, all others go on to libc. And a getpeername() that can be without an answer.
 */
#ifndef FAKE_NAMES_H
#define FAKE_NAMES_H

/* "127.0.0.1 ::1;10.0.0.1": the first lookup gets the first list, the next the second; the last list stays. An empty
   list is "no such name"; the word "stall" waits for fake_names_release() before it is that. */
void fake_name_set(const char *name, const char *answers);

/* How often that name has been looked up; how many lookups of any name wait now. */
int fake_name_lookups(const char *name);
int fake_names_waiting(void);

/* Ends the waiting of all who wait now. */
void fake_names_release(void);

/* From now on nobody knows the peer of a connection to that port (IPv4), as when it was reset a moment ago; 0 for none. */
void fake_peer_lost(int port);

#endif
