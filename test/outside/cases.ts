/**
 * Inputs that servers, models and users really send, as data in `cases/*.json`: a kind, its input and what is wanted of it.
 * A file holds one case, or several as `variants` that share its other fields.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The cases of one kind, each with the name of its file and, where that has several, its number. */
export function casesOf<Case>(kind: string): { title: string; input: Case }[] {
  const folder = path.join(import.meta.dirname, 'cases');
  return readdirSync(folder)
    .sort()
    .flatMap((file) => {
      const { variants, ...shared } = JSON.parse(readFileSync(path.join(folder, file), 'utf8'));
      if (shared.kind !== kind) return [];
      const name = path.basename(file, '.json');
      if (variants === undefined) return [{ title: name, input: shared as Case }];
      return (variants as object[]).map((variant, index) => ({
        title: `${name} ${index + 1}`,
        input: { ...shared, ...variant } as Case,
      }));
    });
}
