import type { ChatRequest } from '../core/client.ts';
import { budgetIgnored } from '../messages/warnings.ts';
import { thinkingConfigOf } from './thinking.ts';
import type { GoogleFlags } from './wire.ts';

export function notesOf(request: ChatRequest, flags: GoogleFlags): string[] {
  const { model, responseFormat, tools = [] } = request;
  return [
    ...budgetNotes(request, flags),
    ...(flags.systemAsUser ? [`${model} takes no system instruction; it opens the conversation instead.`] : []),
    ...(flags.tellUnsignedCalls
      ? [`${model} takes only calls that it signed itself; those of other models are told as text.`]
      : []),
    ...(responseFormat && tools.length > 0
      ? [`${model} cannot keep to a format while it has tools; the format is left out.`]
      : []),
  ];
}

function budgetNotes(request: ChatRequest, flags: GoogleFlags): string[] {
  const { model, thinkingBudget: asked = 0 } = request;
  const { thinkingBudget: given, thinkingLevel } = thinkingConfigOf(request, flags) ?? {};
  if (asked <= 0 || thinkingLevel || given === asked) return [];
  if (given === undefined) return [budgetIgnored(model)];
  return [`A thinking budget of ${asked} tokens is not possible for ${model}; it gets ${given}.`];
}
