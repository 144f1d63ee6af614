/** What takes milliseconds to read, for whoever asks as often as things happen. */
export interface Cached<Value> {
  /** As it is now. Nobody changes it. */
  (): Value;
  /** From now on it is read once for every change that `listen` tells of. Who listens before this may hear of a change too early. */
  watch(listen: (changed: () => void) => { dispose(): void }): { dispose(): void };
}

/** Without somebody who watches it is read whenever it is asked for: too slow, but true. */
export function cachedSettings<Value extends object>(read: () => Value): Cached<Value> {
  let last: { value?: Value } | undefined;
  const now = () => {
    if (!last) return read();
    last.value ??= Object.freeze(read());
    return last.value;
  };
  const watch: Cached<Value>['watch'] = (listen) => {
    last = {};
    const listening = listen(() => {
      last = {};
    });
    return {
      dispose() {
        last = undefined;
        listening.dispose();
      },
    };
  };
  return Object.assign(now, { watch });
}
