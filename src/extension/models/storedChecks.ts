import type { Memento } from 'vscode';
import { type CheckResult, checkResultSchema, shortCheckResult } from '../../check/taskResult.ts';

const name = 'towpath.checks';
const most = 50;

/** Newest check results per model. Results in the format of another version are ignored. */
export class StoredModelCheckResults {
  private known?: CheckResult[];

  constructor(
    private readonly memento: Pick<Memento, 'get' | 'update'>,
    private readonly changed: () => void,
  ) {}

  get all(): CheckResult[] {
    this.known ??= readable(this.memento.get<unknown>(name));
    return this.known;
  }

  of(model: string): CheckResult | undefined {
    return this.all.find((one) => one.model === model);
  }

  /** Returns the summary for lists of models; undefined without a check. */
  inShort(model: string): string | undefined {
    const result = this.of(model);
    return result && shortCheckResult(result);
  }

  async keep(result: CheckResult): Promise<void> {
    const others = this.all.filter(({ model }) => model !== result.model);
    this.known = [result, ...others].slice(0, most);
    await this.memento.update(name, this.known);
    this.changed();
  }
}

const readable = (stored: unknown): CheckResult[] =>
  (Array.isArray(stored) ? stored : []).flatMap((one) => checkResultSchema.safeParse(one).data ?? []);
