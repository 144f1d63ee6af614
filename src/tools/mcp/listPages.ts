import type { OmittedListItem, ParsedMcpItemList } from './forms/listForms.ts';

const pageLimit = 50;
export const maxListItems = 1000;

interface WholeList<Item> {
  items: Item[];
  leftOut: OmittedListItem[];
  /** All items, with those left out. */
  of: number;
}

/** Reads the pages of a list, within limits. */
export async function readListPages<Item>(
  readPage: (params: { cursor?: string }) => Promise<ParsedMcpItemList<Item>>,
): Promise<WholeList<Item>> {
  const whole: WholeList<Item> = { items: [], leftOut: [], of: 0 };
  let cursor: string | undefined;
  for (let count = 0; count < pageLimit && whole.items.length < maxListItems; count++) {
    const page = await readPage(cursor === undefined ? {} : { cursor });
    for (const item of page.items) whole.items.push(item);
    whole.leftOut.push(...page.leftOut);
    whole.of += page.of;
    if (page.nextCursor === undefined || page.nextCursor === cursor) break;
    cursor = page.nextCursor;
  }
  return whole;
}
