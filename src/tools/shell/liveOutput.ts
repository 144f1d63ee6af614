import { joinUpdates } from '../../protocol/text/lineUpdates.ts';

/** Gathers the pieces that arrive within an interval to one, and of a flood only the newest. */
export function liveOutput(output: (text: string) => void) {
  let waiting = '';
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (waiting !== '') output(waiting);
    waiting = '';
  };
  return {
    add(text: string) {
      waiting = joinUpdates(waiting, text).slice(-outputAtOnce);
      timer ??= setTimeout(flush, outputInterval);
    },
    end: flush,
  };
}

/** Live output goes to the card at most this often, in milliseconds, and no more at once than a card shows. */
const outputInterval = 50;
const outputAtOnce = 20_000;

/** Another place where the cleaned output is shown as it comes, in pieces as `lineUpdates` describes them. `end` is told how the command ended, in words. */
export interface CommandMirror {
  write(text: string): void;
  end(how: string): void;
}
