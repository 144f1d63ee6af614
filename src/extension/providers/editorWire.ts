import { toWireToolName } from '../../llm/core/wireToolNames.ts';
import type { JsonSchema, ToolDefinition } from '../../protocol/content/tools.ts';

export const toEditorTools = (
  tools: readonly ToolDefinition[],
): { name: string; description: string; inputSchema: JsonSchema }[] =>
  tools.map(({ name, description, parameters }) => ({
    name: toWireToolName(name),
    description,
    inputSchema: parameters,
  }));
