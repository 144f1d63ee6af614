import type * as z from 'zod';
import {
  codeDefinitionDefinition,
  codeDiagnosticsDefinition,
  codeReferencesDefinition,
  codeSymbolsDefinition,
  editorContextDefinition,
} from './codeTools.ts';
import { outputReadDefinition, shellRunDefinition, shellStopDefinition } from './commandTools.ts';
import type { BuiltinToolDefinition } from './definition.ts';
import {
  fsApplyPatchDefinition,
  fsDeleteDefinition,
  fsEditDefinition,
  fsFindDefinition,
  fsListDefinition,
  fsMoveDefinition,
  fsReadDefinition,
  fsSearchDefinition,
  fsWriteDefinition,
} from './fileTools.ts';
import { askUserDefinition, planUpdateDefinition, taskRunDefinition } from './userTools.ts';
import { webFetchDefinition } from './webTools.ts';

export const toolDefinitions: readonly BuiltinToolDefinition<z.ZodRawShape, z.ZodRawShape>[] = [
  fsListDefinition,
  fsFindDefinition,
  fsSearchDefinition,
  fsReadDefinition,
  fsWriteDefinition,
  fsEditDefinition,
  fsApplyPatchDefinition,
  fsMoveDefinition,
  fsDeleteDefinition,
  shellRunDefinition,
  shellStopDefinition,
  outputReadDefinition,
  codeDiagnosticsDefinition,
  codeSymbolsDefinition,
  codeDefinitionDefinition,
  codeReferencesDefinition,
  editorContextDefinition,
  webFetchDefinition,
  planUpdateDefinition,
  askUserDefinition,
  taskRunDefinition,
];

export const toolNames = (): string[] => toolDefinitions.map(({ name }) => name);
