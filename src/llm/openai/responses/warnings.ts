import { inEnglish } from '../../../protocol/text/l10n.ts';
import type { ChatRequest } from '../../core/client.ts';
import { budgetIgnored } from '../../messages/warnings.ts';
import { leftOut } from '../warnings.ts';
import type { ResponsesFlags } from './flags.ts';
import { reasoningOf } from './wire.ts';

export function notesOf(request: ChatRequest, flags: ResponsesFlags): string[] {
  const { model, thinkingBudget = 0, responseFormat, stopSequences = [] } = request;
  return [
    ...(thinkingBudget > 0 && !reasoningOf(request, flags)?.effort ? [budgetIgnored(model)] : []),
    ...(stopSequences.length > 0 ? [`${model} takes no stop sequences here; they are left out.`] : []),
    ...(responseFormat?.type === 'json_schema' && flags.schemaInWords
      ? [`${model} cannot be held to a schema; it is asked for it in words.`]
      : []),
    ...(flags.refused?.size ? [`${model} does not take earlier thinking back; it is left out.`] : []),
    ...leftOut(request, flags).map(inEnglish),
  ];
}
