/*
 * Exchanges two names for as long as it lives: at every moment each of them is there. In bursts of every length, with
 * pauses between: a work of many steps sees the names change within it, and at times gets through.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int count, char **names) {
  if (count != 3) return 2;
  if (write(1, "ready", 5) != 5) return 3;
  for (unsigned swaps = 0, burst = 1;; swaps++) {
    if (swaps == burst) {
      usleep(2000);
      swaps = 0;
      burst = burst * 5 % 4093 + 1;
    }
    if (syscall(SYS_renameat2, AT_FDCWD, names[1], AT_FDCWD, names[2], RENAME_EXCHANGE) != 0) usleep(1);
    if (getppid() == 1) return 0;
  }
}
