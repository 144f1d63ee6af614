import type { ModelInfo } from '../core/client.ts';

export interface ModelPage {
  models: ModelInfo[];
  /** What to ask the next page with; undefined at the last one. */
  next: string | undefined;
}

/** Of a thousand models each. */
const pageLimit = 10;

/** The models of all pages; `read` gets the one that begins at `next`, at first without it. */
export async function readPages(read: (next: string | undefined) => Promise<ModelPage>): Promise<ModelInfo[]> {
  const models: ModelInfo[] = [];
  let next: string | undefined;
  for (let count = 0; count < pageLimit; count++) {
    const page = await read(next);
    models.push(...page.models);
    next = page.next;
    if (next === undefined) break;
  }
  return models;
}
