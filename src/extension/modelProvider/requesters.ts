import { t } from '../../protocol/text/l10n.ts';
import type { LocalizableText } from '../../protocol/text/localized.ts';
import { AskRefused } from './answerRequest.ts';

/** Somebody that asks models of ours, as the editor tells it. */
export interface Requester {
  /** Of an extension; undefined: the editor does not tell who asks. */
  id?: string;
  /** For people. */
  name: LocalizableText;
}

interface AskersMemory {
  all(): Record<string, unknown>;
  update(id: string, value: unknown): void;
}

/** Asks of one extension that may wait for the person's answer about it. */
const mostWaiting = 4;

/**
 * Which extensions may ask the models that the person offers: they say so once for each. Where the editor does not tell who asks, that
 * they offer them at all is the yes.
 */
export class Askers {
  private readonly questions = new Map<string, { answer: Promise<boolean>; waiting: number }>();
  /** Those that got a no: not asked about again in this window. */
  private readonly declined = new Set<string>();

  constructor(
    private readonly memory: AskersMemory,
    private readonly ask: (asker: Requester) => Promise<boolean>,
  ) {}

  /** Throws `AskRefused` for those that may not. */
  async check(asker: Requester): Promise<void> {
    const { id, name } = asker;
    if (id === undefined || this.allowed.includes(id)) return;
    const refused = new AskRefused('no-permission', t("You have not allowed {0} to use Towpath's models.", name));
    if (this.declined.has(id)) throw refused;
    const question = this.questions.get(id) ?? { answer: this.question(id, asker), waiting: 0 };
    if (question.waiting >= mostWaiting)
      throw new AskRefused('blocked', t("You have not yet decided whether {0} may use Towpath's models.", name));
    question.waiting += 1;
    this.questions.set(id, question);
    if (!(await question.answer.finally(() => this.questions.delete(id)))) throw refused;
  }

  get allowed(): string[] {
    return Object.entries(this.memory.all()).flatMap(([id, value]) => (value === true ? [id] : []));
  }

  /** It is asked about again. */
  forget(id: string): void {
    this.memory.update(id, undefined);
    this.declined.delete(id);
  }

  /** Who got a no may be asked about again. */
  reconsider(): void {
    this.declined.clear();
  }

  private async question(id: string, asker: Requester): Promise<boolean> {
    const answer = await this.ask(asker);
    if (answer) this.memory.update(id, true);
    else this.declined.add(id);
    return answer;
  }
}
