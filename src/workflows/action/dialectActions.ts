import * as z from 'zod';
import type { ToolOutcome } from '../../protocol/content/tools.ts';
import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { toErrorInfo } from '../../protocol/text/localized.ts';
import { maxJsonAnswerLength, parseLimitedJson } from '../../tools/core/parseLimits.ts';
import { type WorkflowAction, type WorkflowActionContext, WorkflowActionError } from './action.ts';
import { llmCallAction, parseWorkflowActionParameters } from './llm.ts';

// Actions of `fabceolin/the_edge_agent` with our semantics and its own parameters and results (docs/shared/yaml-reference/actions).

const path = z.string().min(1);
const readShape = z.strictObject({ path });
const writeShape = z.strictObject({ path, content: z.unknown() });
const getShape = z.strictObject({ url: z.string() });
const parseShape = z.strictObject({
  text: z.string(),
  strict: z.boolean().default(true),
  default: z.unknown().optional(),
});
const stringifyShape = z.strictObject({
  data: z.unknown(),
  indent: z.number().int().min(0).max(10).optional(),
  sort_keys: z.boolean().default(false),
});
const mergeShape = z.strictObject({
  sources: z.array(z.record(z.string(), z.unknown())),
  strategy: z.enum(['deep', 'shallow', 'replace']).default('deep'),
});
const templateShape = z.strictObject({ template: z.unknown() });

const success = z.boolean();
/** Result of a failure, which the workflow handles as a value. */
const failureShape = {
  success,
  error: z.string().optional().describe('Why it failed.'),
  error_type: z.string().optional().describe('`not_found`, `permission_denied` or `read_error`.'),
};

const fileRead: WorkflowAction = {
  parameters: readShape,
  gives: z.strictObject({ content: z.string().optional().describe('All of its text.'), ...failureShape }),
  async run(given, context) {
    const { path } = parseWorkflowActionParameters(readShape, given, 'file.read');
    let content = '';
    for (let offset = 1, count = 0; ; count++) {
      const outcome = await execute(context, count, 'fs.read', { path, offset });
      if (!outcome.ok) return failed(outcome);
      const { text, endLine, totalLines } = outcome.data as { text?: string; endLine: number; totalLines: number };
      if (text === undefined) return { success: false, error: `${path} is not a text.`, error_type: 'read_error' };
      content += offset === 1 ? text : `\n${text}`;
      if (!(endLine < totalLines)) return { content, success: true };
      offset = endLine + 1;
    }
  },
};

const fileWrite: WorkflowAction = {
  parameters: writeShape,
  gives: z.strictObject({ path: z.string().optional(), ...failureShape }),
  async run(given, context) {
    const { path, content } = parseWorkflowActionParameters(writeShape, given, 'file.write');
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    const outcome = await execute(context, 0, 'fs.write', { path, content: text });
    return outcome.ok ? { path, success: true } : failed(outcome);
  },
};

const httpGet: WorkflowAction = {
  parameters: getShape,
  async run(given, context) {
    const { url } = parseWorkflowActionParameters(getShape, given, 'http.get');
    const outcome = await execute(context, 0, 'web.fetch', { url });
    if (!outcome.ok) throw new WorkflowActionError(outcome.error);
    const { text, cut } = outcome.data as { text: string; cut?: unknown };
    try {
      return parseLimitedJson(text, maxJsonAnswerLength);
    } catch {
      const why = cut
        ? message('The response of {0} is too long.', url)
        : message('The response of {0} is not JSON. Use `web.fetch` for a text.', url);
      throw new WorkflowActionError({ code: 'TOOL_EXEC_FAILED', ...toErrorInfo(why) });
    }
  },
};

const jsonParse: WorkflowAction = {
  parameters: parseShape,
  gives: z.strictObject({
    data: z.unknown().optional().describe('The value.'),
    ...failureShape,
    error_type: z.literal('parse').optional(),
    position: z.strictObject({ line: z.number(), column: z.number() }).optional().describe('Where it failed.'),
  }),
  async run(given) {
    const { text, strict, default: fallback } = parseWorkflowActionParameters(parseShape, given, 'json.parse');
    try {
      return { data: parseLimitedJson(text, maxJsonAnswerLength), success: true };
    } catch (error) {
      if (!strict && fallback !== undefined) return { data: fallback, success: true };
      const at = Number(/position (\d+)/.exec(String(error))?.[1] ?? text.length);
      const before = text.slice(0, at).split('\n');
      const position = { line: before.length, column: before.at(-1)!.length + 1 };
      return { error: (error as Error).message, success: false, error_type: 'parse', position };
    }
  },
};

const jsonStringify: WorkflowAction = {
  parameters: stringifyShape,
  gives: z.strictObject({ text: z.string(), success }),
  async run(given) {
    const { data, indent, sort_keys } = parseWorkflowActionParameters(stringifyShape, given, 'json.stringify');
    return { text: JSON.stringify(sort_keys ? sorted(data) : data, null, indent), success: true };
  },
};

