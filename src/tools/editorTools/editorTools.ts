import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { Rule } from '../../protocol/content/rule.ts';
import { visibleLine } from '../../protocol/text/escapeInvisible.ts';
import type { Tool } from '../core/tool.ts';
import type { Origin } from '../core/toolOrigin.ts';
import { loadSdk, type Sdk } from '../mcp/loadSdk.ts';
import { nameWithin } from '../mcp/names.ts';
import { serverToolDefinition } from '../mcp/serverText.ts';
import type { Whereabouts } from '../mcp/toolChanges.ts';
import { type EditorToolSet, editorTool } from './editorTool.ts';

interface EditorToolMemory {
  get(): unknown;
  set(value: unknown): void;
}

interface LentOptions {
  listed(): readonly EditorToolSet[];
  memory: EditorToolMemory;
  /** Resolves to the parts of the result. Rejects with an error named `Canceled` if the user refuses in the editor. */
  invoke(name: string, input: Record<string, unknown>, signal: AbortSignal): Promise<readonly unknown[]>;
  /** Timeout of a call in milliseconds, including the editor's own confirmation. */
  limitMs: number;
  /** Called once per tool with a description different from the time of activation. */
  changed(tool: EditorToolSet): void;
}

type EditorToolState = 'on' | 'off' | 'changed';

const memorySchema = z.record(z.string(), z.string());

/** Limit of enabled tools: more would fill the context window of a model. */
export const maxEditorTools = 40;

/** Tools of the editor that the user has enabled, each bound to its description at that time. */
export class EditorTools {
  private built: readonly Tool[] = [];
  private readonly told = new Set<string>();

  constructor(private readonly options: LentOptions) {}

  /** Returns the tools of the last `refresh`; a run retains the tools from its start. */
  tools(): readonly Tool[] {
    return this.built;
  }

  async refresh(): Promise<void> {
    const all = this.options.listed();
    const mine = all.filter((tool) => this.stateOf(tool) !== 'off').slice(0, maxEditorTools);
    for (const tool of mine) if (this.stateOf(tool) === 'changed') this.tell(tool);
    if (mine.length === 0) {
      this.built = [];
      return;
    }
    const sdk = await loadSdk();
    const taken = new Set<string>();
    this.built = mine.map((tool) => this.build(tool, nameWithin('vscode.', tool.name, taken), sdk));
  }

  stateOf(tool: EditorToolSet): EditorToolState {
    const on = this.on;
    if (!Object.hasOwn(on, tool.name)) return 'off';
    return on[tool.name] === markOf(tool) ? 'on' : 'changed';
  }

  async switchOn(tools: readonly EditorToolSet[]): Promise<void> {
    this.options.memory.set(Object.fromEntries(tools.map((tool) => [tool.name, markOf(tool)])));
    await this.refresh();
  }

  /** Returns the state of the tool that a rule names; undefined if the rule does not name a tool of the editor. */
  whereabouts({ identity, definition }: NonNullable<Rule['server']>): Whereabouts | undefined {
    if (!identity.startsWith(ours)) return undefined;
    const tool = this.options.listed().find((one) => identityOf(one) === identity);
    if (!tool) return 'away';
    return wordsHash(tool) === definition ? 'here' : 'gone';
  }

  private build(tool: EditorToolSet, name: string, sdk: Sdk): Tool {
    const { invoke, limitMs } = this.options;
    return editorTool({
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
  private refusalOf({ name }: EditorToolSet): string | undefined {
    const now = this.options.listed().find((one) => one.name === name);
    const shown = visibleLine(name);
    if (!now) return `The editor has no tool ${shown} any more.`;
    const state = this.stateOf(now);
    if (state === 'off') return `The person has switched off the editor's tool ${shown}.`;
    if (state === 'on') return undefined;
    return `The editor's tool ${shown} says something else about itself than when the person switched it on. It is off until they do so again.`;
  }

  private tell(tool: EditorToolSet): void {
    const mark = markOf(tool);
    if (this.told.has(mark)) return;
    this.told.add(mark);
    this.options.changed(tool);
  }

  private get on(): Record<string, string> {
    return memorySchema.catch({}).parse(this.options.memory.get());
  }
}

const ours = 'vscode:';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

const identityOf = ({ name, lender }: EditorToolSet): string =>
  `${ours}${sha256(JSON.stringify([name, lender ?? null]))}`;

const wordsHash = ({ name, title, description, inputSchema, tags }: EditorToolSet): string =>
  sha256(JSON.stringify([serverToolDefinition({ name, title, description, inputSchema: inputSchema as never }), tags]));

const markOf = (tool: EditorToolSet): string => `${identityOf(tool)} ${wordsHash(tool)}`;

function originOf(tool: EditorToolSet): Origin {
  const by = tool.lender === undefined ? '' : ` (${tool.lender})`;
  return {
    starts: visibleLine(`the editor's ${tool.name}${by}`).slice(0, 200),
    identity: identityOf(tool),
    definition: wordsHash(tool),
    earlier: [],
    own: false,
  };
}
