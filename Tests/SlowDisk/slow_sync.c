// Loaded before the C library (LD_PRELOAD): each sync of a file takes as many milliseconds longer as SLOW_SYNC says.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

typedef int (*Sync)(int);

static int slowly(const char *name, int file) {
    const char *milliseconds = getenv("SLOW_SYNC");
    usleep(1000 * (milliseconds ? atoi(milliseconds) : 0));
    return ((Sync)dlsym(RTLD_NEXT, name))(file);
}

int fsync(int file) { return slowly("fsync", file); }

int fdatasync(int file) { return slowly("fdatasync", file); }
