import { t } from '../../protocol/text/l10n.ts';
import type { LocalizableText } from '../../protocol/text/localized.ts';
import { IncomingModelRequestRejected } from './answerRequest.ts';

export interface RequestingExtension {
  /** Extension id; undefined if the editor reports none. */
  id?: string;
  name: LocalizableText;
}

interface AskersMemory {
  all(): Record<string, unknown>;
  update(id: string, value: unknown): void;
}

const maxWaiting = 4;

/**
 * Consents of extensions to use the offered models, requested once each. If the editor does not report the requester, the offer itself is
 * the consent.
 */
export class RequestingExtensionConsents {
  private readonly questions = new Map<string, { answer: Promise<boolean>; waiting: number }>();
  private readonly declined = new Set<string>();

  constructor(
    private readonly memory: AskersMemory,
    private readonly ask: (asker: RequestingExtension) => Promise<boolean>,
  ) {}

  /** Throws `IncomingModelRequestRejected` for an extension without consent. */
  async check(asker: RequestingExtension): Promise<void> {
    const { id, name } = asker;
    if (id === undefined || this.allowed.includes(id)) return;
    const refused = new IncomingModelRequestRejected(
      'no-permission',
      t("You have not allowed {0} to use Towpath's models.", name),
    );
    if (this.declined.has(id)) throw refused;
    const question = this.questions.get(id) ?? { answer: this.question(id, asker), waiting: 0 };
    if (question.waiting >= maxWaiting)
      throw new IncomingModelRequestRejected(
        'blocked',
        t("You have not yet decided whether {0} may use Towpath's models.", name),
      );
    question.waiting += 1;
    this.questions.set(id, question);
    if (!(await question.answer.finally(() => this.questions.delete(id)))) throw refused;
  }

  get allowed(): string[] {
    return Object.entries(this.memory.all()).flatMap(([id, value]) => (value === true ? [id] : []));
  }

  forget(id: string): void {
    this.memory.update(id, undefined);
    this.declined.delete(id);
  }

  reconsider(): void {
    this.declined.clear();
  }

  private async question(id: string, asker: RequestingExtension): Promise<boolean> {
    const answer = await this.ask(asker);
    if (answer) this.memory.update(id, true);
    else this.declined.add(id);
    return answer;
  }
}
