import type { Memento } from 'vscode';
import * as z from 'zod';
import type { ModelInfo } from '../../llm/core/client.ts';

const name = 'towpath.contextWindows';
const maxModels = 100;

const storedSchema = z.array(z.tuple([z.string(), z.int().min(1).max(100_000_000)]));

/** Context sizes in tokens as last reported by providers, shared with earlier windows. */
export class KnownContextSizes {
  private readonly asked = new Set<string>();
  private sizes: Map<string, number>;

  constructor(
    private readonly memento: Pick<Memento, 'get' | 'update'>,
    private readonly changed: () => void,
  ) {
    this.sizes = new Map(storedSchema.safeParse(memento.get<unknown>(name)).data ?? []);
  }

  of(key: string): number | undefined {
    return this.sizes.get(key);
  }

  /** Requests a size in the background, once per window, and again after a failure. */
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

export const listedContextSize = (listed: readonly ModelInfo[], model: string): number | undefined =>
  listed.find(({ id }) => id === model)?.contextWindow;
