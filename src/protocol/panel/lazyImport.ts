/**
 * Module that is loaded on first use, or a value created from the module. The call throws a user-facing error if loading fails; the next
 * call tries again. `made()` returns undefined before the first use.
 */
interface Lazy<Value> {
  (): Promise<Value>;
  made(): Value | undefined;
}

/**
 * Loads a module on first use. No other mechanism defers loading.
 *
 * @param load only an `import()`: the build creates a separate file for its specifier
 * @param make called once, also for concurrent callers
 */
export function lazyImport<Part>(load: () => Promise<Part>): Lazy<Part>;
export function lazyImport<Part, Value>(load: () => Promise<Part>, make: (part: Part) => Value): Lazy<Value>;
export function lazyImport<Part, Value>(load: () => Promise<Part>, make?: (part: Part) => Value): Lazy<Part | Value> {
  let made: Part | Value | undefined;
  let making: Promise<Part | Value> | undefined;
  const makeNow = async () => {
    const part = await load().catch((error) => Promise.reject(moduleLoadError(error)));
    made = make ? make(part) : part;
    return made;
  };
  const lazy = () => {
    making ??= makeNow().catch((error) => {
      making = undefined;
      throw error;
    });
    return making;
  };
  return Object.assign(lazy, { made: () => made });
}

/** Explains a failed load: a window may still run while an update replaces or removes the files of the program. */
export function moduleLoadError(cause: unknown): Error {
  const { code, name = 'Error' } = cause as { code?: string; name?: string };
  const message = `A part of Towpath could not be loaded (${code ?? name}). Reload the window: Towpath may have been updated or removed while it was open.`;
  return new Error(message, { cause });
}
