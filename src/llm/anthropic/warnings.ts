import type { ChatRequest } from '../core/client.ts';
import { outputLimited } from '../messages/outputLimit.ts';
import { budgetIgnored } from '../messages/warnings.ts';
import type { WireFlags, WireRequest } from './wire.ts';

export function notesOf(request: ChatRequest, body: WireRequest, flags: WireFlags): string[] {
  const { model, maxTokens = 0, responseFormat } = request;
  return [
    ...thinkingNotes(request, body),
    ...changed(model, 'temperature', request.temperature, body.temperature),
    ...changed(model, 'top_p', request.topP, body.top_p),
    ...(request.stopSequences?.length && !body.stop_sequences
      ? [`${model} takes no stop sequences; they are left out.`]
      : []),
    ...(maxTokens > body.max_tokens ? [outputLimited(model, body.max_tokens, maxTokens)] : []),
    ...(responseFormat && !body.output_config?.format
      ? [`${model} cannot be held to this format; it is asked for it in words.`]
      : []),
    ...(flags.refused?.size ? [`${model} does not take earlier thinking back; it is left out.`] : []),
  ];
}

function thinkingNotes({ model, thinkingBudget = 0, toolChoice }: ChatRequest, { thinking }: WireRequest): string[] {
  if (thinkingBudget <= 0) return [];
  if (!thinking && toolChoice === 'required')
    return [`${model} does not think where it must call a tool; the thinking budget is ignored.`];
  if (!thinking) return [budgetIgnored(model)];
  if (thinking.type === 'adaptive' || thinking.budget_tokens === thinkingBudget) return [];
  return [
    `A thinking budget of ${thinkingBudget} tokens is not possible for ${model}; it gets ${thinking.budget_tokens}.`,
  ];
}

function changed(model: string, name: string, asked: number | undefined, sent: number | undefined): string[] {
  if (asked === sent) return [];
  return [
    sent === undefined
      ? `${model} does not take ${name} here; it is left out.`
      : `${model} takes ${name} up to ${sent}.`,
  ];
}
