import { minDelegationWindow } from '../../protocol/content/tasks.ts';
import type { ToolDefinition } from '../../protocol/content/tools.ts';
import type { Tool } from '../core/tool.ts';
import type { Workspace } from '../core/workspace.ts';

const smallWindow = 12_000;
// Tokens of a context window in which longer definitions take a small part.
const largeWindow = 64_000;

interface ToolOffer {
  isOffered(tool: Tool): boolean;
  visible(): Tool[];
  /** @param contextWindow tokens; the smallest window with all tools of a run if unknown */
  forWindow(contextWindow?: number): ToolDefinition[];
}

/** Selects the tools of a workspace: without trust only reading ones, without a disk none that need it. */
export function createToolOffer(workspace: Workspace, all: () => readonly Tool[]): ToolOffer {
  const isOffered = (tool: Tool) =>
    (workspace.trusted || (tool.risk === 'read' && !tool.delegates)) && !(workspace.virtual && tool.onDisk);
  const visible = () => all().filter((tool) => !tool.hidden && isOffered(tool));
  const leastWindow = ({ delegates, extra }: Tool) => (delegates ? minDelegationWindow : extra ? smallWindow : 0);
  return {
    isOffered,
    visible,
    forWindow: (contextWindow = minDelegationWindow) =>
      visible()
        .filter((tool) => contextWindow >= leastWindow(tool))
        .map((tool) => (contextWindow >= largeWindow && tool.longDefinition) || tool.definition),
  };
}
