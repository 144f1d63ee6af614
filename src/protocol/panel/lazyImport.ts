/** A part of the program that is loaded when somebody first needs it, or what is made of it then. */
interface Lazy<Value> {
  /** Throws a sentence for the person when it cannot be loaded; the next who needs it tries again. */
  (): Promise<Value>;
  /** Undefined where nobody has needed it. */
  made(): Value | undefined;
}

/**
 * The one way to load what is not needed at once.
 * @param load an `import()` alone: the build makes a file of its own of what that names
 * @param make called once, whoever asks meanwhile
 */
export function lazily<Part>(load: () => Promise<Part>): Lazy<Part>;
export function lazily<Part, Value>(load: () => Promise<Part>, make: (part: Part) => Value): Lazy<Value>;
export function lazily<Part, Value>(load: () => Promise<Part>, make?: (part: Part) => Value): Lazy<Part | Value> {
  let made: Part | Value | undefined;
  let making: Promise<Part | Value> | undefined;
  const makeNow = async () => {
    const part = await load().catch((error) => Promise.reject(notLoaded(error)));
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

/** A window works on while an update replaces the files of its program, or while they are removed. */
export function notLoaded(cause: unknown): Error {
  const { code, name = 'Error' } = cause as { code?: string; name?: string };
  const message = `A part of Towpath could not be loaded (${code ?? name}). Reload the window: Towpath may have been updated or removed while it was open.`;
  return new Error(message, { cause });
}
