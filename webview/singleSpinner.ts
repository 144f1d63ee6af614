/** One thing moves at a time: of all that is at work the newest. To be called after each drawing. */
export function letOneMove(root: HTMLElement): void {
  const moving = root.querySelectorAll('.ring, .thinking.now');
  for (const [at, one] of moving.entries()) one.classList.toggle('still', at < moving.length - 1);
}
