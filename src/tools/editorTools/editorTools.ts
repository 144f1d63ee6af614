import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { PermissionRule } from '../../protocol/content/rule.ts';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import type { Tool } from '../core/tool.ts';
import type { ToolOrigin } from '../core/toolOrigin.ts';
import { loadMcpSdk, type McpSdk } from '../mcp/loadSdk.ts';
import { uniquePrefixedName } from '../mcp/names.ts';
import { hashServerTool } from '../mcp/serverText.ts';
import type { RuleToolState } from '../mcp/toolChanges.ts';
import { createEditorProvidedTool, type EditorProvidedToolInfo } from './editorTool.ts';

interface EditorToolMemory {
  get(): unknown;
  set(value: unknown): void;
}

interface EditorToolsOptions {
  listed(): readonly EditorProvidedToolInfo[];
  memory: EditorToolMemory;
  /** Resolves to the parts of the result. Rejects with an error named `Canceled` if the user refuses in the editor. */
  invoke(name: string, input: Record<string, unknown>, signal: AbortSignal): Promise<readonly unknown[]>;
  /** Timeout of a call in milliseconds, including the editor's own confirmation. */
  limitMs: number;
  /** Called once per tool with a description different from the time of activation. */
  changed(tool: EditorProvidedToolInfo): void;
}

type EditorToolState = 'on' | 'off' | 'changed';

const memorySchema = z.record(z.string(), z.string());

/** Limit of enabled tools: more would fill the context window of a model. */
export const maxEditorProvidedTools = 40;

/** Tools of the editor that the user has enabled, each bound to its description at that time. */
export class EditorProvidedTools {
  private built: readonly Tool[] = [];
  private readonly reported = new Set<string>();

  constructor(private readonly options: EditorToolsOptions) {}

  /** Returns the tools of the last `refresh`; a run retains the tools from its start. */
  tools(): readonly Tool[] {
    return this.built;
  }

  async refresh(): Promise<void> {
    const all = this.options.listed();
    const offered = all.filter((tool) => this.stateOf(tool) !== 'off').slice(0, maxEditorProvidedTools);
    for (const tool of offered) if (this.stateOf(tool) === 'changed') this.reportOnce(tool);
    if (offered.length === 0) {
      this.built = [];
      return;
    }
    const sdk = await loadMcpSdk();
    const taken = new Set<string>();
    this.built = offered.map((tool) => this.build(tool, uniquePrefixedName('vscode.', tool.name, taken), sdk));
  }

  stateOf(tool: EditorProvidedToolInfo): EditorToolState {
    const on = this.on;
    if (!Object.hasOwn(on, tool.name)) return 'off';
    return on[tool.name] === markOf(tool) ? 'on' : 'changed';
  }

  async switchOn(tools: readonly EditorProvidedToolInfo[]): Promise<void> {
    this.options.memory.set(Object.fromEntries(tools.map((tool) => [tool.name, markOf(tool)])));
    await this.refresh();
  }

  /** Returns the state of the tool that a rule names; undefined if the rule does not name a tool of the editor. */
  whereabouts({ identity, definition }: NonNullable<PermissionRule['server']>): RuleToolState | undefined {
    if (!identity.startsWith(ours)) return undefined;
    const tool = this.options.listed().find((one) => identityOf(one) === identity);
    if (!tool) return 'away';
    return descriptionHash(tool) === definition ? 'here' : 'gone';
  }

  private build(tool: EditorProvidedToolInfo, name: string, sdk: McpSdk): Tool {
    const { invoke, limitMs } = this.options;
    return createEditorProvidedTool({
      tool,
      name,
      sdk,
      hidden: this.stateOf(tool) !== 'on',
      refusal: () => this.refusalOf(tool),
      origin: originOf(tool),
      invoke,
      limitMs,
    });
  }

  /** Checked at planning and at execution, because tools of the editor can disappear or change at any time. */
  private refusalOf({ name }: EditorProvidedToolInfo): string | undefined {
    const now = this.options.listed().find((one) => one.name === name);
    const shown = escapeInvisibleInLine(name);
    if (!now) return `The editor has no tool ${shown} any more.`;
    const state = this.stateOf(now);
    if (state === 'off') return `The person has switched off the editor's tool ${shown}.`;
    if (state === 'on') return undefined;
    return `The editor's tool ${shown} says something else about itself than when the person switched it on. It is off until they do so again.`;
  }

  private reportOnce(tool: EditorProvidedToolInfo): void {
    const mark = markOf(tool);
    if (this.reported.has(mark)) return;
    this.reported.add(mark);
    this.options.changed(tool);
  }

  private get on(): Record<string, string> {
    return memorySchema.catch({}).parse(this.options.memory.get());
  }
}

const ours = 'vscode:';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

const identityOf = ({ name, lender }: EditorProvidedToolInfo): string =>
  `${ours}${sha256(JSON.stringify([name, lender ?? null]))}`;

const descriptionHash = ({ name, title, description, inputSchema, tags }: EditorProvidedToolInfo): string =>
  sha256(JSON.stringify([hashServerTool({ name, title, description, inputSchema: inputSchema as never }), tags]));

const markOf = (tool: EditorProvidedToolInfo): string => `${identityOf(tool)} ${descriptionHash(tool)}`;

function originOf(tool: EditorProvidedToolInfo): ToolOrigin {
  const by = tool.lender === undefined ? '' : ` (${tool.lender})`;
  return {
    starts: escapeInvisibleInLine(`the editor's ${tool.name}${by}`).slice(0, 200),
    identity: identityOf(tool),
    definition: descriptionHash(tool),
    earlier: [],
    own: false,
  };
}
