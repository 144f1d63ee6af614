import { type Context, createContext, Script } from 'node:vm';

// Milliseconds for a third-party schema: a regular expression in a schema could block the editor forever.
const patience = 500;
const script = new Script('work()');
// Creating a context costs more than most checks, so there is one.
let context: Context | undefined;

/** Runs code that depends on a third-party schema; undefined if the work exceeds the time limit or throws. */
export function runWithTimeout<Value>(work: () => Value): Value | undefined {
  context ??= createContext({});
  const outer = context.work;
  context.work = work;
  try {
    return script.runInContext(context, { timeout: patience });
  } catch {
    return undefined;
  } finally {
    context.work = outer;
  }
}
