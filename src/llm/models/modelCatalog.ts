import given from './catalog.json' with { type: 'json' };
import type { Price } from './prices.ts';

/** A price valid from a date or during hours of each day (UTC). */
type Conditional = Price & { from?: string; hours?: readonly string[] };
interface Model {
  /** Regular expression, case-insensitive. */
  name: string;
  window?: number;
  price?: Price | readonly Conditional[];
}
interface Listed {
  id: string;
  /** Regular expression of the origin. */
  address: string;
  also?: readonly string[];
  models: readonly Model[];
}

const listed: readonly Listed[] = given.providers;

export const catalogDate: string = given.source.date;

export function findCatalogEntry(
  address: string,
  model: string,
  now = new Date(),
): { price?: Price; window?: number } | undefined {
  const origin = URL.canParse(address) ? new URL(address).origin : '';
  const at = listed.find((one) => new RegExp(one.address).test(origin));
  if (!at) return undefined;
  const models = [at, ...(at.also ?? []).flatMap((id) => listed.find((one) => one.id === id) ?? [])].flatMap(
    (one) => one.models,
  );
  const undated = model.replace(/-20\d{6}$/, '');
  const found = [model, undated].flatMap((name) => models.find((one) => new RegExp(one.name, 'i').test(name)) ?? [])[0];
  if (!found) return undefined;
  const price = priceNow(found.price, now);
  return { ...(price && { price }), ...(found.window && { window: found.window }) };
}

function priceNow(price: Model['price'], now: Date): Price | undefined {
  if (!Array.isArray(price)) return price as Price | undefined;
  const [day, time] = [now.toISOString().slice(0, 10), now.toISOString().slice(11, 16)];
  return price.findLast(({ from, hours }: Conditional) => {
    if (from) return day >= from;
    const [begin, end] = hours ?? [];
    if (!begin || !end) return true;
    return begin < end ? time >= begin && time < end : time >= begin || time < end;
  });
}
