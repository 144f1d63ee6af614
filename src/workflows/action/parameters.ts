import * as z from 'zod';
import { toToolDefinition } from '../../tools/definitions/definition.ts';
import { toolDefinitions } from '../../tools/definitions/definitions.ts';
import { mcpToolResultSchema } from '../../tools/mcp/callResult.ts';
import { workflowActionByName } from './actions.ts';
import { commandArgumentsSchema } from './commandLines.ts';

type Shape = Record<string, z.ZodType>;

export const toolDefinitionsByName: ReadonlyMap<string, ReturnType<typeof toToolDefinition>> = new Map(
  toolDefinitions.map((named) => [named.name, toToolDefinition(named)]),
);

/** Returns the parameters of an action; undefined if unknown before the call. */
export function workflowActionParameters(action: string): Shape | undefined {
  const shape = (workflowActionByName(action).parameters ?? toolDefinitionsByName.get(action)?.arguments)?.shape;
  if (action !== 'shell.run' || !shape) return shape;
  const help = 'The command line; or a list of a program and what it is given, whatever is in it.';
  return { ...shape, command: z.union([z.string().min(1), commandArgumentsSchema]).meta({ help }) };
}

/** Returns the fields of an action's result; undefined if unknown in advance. */
export const workflowActionResultFields = (action: string): Shape | undefined =>
  (
    workflowActionByName(action).gives ??
    toolDefinitionsByName.get(action)?.gives ??
    (isServerTool(action) ? mcpToolResultSchema : undefined)
  )?.shape;

const isServerTool = (name: string) => /^mcp\.[^.]+\.[^.]+$/.test(name);
