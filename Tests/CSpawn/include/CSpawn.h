// What Swift is not shown of <spawn.h>, because it stands behind _GNU_SOURCE.
#include <spawn.h>

// The program works in this folder.
int countersign_spawn_in_folder(posix_spawn_file_actions_t *actions, const char *folder);

// The program has no open file but standard input, output and error.
int countersign_spawn_without_files(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes);
