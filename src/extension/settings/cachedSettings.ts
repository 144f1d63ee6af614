/** Cached settings for frequent access; parsing takes milliseconds. */
interface CachedSettingsReader<Value> {
  (): Value;
  /**
   * Enables the cache: settings are parsed once per change reported by `listen`. Earlier subscribers of the same event may see old values.
   */
  watch(listen: (changed: () => void) => { dispose(): void }): { dispose(): void };
}

export function createCachedSettingsReader<Value extends object>(read: () => Value): CachedSettingsReader<Value> {
  let last: { value?: Value } | undefined;
  const now = () => {
    if (!last) return read();
    last.value ??= Object.freeze(read());
    return last.value;
  };
  const watch: CachedSettingsReader<Value>['watch'] = (listen) => {
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
