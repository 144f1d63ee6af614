import type { ChatRequest } from '../client.ts';
import { budgetIgnored } from '../notes.ts';
import type { GoogleFlags } from './wire.ts';

/** What was asked for and is not sent, or not so, in sentences for the log. */
export function notesOf(
  { model, thinkingBudget = 0, responseFormat, tools = [] }: ChatRequest,
  flags: GoogleFlags,
): string[] {
  return [
    ...(thinkingBudget > 0 && flags.omitThinking ? [budgetIgnored(model)] : []),
    ...(flags.systemAsUser ? [`${model} takes no system instruction; it opens the conversation instead.`] : []),
    ...(flags.tellUnsignedCalls
      ? [`${model} takes only calls that it signed itself; those of other models are told as text.`]
      : []),
    ...(responseFormat && tools.length > 0
      ? [`${model} cannot keep to a format while it has tools; the format is left out.`]
      : []),
  ];
}
