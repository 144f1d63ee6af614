import type { ModelInfo } from '../core/client.ts';

export interface ModelListPage {
  models: ModelInfo[];
  next: string | undefined;
}

const pageLimit = 10;

export async function readModelListPages(
  read: (next: string | undefined) => Promise<ModelListPage>,
): Promise<ModelInfo[]> {
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
