import { type StoredEvent, storedEventSchema } from '../protocol/run/events.ts';
import { message } from '../protocol/text/l10n.ts';
import { StoreError } from './journal.ts';

/**
 * Returns the event as a journal can hold and read it again. Optional numbers that are not finite (JSON would write null) are left
 * out. Throws `StoreError` for any other event that the schema refuses: a line that cannot be read is never written.
 *
 * @invariant written-events-can-be-read: Every event that is appended to a journal passes the schema that reads it.
 */
export function storable(event: StoredEvent): StoredEvent {
  if (storedEventSchema.safeParse(event).success) return event;
  const finite = withoutInfinite(event) as StoredEvent;
  const { success, error } = storedEventSchema.safeParse(finite);
  if (success) return finite;
  const where = error.issues[0]?.path.join('.') ?? '';
  throw new StoreError(
    'STORE_FAILED',
    message('An event of this run could not be recorded ({0}: {1}).', event.type, where),
  );
}

function withoutInfinite(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutInfinite);
  if (typeof value !== 'object' || value === null) return value;
  const isKept = ([, one]: [string, unknown]) => typeof one !== 'number' || Number.isFinite(one);
  return Object.fromEntries(
    Object.entries(value)
      .filter(isKept)
      .map(([name, one]) => [name, withoutInfinite(one)]),
  );
}
