export interface Heartbeat {
  feel(): void;
  rest(): void;
  received(): void;
}

/**
 * Detects an unresponsive process: calls `ask` at every beat, and `silent` once after the given number of beats without an answer. Counts
 * beats instead of time, because a suspended machine or a busy editor is no silence of the process.
 */
export function createHeartbeat({
  everyMs,
  beats,
  ask,
  silent,
}: {
  everyMs: number;
  beats: number;
  ask(): void;
  silent(): void;
}): Heartbeat {
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
    received: () => {
      missed = 0;
    },
    feel: () => {
      if (timer) return;
      missed = 0;
      timer = setInterval(beat, everyMs);
    },
  };
}
