import type { ExtraTool, TurnOptions } from '../../engine/core/workflow.ts';
import type { ToolCall } from '../../protocol/content/messages.ts';
import {
  failedToolOutcome,
  type JsonSchema,
  type ToolDefinition,
  type ToolOutcome,
} from '../../protocol/content/tools.ts';
import { message } from '../../protocol/text/l10n.ts';
import { toErrorInfo } from '../../protocol/text/localized.ts';
import { checkArguments } from '../../tools/core/checkArguments.ts';
import { runWithTimeout } from '../../tools/core/runWithTimeout.ts';
import { ToolError } from '../../tools/core/tool.ts';
import type { ToolSpec } from '../plan/schema.ts';
import { appendHint, didYouMeanHint } from '../template/near.ts';
import { renderTemplatesDeep } from '../template/template.ts';
import { type WorkflowActionContext, WorkflowActionError } from './action.ts';
import { createJsonSchemaValidator } from './schemaCheck.ts';

export function toolSpecToDefinition({ name, description, parameters }: ToolSpec): ToolDefinition {
  const entries = Object.entries(parameters);
  const required = entries.filter(([, parameter]) => parameter.required === true).map(([key]) => key);
  return {
    name,
    description,
    parameters: {
      type: 'object',
      properties: Object.fromEntries(
        entries.map(([key, { required: names, ...parameter }]) => [
          key,
          { ...parameter, ...(Array.isArray(names) && { required: names }) } as JsonSchema,
        ]),
      ),
      ...(required.length > 0 && { required }),
      additionalProperties: false,
    },
  };
}

export const matchesToolPattern = (pattern: string, name: string): boolean =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;

/**
 * Returns the tools of a list: workspace tools, tools defined by the workflow, and inline tools with resolved templates. Throws
 * `WorkflowActionError` for an unknown name.
 */
export function resolveToolList(
  list: readonly (string | ToolSpec)[] | undefined,
  context: WorkflowActionContext,
): Pick<TurnOptions, 'allows' | 'extraTools' | 'needed'> {
  if (!list) return { extraTools: [] };
  const names = context.run.tools.map(({ name }) => name);
  const patterns: string[] = [];
  const specs: ToolSpec[] = [];
  for (const item of list) {
    if (typeof item !== 'string') specs.push(item);
    else {
      const own = context.tools.find((tool) => tool.name === item);
      if (own) specs.push({ ...own, with: renderTemplatesDeep(own.with, context.scope) as ToolSpec['with'] });
      else if (names.some((name) => matchesToolPattern(item, name))) patterns.push(item);
      else
        throw new WorkflowActionError({
          code: 'TOOL_NOT_AVAILABLE',
          ...toErrorInfo(appendHint(message('There is no tool {0}.', item), didYouMeanHint(item, names))),
        });
    }
  }
  return {
    allows: ({ name }) => patterns.some((pattern) => matchesToolPattern(pattern, name)),
    extraTools: specs.map((spec) => ownTool(spec, context)),
    needed: patterns,
  };
}

function ownTool(spec: ToolSpec, context: WorkflowActionContext): ExtraTool {
  const definition = toolSpecToDefinition(spec);
  const checked = { definition, arguments: createJsonSchemaValidator(definition.parameters) };
  const understood = (call: ToolCall): ToolCall['arguments'] => {
    const read = runWithTimeout(() => readArguments(call, checked));
    if (!read) throw new ToolError('TOOL_ARGS_INVALID', 'Checking the arguments took too long. Send shorter ones.');
    if ('refusal' in read) throw read.refusal;
    return read.args;
  };
  return {
    definition,
    free: context.run.reads(spec.action),
    understood,
    async run(call): Promise<ToolOutcome> {
      try {
        const params = { ...spec.with, ...withDefaults(spec, understood(call)) };
        return { ok: true, data: await context.perform(spec.action, params, { ...context, callId: call.id }) };
      } catch (error) {
        if (error instanceof WorkflowActionError) return { ok: false, error: error.info };
        if (error instanceof ToolError) return failedToolOutcome(error.code, error.message, error.details);
        throw error;
      }
    },
  };
}

function readArguments(call: ToolCall, checked: Parameters<typeof checkArguments>[1]) {
  try {
    return { args: checkArguments(call, checked) as ToolCall['arguments'] };
  } catch (refusal) {
    return { refusal };
  }
}

function withDefaults({ parameters }: ToolSpec, given: Record<string, unknown>): Record<string, unknown> {
  const defaults = Object.entries(parameters).filter(([, parameter]) => parameter.default !== undefined);
  return { ...Object.fromEntries(defaults.map(([key, parameter]) => [key, parameter.default])), ...given };
}
