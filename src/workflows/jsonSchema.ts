import * as z from 'zod';
import { defaultTools } from '../tools/default.ts';
import { actionOf, dual, offeredNames } from './actions.ts';
import { type Foreign, foreign, leftOut } from './foreign.ts';
import { agentSchema, workflowSchema } from './schema.ts';

/** JSON schemas of the files, for the editor's completion and hover. What they refuse, and more, is checked when a file is loaded. */
export const jsonSchemas = (): Record<'workflow' | 'agent', object> => ({
  workflow: withForeign(withActions(z.toJSONSchema(workflowSchema, { io: 'input' })) as Schema),
  agent: withActions(z.toJSONSchema(agentSchema, { io: 'input' })) as object,
});

interface Schema {
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  [key: string]: unknown;
}

/** Keys of the dialect's other hosts are not refused by an editor, and not offered by one that knows `deprecated`. */
function withForeign(schema: Schema): Schema {
  const add = (place: Schema | undefined, table: Record<string, Foreign>) => {
    for (const [key, { as, say = leftOut }] of Object.entries(table))
      if (place?.properties && !place.properties[key])
        place.properties[key] = { deprecated: true, description: as ? `Another word for \`${as}\`.` : say };
  };
  const { config, settings, nodes, edges } = schema.properties!;
  const node = nodes!.items;
  add(schema, foreign.workflow);
  add(config, foreign.config);
  add(settings, foreign.settings);
  add(settings?.properties?.llm, foreign.llm);
  add(settings?.properties?.parallel, foreign.parallel);
  for (const place of [node, node?.properties?.steps?.items, node?.properties?.body?.items]) add(place, foreign.node);
  add(edges!.items, foreign.edge);
  node!.properties!.type = { enum: ['while_loop', 'standard'], description: '`while_loop`, or nothing.' };
  const { to } = edges!.items!.properties!;
  edges!.items!.properties!.to = { anyOf: [to, { type: 'array', items: to }], description: String(to?.description) };
  return schema;
}

/** Names of actions are offered where one is wanted; others (of MCP servers) are possible. */
function withActions(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withActions);
  if (typeof schema !== 'object' || schema === null) return schema;
  const tools = defaultTools().map((tool) => tool.definition.name);
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      const named = key === 'uses' || key === 'action';
      if (!named || (value as { type?: unknown }).type !== 'string') return [key, withActions(value)];
      const { type, ...rest } = value as Record<string, unknown>;
      return [key, { ...rest, anyOf: [{ enum: [...offeredNames, ...tools] }, { type }] }];
    }),
  );
}

/** What actions take and what they are for, by their names: `llm.*`, and the tools of the workspace. */
export function actionSchemas(): Record<string, object> {
  const tools = defaultTools().map(({ definition: { name, description, parameters } }) => [
    name,
    { ...parameters, description },
  ]);
  const own = offeredNames.flatMap((name) => {
    const { parameters } = actionOf(name);
    const schema = parameters ? z.toJSONSchema(parameters, { io: 'input', unrepresentable: 'any' }) : {};
    return [name, dual(name)].map((one) => [one, { ...schema, description: ownActions[name] }]);
  });
  return Object.fromEntries([...own, ...tools]);
}

const ownActions: Record<string, string> = {
  'llm.call': 'One model call: `{content, usage}`.',
  'llm.stream': 'One model call, shown while it comes: `{content, usage, streamed, chunk_count}`.',
  'llm.retry':
    'A model call that is tried again: `{content, usage, attempts, total_delay}`, or `{error, success: false, …}` instead of failing.',
  'llm.tools': 'A model that calls tools until it has its answer: `{content, tool_calls, tool_results, rounds}`.',
  'state.set': 'Sets keys of the state to the values given.',
};
