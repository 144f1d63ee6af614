import { type StoredEvent, storedEventSchema } from '../protocol/run/events.ts';
import { message } from '../protocol/text/l10n.ts';
import { StoreError } from './journal.ts';

/**
 * Returns the event in a form that the journal can store and read. Optional infinite numbers are removed (JSON would write null). Throws
 * `StoreError` if the schema rejects the event.
 *
 * @invariant written-events-can-be-read: Every event appended to a journal passes the schema of the reader.
 */
export function toStorableEvent(event: StoredEvent): StoredEvent {
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
  const isStorable = ([, one]: [string, unknown]) => typeof one !== 'number' || Number.isFinite(one);
  return Object.fromEntries(
    Object.entries(value)
      .filter(isStorable)
      .map(([name, one]) => [name, withoutInfinite(one)]),
  );
}
