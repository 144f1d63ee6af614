import type { ErrorInfo } from '../../protocol/content/messages.ts';
import type { WorkStats } from '../../protocol/content/workStats.ts';
import type { RunPhase } from '../../protocol/run/events.ts';
import type { Run } from '../../protocol/run/run.ts';
import { type LocalizableText, toErrorInfo } from '../../protocol/text/localized.ts';
import type { StopPoint } from './abortReason.ts';

export interface EngineResult {
  success: boolean;
  phase: RunPhase;
  assistantText?: string | null;
  error?: ErrorInfo;
  isUnheard?: boolean;
}

export type Suspension = Omit<StopPoint, 'turns' | 'held'> & { took?: WorkStats };

export function engineResultOf(run: Run, stop: StopPoint): EngineResult {
  const last = run.messages.findLast((message) => message.role === 'assistant');
  return {
    success: stop.error === undefined,
    phase: stop.phase,
    assistantText: last?.content || null,
    ...(stop.error && { error: stop.error }),
  };
}

export const untrustedWorkspaceMessage = 'Nothing can be changed in an untrusted workspace.';

export function failedEngineResult(code: string, text: LocalizableText): EngineResult {
  return { success: false, phase: 'Failed', error: { code, ...toErrorInfo(text) } };
}
