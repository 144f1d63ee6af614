import path from 'node:path';
import type { RunModel } from '../engine/run/runContext.ts';
import { createAdapter } from '../llm/adapter/adapter.ts';
import { createLLMClient } from '../llm/createClient.ts';
import { createLocalModelClient } from '../llm/local/host/client.ts';
import { maxContextSize } from '../llm/local/modelFile/contextSize.ts';
import { findCatalogEntry } from '../llm/models/modelCatalog.ts';
import { freeModelPrice } from '../llm/models/prices.ts';
import { providers } from '../llm/models/providers.ts';
import { withTextToolCallParsing } from '../llm/textCalls/textCalls.ts';

/**
 * Model description without settings. `id`: `provider/model`, or a file path for `local`. `key`: environment variable with the API key.
 * `window`: context window in tokens.
 */
interface CheckedModel {
  id: string;
  address?: string | undefined;
  key?: string | undefined;
  window?: string | undefined;
}

/**
 * Creates a ready client for a model. Throws an `Error` with a sentence.
 *
 * @param dist folder of the built programs
 */
export function createModelCheckClient(
  { id, address, key, window: given }: CheckedModel,
  dist: string,
  environment: NodeJS.ProcessEnv = process.env,
): { model: RunModel; dispose(): Promise<void> } {
  const slash = id.indexOf('/');
  const [provider, model] = [id.slice(0, slash), id.slice(slash + 1)];
  if (slash < 1 || model === '') throw new Error('Which model? npm run check-model -- provider/name');
  const window = given === undefined ? undefined : Number(given);
  if (window !== undefined && !(window >= 512)) throw new Error('--window is a number of tokens, 512 at least.');
  if (provider === 'local') {
    const contextWindow = maxContextSize(window ?? 0);
    const workerPath = path.join(dist, 'worker.mjs');
    const client = createLocalModelClient({
      workerPath,
      modelPath: path.resolve(model),
      contextSize: contextWindow,
      oneRun: true,
    });
    const adapter = createAdapter(
      withTextToolCallParsing(client),
      { connectMs: 0, firstTokenMs: 0 },
      { priceOf: () => freeModelPrice },
    );
    return { model: { id, model, adapter, contextWindow, onThisMachine: true }, dispose: () => client.dispose() };
  }
  const known = providers.find((one) => one.id === provider);
  const all = ['local', ...providers.map((one) => one.id)].join(', ');
  if (!known) throw new Error(`There is no provider ${provider}. There are: ${all}.`);
  const apiKey = key === undefined ? undefined : environment[key];
  if (key !== undefined && !apiKey) throw new Error(`The environment has no ${key}.`);
  const baseUrl = address ?? known.baseUrl;
  const client = createLLMClient({
    provider: known.id,
    model,
    baseUrl,
    ...(apiKey && { apiKey }),
    azure: { deployment: model },
    ...(window && { ollama: { contextSize: window } }),
  });
  const { price, window: listed } = findCatalogEntry(baseUrl, model) ?? {};
  const contextWindow = window ?? listed;
  const adapter = createAdapter(client, {}, { priceOf: () => price });
  return { model: { id, model, adapter, ...(contextWindow && { contextWindow }) }, dispose: async () => {} };
}
