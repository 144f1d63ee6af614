import type { ModelInfo } from '../core/client.ts';

export interface ModelPage {
  models: ModelInfo[];
  /** Token of the next page; undefined on the last page. */
  next: string | undefined;
}

/** Maximum pages of a thousand models each. */
const pageLimit = 10;

/** Reads the models of all pages; `read` receives the token of the page, undefined for the first. */
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
