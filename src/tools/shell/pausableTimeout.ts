import { performance } from 'node:perf_hooks';

/** Time limit of a command that does not count while the user is asked. */
export interface PausableTimeout {
  /** Milliseconds in total. */
  readonly limit: number;
  readonly expired: Promise<'timeout'>;
  /** Stops the clock until the returned function is called. Pauses may overlap. */
  pause(): () => void;
  end(): void;
}

export function createPausableTimeout(limit: number): PausableTimeout {
  let expire = () => {};
  const expired = new Promise<'timeout'>((resolve) => {
    expire = () => resolve('timeout');
  });
  let left = limit;
  let pauses = 0;
  let isEnded = false;
  let began = performance.now();
  let timer = setTimeout(expire, left);
  return {
    limit,
    expired,
    pause() {
      if (pauses++ === 0) {
        clearTimeout(timer);
        left -= performance.now() - began;
      }
      let isPaused = true;
      return () => {
        if (!isPaused) return;
        isPaused = false;
        if (--pauses > 0 || isEnded) return;
        began = performance.now();
        timer = setTimeout(expire, Math.max(0, left));
      };
    },
    end() {
      isEnded = true;
      clearTimeout(timer);
    },
  };
}
