import type * as z from 'zod';
import type { ToolCall } from '../../protocol/content/messages.ts';
import { zodIssueText } from '../../protocol/text/zodIssueText.ts';
import { argumentShapeOf } from './argumentShape.ts';
import { interpretArguments } from './interpretArguments.ts';
import { type Tool, ToolError } from './tool.ts';

type Checked = Pick<Tool, 'definition' | 'arguments' | 'schema' | 'understands'>;

// Nesting limit above any real schema. Deeper values cannot be stored or sent.
const maximumDepth = 32;

/**
 * Returns the arguments in the form of the tool's schema, deeply frozen: the same object is shown, checked and executed. Arguments with a
 * schema error but only one possible meaning are accepted in that meaning. Throws `TOOL_ARGS_INVALID_JSON` or `TOOL_ARGS_INVALID` with a
 * message for the model.
 */
export const checkArguments = (call: ToolCall, tool: Checked): unknown => normalizeToolArguments(call, tool).args;

export function normalizeToolArguments(call: ToolCall, tool: Checked): { args: unknown; isAsSent: boolean } {
  if (call.malformed !== undefined) throw malformed(call.malformed, tool);
  const problem = forbidden(call.arguments, 0);
  if (problem) throw new ToolError('TOOL_ARGS_INVALID', `${problem} ${argumentShapeOf(tool.definition)}`);
  const check = (given: Record<string, unknown>) => tool.arguments.safeParse(tool.understands?.(given) ?? given);
  const own = tool.understands?.(call.arguments);
  const parsed = tool.arguments.safeParse(own ?? call.arguments);
  const data = parsed.success
    ? parsed.data
    : onlyReading(own ?? call.arguments, tool.schema ?? tool.definition.parameters, check);
  if (data !== undefined) return { args: freeze(data), isAsSent: parsed.success && own === undefined };
  const issues = parsed.error?.issues ?? [];
  const wrong = issues.map(({ path }) => String(path[0] ?? '').split('.', 1)[0]!);
  throw new ToolError(
    'TOOL_ARGS_INVALID',
    `${issues.slice(0, 8).map(zodIssueText).join('; ')}. ${argumentShapeOf(tool.definition, wrong)}`,
  );
}

// Returns the checked form of the only acceptable reading; undefined if no reading is accepted, or if several readings differ.
function onlyReading(
  given: Record<string, unknown>,
  schema: unknown,
  check: (reading: Record<string, unknown>) => z.ZodSafeParseResult<unknown>,
): unknown {
  const accepted = new Map<string, unknown>();
  for (const reading of interpretArguments(given, schema)) {
    if (forbidden(reading, 0)) continue;
    const { success, data } = check(reading);
    if (success) accepted.set(JSON.stringify(data), data);
  }
  return accepted.size === 1 ? [...accepted.values()][0] : undefined;
}

function malformed(text: string, tool: Checked): ToolError {
  let why = 'it is not an object';
  try {
    JSON.parse(text);
  } catch (error) {
    why = (error as Error).message.slice(0, 200);
  }
  const end = text.length > 40 ? ` They end with ${JSON.stringify(text.slice(-40))}.` : '';
  return new ToolError(
    'TOOL_ARGS_INVALID_JSON',
    `The arguments are not one complete JSON object: ${why}.${end} Nothing was run. Send the whole call again. ${argumentShapeOf(tool.definition)}`,
  );
}

// Rejects names with a special meaning for JavaScript objects, at any depth.
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

function freeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) freeze(part);
  }
  return value;
}
