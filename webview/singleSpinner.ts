/** Animates only the newest of all progress indicators. Call after each rendering. */
export function animateNewestSpinner(root: HTMLElement): void {
  const moving = root.querySelectorAll('.ring, .thinking.now');
  for (const [at, one] of moving.entries()) one.classList.toggle('still', at < moving.length - 1);
}
