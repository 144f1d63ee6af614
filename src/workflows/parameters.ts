import type * as z from 'zod';
import { defaultTools } from '../tools/default.ts';
import { actionOf } from './actions.ts';
import { schemaOf } from './schemaCheck.ts';

type Shape = Record<string, z.ZodType>;

/** What an action takes, by the names of its parameters; undefined: not known before it is called. */
export function parametersOf(action: string): Shape | undefined {
  if (!shapes.has(action)) shapes.set(action, actionOf(action).parameters?.shape ?? toolShape(action));
  return shapes.get(action);
}

const shapes = new Map<string, Shape | undefined>();

function toolShape(name: string): Shape | undefined {
  const tool = defaultTools().find(({ definition }) => definition.name === name);
  const { properties = {}, required = [] } = (tool?.definition.parameters ?? {}) as ObjectSchema;
  const entries = Object.entries(properties).map(([key, schema]): [string, z.ZodType] => {
    const one = schemaOf(schema);
    return [key, required.includes(key) ? one : one.optional()];
  });
  return tool && Object.fromEntries(entries);
}

interface ObjectSchema {
  properties?: Record<string, Record<string, unknown>>;
  required?: readonly string[];
}
