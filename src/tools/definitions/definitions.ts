import type * as z from 'zod';
import {
  codeDiagnosticsDefinition,
  codeSymbolsDefinition,
  definitionDefinition,
  editorContextDefinition,
  referencesDefinition,
} from './codeTools.ts';
import { outputDefinition, shellDefinition, stopDefinition } from './commandTools.ts';
import type { NamedDefinition } from './definition.ts';
import {
  applyPatchDefinition,
  deleteDefinition,
  editDefinition,
  findDefinition,
  listDefinition,
  moveDefinition,
  readDefinition,
  searchDefinition,
  writeDefinition,
} from './fileTools.ts';
import { askPersonDefinition, planUpdateDefinition } from './userTools.ts';
import { webDefinition } from './webTools.ts';

/** Definitions of all tools that come with Towpath, in the order of `defaultTools`; without the tools themselves. */
export const toolDefinitions: readonly NamedDefinition<z.ZodRawShape, z.ZodRawShape>[] = [
  listDefinition,
  findDefinition,
  searchDefinition,
  readDefinition,
  writeDefinition,
  editDefinition,
  applyPatchDefinition,
  moveDefinition,
  deleteDefinition,
  shellDefinition,
  stopDefinition,
  outputDefinition,
  codeDiagnosticsDefinition,
  codeSymbolsDefinition,
  definitionDefinition,
  referencesDefinition,
  editorContextDefinition,
  webDefinition,
  planUpdateDefinition,
  askPersonDefinition,
];

/** Names of all of them, also of those that ask the editor. */
export const toolNames = (): string[] => toolDefinitions.map(({ name }) => name);
