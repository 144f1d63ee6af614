import type * as vscode from 'vscode';
import { toPeople } from '../protocol/sentence.ts';
import { defaultTools } from '../tools/default.ts';
import { createToolHost, type ToolHost } from '../tools/host.ts';
import type { BackgroundCommands } from '../tools/shell/background.ts';
import type { LeftCommands } from '../tools/shell/left.ts';
import type { createAsides } from './aside/aside.ts';
import type { Modals } from './dialogs/modals.ts';
import { editorLanguage } from './editor/editorTools.ts';
import type { EditorWorkspace } from './editor/workspace.ts';
import type { Approvals } from './gate/approvals.ts';
import type { Policies } from './gate/policies.ts';
import { Mcp } from './mcp/mcp.ts';
import type { CommandTerminal } from './runs/commandTerminal.ts';
import { settings } from './settings/settings.ts';

interface Parts {
  context: vscode.ExtensionContext;
  workspace: EditorWorkspace;
  modals: Modals;
  approvals: Approvals;
  policies: Policies;
  left: LeftCommands;
  background: BackgroundCommands;
  terminal: CommandTerminal;
  asides: ReturnType<typeof createAsides>;
}

/** What a run works with: the gate, and the tools behind it. */
export interface Toolset {
  host: ToolHost;
  mcp: Mcp;
  /** Of our own tools. */
  toolNames: string[];
}

/** Loaded with the first run, or the first who asks about it: showing the panel needs none of it. */
export function createToolset(parts: Parts): Toolset {
  const { workspace, approvals, policies, left, background, terminal, asides } = parts;
  const mcp = new Mcp(parts.context, workspace, parts.modals);
  workspace.startedFiles = () => mcp.servers.startedFiles();
  const tools = defaultTools({
    delete: { quota: () => settings()['undo.quota'] },
    shell: {
      timeout: () => settings()['shell.timeout'],
      left,
      background,
      mirror: (command, folder) => (settings()['shell.terminal'] ? terminal.mirror(command, folder) : undefined),
    },
    web: { allowPrivate: () => settings()['web.allowPrivate'], pageText: (page) => asides.others.run('page', page) },
    language: editorLanguage,
  });
  const host = createToolHost({
    workspace,
    tools: () => [...tools, ...mcp.tools()],
    approve: approvals.approve,
    policy: policies.current,
    prepare: mcp.prepare,
    tell: toPeople,
  });
  return { host, mcp, toolNames: tools.map((tool) => tool.definition.name) };
}
