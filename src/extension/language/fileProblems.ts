import { type LocalizableText, toErrorInfo } from '../../protocol/text/localized.ts';
import type { WorkflowLoadResult } from '../../workflows/read/check.ts';
import type { YamlProblem } from '../../workflows/read/yaml.ts';

export function unreadableFileProblem<Value>(text: LocalizableText): WorkflowLoadResult<Value> {
  const problem: YamlProblem = { line: 1, column: 1, endLine: 1, endColumn: 1, ...toErrorInfo(text) };
  return { problems: [problem], warnings: [] };
}

/**
 * Returns the file of a package for a problem. The name comes from the package, so only a plain path below the package's folder is
 * accepted.
 */
export function packageProblemFile(file: string | undefined): string | undefined {
  if (file === undefined || file.length > 300 || !/^[\w@. -]+(\/[\w@. -]+)*$/.test(file)) return undefined;
  return file.split('/').some((part) => /^\.+$/.test(part)) ? undefined : file;
}

export class SerialQueue<Item> {
  private readonly first = new Map<string, Item>();
  private readonly rest = new Map<string, Item>();
  private working = false;
  private over = false;

  /** @param look processes an item; never throws */
  constructor(private readonly look: (item: Item) => Promise<void>) {}

  /** @param next before all waiting items, because the user looks at it */
  add(key: string, item: Item, next = false): void {
    const into = next || this.first.has(key) ? this.first : this.rest;
    if (into === this.first) this.rest.delete(key);
    into.set(key, item);
    void this.work();
  }

  stop(): void {
    this.over = true;
  }

  private async work(): Promise<void> {
    if (this.working) return;
    this.working = true;
    for (let item = this.take(); item !== undefined && !this.over; item = this.take()) await this.look(item);
    this.working = false;
  }

  private take(): Item | undefined {
    for (const waiting of [this.first, this.rest])
      for (const [key, item] of waiting) {
        waiting.delete(key);
        return item;
      }
    return undefined;
  }
}
