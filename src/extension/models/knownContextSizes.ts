import type { Memento } from 'vscode';
import * as z from 'zod';
import type { ModelInfo } from '../../llm/core/client.ts';

const name = 'towpath.contextWindows';
/** Models whose size is stored, the newest. */
const maxModels = 100;

const storedSchema = z.array(z.tuple([z.string(), z.int().min(1).max(100_000_000)]));

/** Sizes of context windows in tokens, as the lists of providers said last, also in earlier windows of the editor. */
export class KnownWindows {
  private readonly asked = new Set<string>();
  private sizes: Map<string, number>;

  constructor(
    private readonly memento: Pick<Memento, 'get' | 'update'>,
    /** Called when a size is new or another one. */
    private readonly changed: () => void,
  ) {
    this.sizes = new Map(storedSchema.safeParse(memento.get<unknown>(name)).data ?? []);
  }

  /** @param key names a model and the address of its provider */
  of(key: string): number | undefined {
    return this.sizes.get(key);
  }

  /** Asks for a size in the background, once per window of the editor; after a failure again. */
  ask(key: string, size: () => Promise<number | undefined>): void {
    if (this.asked.has(key)) return;
    this.asked.add(key);
    size().then(
      (tokens) => this.learn(key, tokens),
      () => this.asked.delete(key),
    );
  }

  private async learn(key: string, tokens: number | undefined): Promise<void> {
    if (tokens === undefined || tokens === this.sizes.get(key)) return;
    const others = [...this.sizes].filter(([one]) => one !== key);
    this.sizes = new Map([...others, [key, tokens] as const].slice(-maxModels));
    this.changed();
    await this.memento.update(name, [...this.sizes]);
  }
}

/** Returns the size of a model's context window in tokens, as a provider lists it. */
export const listedWindow = (listed: readonly ModelInfo[], model: string): number | undefined =>
  listed.find(({ id }) => id === model)?.contextWindow;