const dataMerge: WorkflowAction = {
  parameters: mergeShape,
  gives: z.strictObject({ result: z.record(z.string(), z.unknown()), source_count: z.number(), success }),
  async run(given) {
    const { sources, strategy } = parseWorkflowActionParameters(mergeShape, given, 'data.merge');
    const merge = { deep, shallow: (one: object, other: object) => ({ ...one, ...other }), replace: last }[strategy];
    return { result: sources.reduce<object>(merge, {}), source_count: sources.length, success: true };
  },
};

const template: WorkflowAction = {
  parameters: templateShape,
  run: async (given) => parseWorkflowActionParameters(templateShape, given, 'template').template,
};

export const workflowDialectActions: Record<string, WorkflowAction> = {
  'llm.chat': llmCallAction,
  'file.read': fileRead,
  'file.write': fileWrite,
  'http.get': httpGet,
  'json.parse': jsonParse,
  'json.stringify': jsonStringify,
  'data.merge': dataMerge,
  template,
  'template.render': template,
};

const instead: [start: string, use: LocalizedMessage][] = [
  [
    'http.',
    message(
      'Towpath does not send the forms and headers of a file. Use `shell.run` with a program, or a tool of an MCP server.',
    ),
  ],
  ['llm.embed', message('Use a tool of an MCP server (`mcp.<server>.<tool>`).')],
  ['agent.', message('Use nodes with an `agent`, side by side with `edges` and `parallel: true`.')],
  ['reason.', message('Use `llm.call` with an instruction for it, or a node with an `agent`.')],
  ['plan.', message('Use a node with an `agent`: it plans with `plan.update`.')],
  ['reflection.', message('Use `type: while_loop` with `llm.call`, or `goto` back.')],
  ['retry.', message('Use `llm.retry` for a model call, or `type: while_loop`.')],
  ['ratelimit.', message('Use the action itself: rate limits are a setting of Towpath.')],
  ['cache.', message('Use `cache: true` of a model call.')],
  ['checkpoint.', message('Runs are stored automatically and continue where they were.')],
  ['secrets.', message('Keys stay in the editor’s secret storage and are never passed to a workflow.')],
  ['code.', message('Towpath does not run code of a workflow file. Use `shell.run` for a program.')],
  ['lua.', message('Towpath does not run code of a workflow file. Use `shell.run` for a program.')],
  ['prolog.', message('Towpath does not run code of a workflow file. Use `shell.run` for a program.')],
  ['core.switch', message('Use `goto` with `if` and `to`.')],
  ['core.return', message('Use `state.set`, with `goto: __end__`.')],
  ['return', message('Use `state.set`, with `goto: __end__`.')],
  ['json.transform', message('Use a Jinja expression: `run: {type: expression, value: …}`.')],
  ['data.', message('Use a Jinja expression: `run: {type: expression, value: …}`.')],
  ['web.', message('Use `web.fetch`, or a tool of an MCP server (`mcp.<server>.<tool>`).')],
  ['storage.', message('Use `fs.list`, `fs.read`, `fs.write`, `fs.move` and `fs.delete`.')],
  ['trace.', message('Runs are recorded automatically. Leave this node out.')],
];
const others =
  /^(?:actions\.\w+$|(?:a2a|auth|context|csv|dspy|embedding|error|execution|firestore|git|github|graph|learn|llamaextract|ltm|markdown|mem0|memory|neo4j|rag|schema|search|session|text|tools|validate|vector|catalog|bmad)\.)/;

/** Returns a message about an action unsupported by Towpath; undefined for a name outside of the dialect. */
export function unsupportedActionMessage(name: string): LocalizedMessage | undefined {
  const use = instead.find(([start]) => name === start || (start.endsWith('.') && name.startsWith(start)))?.[1];
  if (use) return use;
  return others.test(name)
    ? message('Use a tool of an MCP server (`mcp.<server>.<tool>`), or `shell.run` with a program.')
    : undefined;
}

const execute = (
  { run, callId, approval }: WorkflowActionContext,
  count: number,
  name: string,
  args: Record<string, unknown>,
) => run.execute({ id: count === 0 ? callId : `${callId}.${count}`, name, arguments: args }, approval);

/** Returns a missing file as a value for the workflow; a denial by the user ends the node. */
function failed(outcome: Extract<ToolOutcome, { ok: false }>) {
  const { code, message } = outcome.error;
  if (['TOOL_DENIED', 'TOOL_INTERRUPTED', 'TOOL_NOT_AVAILABLE'].includes(code))
    throw new WorkflowActionError(outcome.error);
  const types: Record<string, string> = { ENOENT: 'not_found', E_SANDBOX_VIOLATION: 'permission_denied' };
  return { success: false, error: message, error_type: types[code] ?? 'read_error' };
}

const last = (_: object, other: object): object => other;

function deep(one: object, other: object): object {
  const entries = Object.entries(other).map(([key, value]): [string, unknown] => {
    const before = (one as Record<string, unknown>)[key];
    return [key, isPlain(before) && isPlain(value) ? deep(before, value) : value];
  });
  return { ...one, ...Object.fromEntries(entries) };
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isPlain(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sorted((value as Record<string, unknown>)[key])]));
}

const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
