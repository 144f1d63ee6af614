import { joinTerminalOutput } from '../../protocol/text/lineUpdates.ts';

/** Merges pieces within an interval; of a flood, only the newest text remains. */
export function throttleLiveOutput(output: (text: string) => void) {
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
      waiting = joinTerminalOutput(waiting, text).slice(-outputAtOnce);
      timer ??= setTimeout(flush, outputInterval);
    },
    end: flush,
  };
}

// Interval of live output in milliseconds, and characters per update.
const outputInterval = 50;
const outputAtOnce = 20_000;

/** Second output target for cleaned live output, in pieces of `lineUpdates`. `end` receives a text about the end. */
export interface CommandOutputMirror {
  write(text: string): void;
  end(reason: string): void;
}
