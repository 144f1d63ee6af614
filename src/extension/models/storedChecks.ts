import type { Memento } from 'vscode';
import { type CheckResult, checkInShort, checkResultSchema } from '../../check/taskResult.ts';

const name = 'towpath.checks';
/** The newest of so many models. */
const most = 50;

/** What came of checking models, the newest of each. What another version has kept in another form is not there. */
export class StoredChecks {
  /** Lists of models are drawn often. */
  private known?: CheckResult[];

  constructor(
    private readonly memento: Pick<Memento, 'get' | 'update'>,
    private readonly changed: () => void,
  ) {}

  /** The newest first. */
  get all(): CheckResult[] {
    this.known ??= readable(this.memento.get<unknown>(name));
    return this.known;
  }

  of(model: string): CheckResult | undefined {
    return this.all.find((one) => one.model === model);
  }

  /** For lists of models; undefined: nobody has checked it. */
  inShort(model: string): string | undefined {
    const result = this.of(model);
    return result && checkInShort(result);
  }

  async keep(result: CheckResult): Promise<void> {
    const others = this.all.filter(({ model }) => model !== result.model);
    this.known = [result, ...others].slice(0, most);
    await this.memento.update(name, this.known);
    this.changed();
  }
}

const readable = (kept: unknown): CheckResult[] =>
  (Array.isArray(kept) ? kept : []).flatMap((one) => checkResultSchema.safeParse(one).data ?? []);
