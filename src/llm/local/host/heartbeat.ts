export interface Pulse {
  /** Feels until `rest`; the count begins anew. */
  feel(): void;
  rest(): void;
  /** A sign of life. */
  heard(): void;
}

/**
 * Notices that someone does not react: `ask` is called at every beat, and `silent` once when so many beats passed
 * without a sign. Beats of our own are counted, not time: a machine that slept, or a busy editor, is no silence.
 */
export function createPulse({
  everyMs,
  beats,
  ask,
  silent,
}: {
  everyMs: number;
  beats: number;
  ask(): void;
  silent(): void;
}): Pulse {
  let timer: NodeJS.Timeout | undefined;
  let missed = 0;
  const rest = () => {
    clearInterval(timer);
    timer = undefined;
  };
  const beat = () => {
    if (missed++ < beats) ask();
    else {
      rest();
      silent();
    }
  };
  return {
    rest,
    heard: () => {
      missed = 0;
    },
    feel: () => {
      if (timer) return;
      missed = 0;
      timer = setInterval(beat, everyMs);
    },
  };
}
