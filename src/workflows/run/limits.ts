import type { WorkflowContext } from '../../engine/core/workflow.ts';
import type { ErrorInfo } from '../../protocol/content/messages.ts';
import { unpricedTokens } from '../../protocol/run/run.ts';
import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { joinLocalizableTexts, toErrorInfo } from '../../protocol/text/localized.ts';
import type { WorkflowFile } from '../plan/schema.ts';

/**
 * Limits of a workflow between two stop points: cost in US dollars, and minutes including user answers. Running work is completed first,
 * and continuing grants the same amount again.
 */
export class WorkflowLimits {
  private readonly before: WorkflowContext['run']['usage'];
  private readonly unpricedBefore: number;
  private readonly began: number;

  constructor(
    private readonly limits: NonNullable<WorkflowFile['limits']>,
    private readonly run: WorkflowContext['run'],
    private readonly now: () => number = Date.now,
  ) {
    this.before = run.usage;
    this.unpricedBefore = unpricedTokens(run);
    this.began = now();
  }

  resting(context: WorkflowContext): WorkflowContext {
    return Object.create(context, { pausing: { get: () => context.pausing || this.reached !== undefined } });
  }

  get reached(): ErrorInfo | undefined {
    const { cost, minutes } = this.limits;
    const spent = (this.run.usage.cost ?? 0) - (this.before.cost ?? 0);
    const reached = (what: LocalizedMessage) => {
      const text = joinLocalizableTexts([what, message('Continue to allow the same amount again.')]);
      return { code: 'WORKFLOW_LIMIT_REACHED', ...toErrorInfo(text) };
    };
    if (cost !== undefined && spent >= cost)
      return reached(message('The limit of {0} of this workflow is reached: {1}.', `$${cost}`, `$${spent.toFixed(2)}`));
    if (minutes !== undefined && this.now() - this.began >= minutes * 60_000)
      return reached(message('The limit of {0} minutes of this workflow is reached.', minutes));
    return undefined;
  }

  /** Warning that the cost limit is unreliable because some calls have no known price. */
  get doubt(): LocalizedMessage | undefined {
    if (this.limits.cost === undefined || unpricedTokens(this.run) <= this.unpricedBefore) return undefined;
    return message('The price of its model is unknown, so `limits.cost` does not apply.');
  }
}
