import type { ToolCall } from '../protocol/messages.ts';
import { inWords } from './inWords.ts';
import { type Tool, ToolError } from './tool.ts';

/** Deeper than any schema; deeper values cannot be stored or posted. */
const maximumDepth = 32;

/**
 * The arguments as the tool's schema has them, deeply frozen: what is shown, what is checked and what runs is this one
 * object. Throws `TOOL_ARGS_INVALID_JSON` or `TOOL_ARGS_INVALID` in words that a model can act on.
 */
export function checkArguments(call: ToolCall, tool: Tool): unknown {
  if (call.malformed !== undefined) throw malformed(call.malformed, tool);
  const problem = forbidden(call.arguments, 0);
  if (problem) throw new ToolError('TOOL_ARGS_INVALID', `${problem} ${expected(tool)}`);
  const parsed = tool.arguments.safeParse(tool.understands?.(call.arguments) ?? call.arguments);
  if (!parsed.success) {
    const problems = parsed.error.issues.slice(0, 8).map(inWords);
    throw new ToolError('TOOL_ARGS_INVALID', `${problems.join('; ')}. ${expected(tool)}`);
  }
  return freeze(parsed.data);
}

function malformed(text: string, tool: Tool): ToolError {
  let why = 'it is not an object';
  try {
    JSON.parse(text);
  } catch (error) {
    why = (error as Error).message.slice(0, 200);
  }
  const end = text.length > 40 ? ` They end with ${JSON.stringify(text.slice(-40))}.` : '';
  return new ToolError(
    'TOOL_ARGS_INVALID_JSON',
    `The arguments are not one complete JSON object: ${why}.${end} Nothing was run. Send the whole call again. ${expected(tool)}`,
  );
}

/** Names that mean something to JavaScript objects are never argument names, at any depth. */
function forbidden(value: unknown, depth: number): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth > maximumDepth) return 'The arguments are nested too deeply.';
  for (const key of Object.keys(value)) {
    if (key === '__proto__' || key === 'constructor' || key === 'prototype') return `"${key}" is not an argument.`;
    const problem = forbidden((value as Record<string, unknown>)[key], depth + 1);
    if (problem) return problem;
  }
  return undefined;
}

/** `fs.read takes {path: string, offset?: integer}.` */
function expected({ definition }: Tool): string {
  const required = new Set(definition.parameters.required ?? []);
  const parts = Object.entries(definition.parameters.properties ?? {}).map(
    ([name, schema]) => `${name}${required.has(name) ? '' : '?'}: ${String(schema.type ?? 'any')}`,
  );
  return `${definition.name} takes {${parts.join(', ')}}.`;
}

function freeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) freeze(part);
  }
  return value;
}
