import * as z from 'zod';
import { defaultTools } from '../tools/default.ts';
import { builtInNames } from './actions.ts';
import { agentSchema, workflowSchema } from './schema.ts';

/** JSON schemas of the files, for the editor's completion and hover. What they refuse, and more, is checked when a file is loaded. */
export const jsonSchemas = (): Record<'workflow' | 'agent', object> => ({
  workflow: withActions(z.toJSONSchema(workflowSchema, { io: 'input' })) as object,
  agent: withActions(z.toJSONSchema(agentSchema, { io: 'input' })) as object,
});

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
      return [key, { ...rest, anyOf: [{ enum: [...builtInNames, ...tools] }, { type }] }];
    }),
  );
}
