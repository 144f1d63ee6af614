import type { ModelInfo } from '../core/client.ts';

export interface ModelPage {
  models: ModelInfo[];
  next: string | undefined;
}

const pageLimit = 10;

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
