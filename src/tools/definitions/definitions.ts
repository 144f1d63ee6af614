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
import { askUserDefinition, planUpdateDefinition } from './userTools.ts';
import { webDefinition } from './webTools.ts';

/** Definitions of all built-in tools, in the order of `defaultTools`. */
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
  askUserDefinition,
];

/** Returns the names of all built-in tools, including tools of the editor's language services. */
export const toolNames = (): string[] => toolDefinitions.map(({ name }) => name);
