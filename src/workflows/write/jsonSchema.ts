import * as z from 'zod';
import { toEnglishText } from '../../protocol/text/l10n.ts';
import { prefixedActionName, suggestedWorkflowActionNames } from '../action/actions.ts';
import { nestedWorkflowActionName } from '../action/nested.ts';
import { toolDefinitionsByName, workflowActionParameters, workflowActionResultFields } from '../action/parameters.ts';
import { agentSchema, workflowSchema } from '../plan/schema.ts';
import { type DialectKeyRule, dialectKeyRules, ignoredDialectKeyMessage } from '../read/foreign.ts';
import type { DescribedJsonSchema as Known, WorkflowActionSchema } from './writing.ts';

/** Returns the JSON schemas for completion and hover in the editor. Loading a file performs the full validation. */
export const createWorkflowJsonSchemas = (): Record<'workflow' | 'agent', object> => ({
  workflow: withForeign(withActions(z.toJSONSchema(workflowSchema, { io: 'input' })) as Schema),
  agent: withActions(z.toJSONSchema(agentSchema, { io: 'input' })) as object,
});

interface Schema {
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  [key: string]: unknown;
}

const listKeys = [
  'items',
  'item_var',
  'index_var',
  'max_concurrency',
  'parallel_config',
  'action',
  'subgraph',
  'input',
] as const;

/** Adds keys of other hosts as `deprecated`: accepted, but not suggested. */
function withForeign(schema: Schema): Schema {
  const add = (schema: Schema | undefined, table: Record<string, DialectKeyRule>) => {
    if (!schema?.properties) return;
    const notes = Object.entries(table).map(([key, { as, message: text = ignoredDialectKeyMessage }]) => [
      key,
      { deprecated: true, description: as ? `Another word for \`${as}\`.` : toEnglishText(text) },
    ]);
    const known = new Set(Object.keys(schema.properties));
    schema.properties = {
      ...schema.properties,
      ...Object.fromEntries(notes.filter(([key]) => !known.has(key as string))),
    };
  };
  const { config, settings, nodes, edges } = schema.properties!;
  const node = nodes!.items;
  add(schema, dialectKeyRules.workflow);
  add(config, dialectKeyRules.config);
  add(settings, dialectKeyRules.settings);
  add(settings?.properties?.llm, dialectKeyRules.llm);
  add(settings?.properties?.parallel, dialectKeyRules.parallel);
  for (const schema of [node, node?.properties?.steps?.items, node?.properties?.body?.items])
    add(schema, dialectKeyRules.node);
  add(edges!.items, dialectKeyRules.edge);
  for (const key of listKeys) node!.properties![key] = { deprecated: true, description: 'Of `dynamic_parallel`.' };
  const { description, ...fanIn } = node!.properties!.fan_in!;
  node!.properties!.fan_in = { anyOf: [fanIn, { type: 'string' }], description };
  const type = { enum: ['while_loop', 'standard', 'dynamic_parallel'] };
  node!.properties!.type = {
    ...type,
    description:
      '`while_loop`, for `condition`, `max_iterations` and `body`. For each item of a list there is `foreach`.',
  };
  const { to } = edges!.items!.properties!;
  edges!.items!.properties!.to = { anyOf: [to, { type: 'array', items: to }], description: String(to?.description) };
  return schema;
}

/** Suggests action names; other names (of MCP servers) stay valid. */
function withActions(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withActions);
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      const named = key === 'uses' || key === 'action';
      if (!named || (value as { type?: unknown }).type !== 'string') return [key, withActions(value)];
      const { type, ...rest } = value as Record<string, unknown>;
      return [
        key,
        { ...rest, anyOf: [{ enum: [...suggestedWorkflowActionNames, ...toolDefinitionsByName.keys()] }, { type }] },
      ];
    }),
  );
}

/** Returns description, parameters and result of an action; undefined if unknown. */
export function workflowActionSchema(name: string): WorkflowActionSchema | undefined {
  const [takes, gives] = [workflowActionParameters(name), workflowActionResultFields(name)];
  const own = Object.keys(ownActions).find((one) => one === name || prefixedActionName(one) === name);
  const what = own === undefined ? toolDefinitionsByName.get(name)?.definition.description : ownActions[own];
  if (what === undefined) return gives && { gives: schemaOf(z.object(gives)) };
  return {
    ...(takes && schemaOf(z.object(takes))),
    description: gives ? `${what} It gives ${resultText(gives)}.` : what,
    ...(gives && { gives: schemaOf(z.object(gives)) }),
  };
}

const schemaOf = (type: z.ZodType): Known =>
  z.toJSONSchema(type, {
    io: 'input',
    unrepresentable: 'any',
    override({ jsonSchema }) {
      const schema = jsonSchema as Schema;
      if (schema.help !== undefined) schema.description = schema.help;
      delete schema.help;
    },
  }) as Known;

function resultText(gives: Record<string, z.ZodType>): string {
  const keys = Object.entries(gives).filter(([key]) => key !== 'cut');
  return `\`{${keys.map(([key, type]) => (type.safeParse(undefined).success ? `${key}?` : key)).join(', ')}}\``;
}

const ownActions: Record<string, string> = {
  'llm.call': 'One model call.',
  'llm.stream': 'One model call, shown while it comes.',
  'llm.retry': 'A model call that is tried again; one that fails in the end is a value and not an error.',
  'llm.tools': 'A model that calls tools until it has its answer.',
  [nestedWorkflowActionName]:
    'Another workflow as a step: it begins with `inputs`, through the same questions and limits, and gives the values that its state holds at its end.',
  'state.set': 'Sets keys of the state to the values given.',
};
