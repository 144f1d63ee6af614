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

/** Where what is switched on is kept: outside any workspace. */
interface EditorToolMemory {
  get(): unknown;
  set(value: unknown): void;
}

interface LentOptions {
  /** Those that the editor has now. */
  listed(): readonly EditorToolSet[];
  memory: EditorToolMemory;
  /** Resolves to the parts of the result. Rejects with an error called `Canceled` where the person said no to the editor. */
  invoke(name: string, input: Record<string, unknown>, signal: AbortSignal): Promise<readonly unknown[]>;
  /** Milliseconds that a call may take, the editor's own question in it. */
  limitMs: number;
  /** Once for each that says something else about itself by now than when it was switched on. */
  changed(tool: EditorToolSet): void;
}

type EditorToolState = 'on' | 'off' | 'changed';

/** By name, what was switched on: whose it was and what it said about itself, hashed. */
const memorySchema = z.record(z.string(), z.string());

/** More at once would fill a model's window with tools. */
export const maxEditorTools = 40;

/** The editor's tools that the person has switched on, each as it was then. */
export class EditorTools {
  private built: readonly Tool[] = [];
  private readonly told = new Set<string>();

  constructor(private readonly options: LentOptions) {}

  /** Of the last `refresh`: a run keeps the tools that it began with. */
  tools(): readonly Tool[] {
    return this.built;
  }

  /** Looks at the editor's tools again. */
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

  /** These and no others, as they are now. */
  async switchOn(tools: readonly EditorToolSet[]): Promise<void> {
    this.options.memory.set(Object.fromEntries(tools.map((tool) => [tool.name, markOf(tool)])));
    await this.refresh();
  }

  /** What has become of a rule's tool; undefined: it is of none of the editor's. */
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

  /** Asked when it is planned and when it runs: the editor's tools come and go, and may be described anew at any time. */
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

/** Whose it is: its name, and who brings it. */
const identityOf = ({ name, lender }: EditorToolSet): string =>
  `${ours}${sha256(JSON.stringify([name, lender ?? null]))}`;

/** All that it says about itself. */
const wordsHash = ({ name, title, description, inputSchema, tags }: EditorToolSet): string =>
  sha256(JSON.stringify([serverToolDefinition({ name, title, description, inputSchema: inputSchema as never }), tags]));

const markOf = (tool: EditorToolSet): string => `${identityOf(tool)} ${wordsHash(tool)}`;

/** What rules and grants are bound to. */
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
