import { splitModelId } from '../providers/modelIds.ts';

/**
 * Returns the first name that is one of the models in use, as `provider/model`. A name without a provider has to be the exact name of one
 * model; the aliases of other programs are not guessed.
 */
export function findConfiguredModel(names: readonly string[], inUse: readonly string[]): string | undefined {
  const ids = [...new Set(inUse)].filter(Boolean);
  for (const name of names) {
    const matches = ids.includes(name) ? [name] : ids.filter((id) => splitModelId(id).model === name);
    if (matches.length === 1) return matches[0];
  }
  return undefined;
}
