/* A disk that doesn't answer until a test lets it: calls for what is below a folder wait. Several folders may be held at once. */
#pragma once

/* Holds up calls from now on. `folder` has no symbolic links in it. */
void slow_disk_hold(const char *folder);

/* How many calls wait. */
int slow_disk_waiting(const char *folder);

/* Lets them go on, and all later ones; with an error number, those that wait fail with it, and later ones, too. */
void slow_disk_release(const char *folder, int error);

/* Forgets a folder that was released, when the last call has gone on. */
void slow_disk_forget(const char *folder);
