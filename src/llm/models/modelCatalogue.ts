import given from './catalogue.json' with { type: 'json' };
import type { Price } from './prices.ts';

/** `from` a day on, or between two `hours` of each (UTC). */
type Conditional = Price & { from?: string; hours?: readonly string[] };
interface Model {
  /** A regular expression, for names in whatever case. */
  name: string;
  /** Tokens. */
  window?: number;
  price?: Price | readonly Conditional[];
}
interface Listed {
  id: string;
  /** A regular expression for the origin of its addresses. */
  address: string;
  /** Whose models it has, too. */
  also?: readonly string[];
  models: readonly Model[];
}

const listed: readonly Listed[] = given.providers;

/** The day on which what is known of the models was published. */
export const catalogueDate: string = given.source.date;

/**
 * What was known of a model at an address when Towpath was packaged: a price goes with who asks for it, so that a model of the same name
 * at another address has none. Undefined: not known. Nothing is fetched.
 */
export function catalogued(
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

/** Of several the last one that counts at this time. */
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
