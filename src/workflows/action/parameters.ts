import * as z from 'zod';
import type { Language } from '../../tools/code/language.ts';
import { defaultTools } from '../../tools/default.ts';
import { serverResult } from '../../tools/mcp/result.ts';
import type { Tool } from '../../tools/tool.ts';
import { actionOf } from './actions.ts';
import { commandWords } from './commandLines.ts';

type Shape = Record<string, z.ZodType>;

/** Every tool that comes with Towpath, to be told of and never to be run. */
export const toolsByName: ReadonlyMap<string, Tool> = new Map(
  defaultTools({ language: {} as Language }).map((tool) => [tool.definition.name, tool]),
);

/** What an action takes, by the names of its parameters; undefined: not known before it is called. */
export function parametersOf(action: string): Shape | undefined {
  const shape = (actionOf(action).parameters ?? (toolsByName.get(action)?.arguments as z.ZodObject | undefined))?.shape;
  if (action !== 'shell.run' || !shape) return shape;
  const help = 'The command line; or a list of a program and what it is given, whatever is in it.';
  return { ...shape, command: z.union([z.string().min(1), commandWords]).meta({ help }) };
}

/** What an action's result holds, by its keys; undefined: not known before it is there. */
export const givesOf = (action: string): Shape | undefined =>
  (actionOf(action).gives ?? toolsByName.get(action)?.gives ?? (isServerTool(action) ? serverResult : undefined))
    ?.shape;

/** `mcp.<server>.<tool>`. */
const isServerTool = (name: string) => /^mcp\.[^.]+\.[^.]+$/.test(name);
