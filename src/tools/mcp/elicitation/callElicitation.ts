import type { Localizer } from '../../../protocol/text/localized.ts';
import type { ToolContext } from '../../core/tool.ts';
import type { ElicitationHandler, ElicitationRequest } from './elicitationForm.ts';
import { askForm } from './elicitationQuestions.ts';

export type AddressRequest = Extract<ElicitationRequest, { mode: 'url' }>;

interface CallElicitationOptions {
  server: string;
  localizer: Localizer;
  /** Asks whether to open an address in the browser, and opens it. Absent: it is declined. */
  openAddress?(request: AddressRequest, signal: AbortSignal): Promise<'accept' | 'decline' | 'cancel'>;
}

/** Creates the handler for questions of a server during a call: forms are questions of the call. A stop of the call cancels the question. */
export function createCallElicitation(
  { server, localizer, openAddress }: CallElicitationOptions,
  { ask }: Pick<ToolContext, 'ask'>,
): ElicitationHandler {
  return async (request, signal) => {
    try {
      if (request.mode === 'form')
        return await askForm(request, { server, localizer, ask: (questions) => ask(questions, server || '?') });
      return { action: (await openAddress?.(request, signal)) ?? 'decline' };
    } catch {
      return { action: 'cancel' }; // the call ends by itself
    }
  };
}
