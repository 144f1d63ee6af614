/* Exchanges two names for as long as it lives: at every moment each of them is there. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int count, char **names) {
  if (count != 3) return 2;
  if (write(1, "ready", 5) != 5) return 3;
  for (;;) {
    if (syscall(SYS_renameat2, AT_FDCWD, names[1], AT_FDCWD, names[2], RENAME_EXCHANGE) != 0) usleep(1);
    if (getppid() == 1) return 0;
  }
}
