import * as z from 'zod';
import { toDefinition } from '../../tools/definitions/definition.ts';
import { toolDefinitions } from '../../tools/definitions/definitions.ts';
import { serverResult } from '../../tools/mcp/callResult.ts';
import { actionOf } from './actions.ts';
import { commandTextActions } from './commandLines.ts';

type Shape = Record<string, z.ZodType>;

export const toolsByName: ReadonlyMap<string, ReturnType<typeof toDefinition>> = new Map(
  toolDefinitions.map((named) => [named.name, toDefinition(named)]),
);

/** Returns the parameters of an action; undefined if unknown before the call. */
export function parametersOf(action: string): Shape | undefined {
  const shape = (actionOf(action).parameters ?? toolsByName.get(action)?.arguments)?.shape;
  if (action !== 'shell.run' || !shape) return shape;
  const help = 'The command line; or a list of a program and what it is given, whatever is in it.';
  return { ...shape, command: z.union([z.string().min(1), commandTextActions]).meta({ help }) };
}

/** Returns the fields of an action's result; undefined if unknown in advance. */
export const givesOf = (action: string): Shape | undefined =>
  (actionOf(action).gives ?? toolsByName.get(action)?.gives ?? (isServerTool(action) ? serverResult : undefined))
    ?.shape;

const isServerTool = (name: string) => /^mcp\.[^.]+\.[^.]+$/.test(name);
