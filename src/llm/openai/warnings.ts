import { type LocalizedMessage, message, toEnglishText } from '../../protocol/text/l10n.ts';
import type { ChatRequest } from '../core/client.ts';
import { attachmentsIn, isTextAttachment } from '../messages/attachments.ts';
import { thinkingBudgetWarning } from '../messages/warnings.ts';
import type { OpenAICompatibilityFlags } from '../models/wireFlags.ts';
import { thinkingParameter } from './thinking.ts';

export function openAIRequestWarnings(request: ChatRequest, flags: OpenAICompatibilityFlags): string[] {
  const { model, thinkingBudget = 0, responseFormat } = request;
  return [
    ...(thinkingBudget > 0 && !thinkingParameter(request, flags) ? [thinkingBudgetWarning(model)] : []),
    ...(responseFormat?.type === 'json_schema' && flags.schemaInPrompt
      ? [`${model} cannot be held to a schema; it is asked for it in words.`]
      : []),
    ...omittedImageWarnings(request, flags).map(toEnglishText),
  ];
}

export function omittedImageWarnings(
  { model, messages }: ChatRequest,
  { withoutImages }: OpenAICompatibilityFlags,
): LocalizedMessage[] {
  const unseen = withoutImages && attachmentsIn(messages).some((file) => !isTextAttachment(file));
  if (!unseen) return [];
  return [message('{0} does not accept images, so they are left out. Pick a model that does.', model)];
}
