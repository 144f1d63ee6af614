import * as z from 'zod';
import type { McpServerDefinition } from './config/config.ts';
import type { ListedTool } from './forms/toolSchema.ts';
import { hashServerTool, pickServerToolText, type ServerToolText } from './serverText.ts';

/**
 * Approval of a configured server. `hash` identifies the approved definition; `trusted`: tools with a read-only hint run without approval.
 */
const entrySchema = z.object({
  hash: z.string(),
  trusted: z.boolean(),
  /**
   * Tool names with the hashes of accepted definitions, oldest first: each newer hash inherits the permissions of the older ones. Absent
   * before the first listing.
   */
  tools: z.record(z.string(), z.array(z.string()).or(z.string().transform((hash) => [hash]))).optional(),
  /** Names of tools that the user has deselected. */
  off: z.array(z.string()).optional(),
  /** The user has selected that the server runs in the sandbox. */
  sandboxed: z.boolean().optional(),
  /** Sites that the sandboxed server may connect to. */
  sites: z.array(z.string()).optional(),
});
export type ApprovedServer = z.output<typeof entrySchema>;

// Entries by name and location; each other configuration or start folder has a separate entry.
const entriesSchema = z.record(z.string(), z.array(entrySchema).or(entrySchema.transform((entry) => [entry])));

const maxEntries = 50;
const maxDefinitions = 20;
const maxTools = 2000;
const maxSites = 200;
// Maximum characters of stored JSON: longer texts of a tool are not stored and cannot be compared later.
const maxTextLength = 200_000;
const longestList = 2_000_000;
const maxLists = 100;

interface ApprovalMemory {
  get(): unknown;
  set(value: unknown): Promise<void>;
}

/** Decisions of the user about servers, each bound to the displayed definition: another command or address is another server. */
export class McpApprovalStore {
  constructor(
    private readonly memory: ApprovalMemory,
    private readonly approvedTextStore: ApprovalMemory,
  ) {}

  entry(definition: McpServerDefinition): ApprovedServer | undefined {
    return this.entries(definition).find(({ hash }) => hash === definition.hash);
  }

  /** Tests if only another definition of the name was approved before. */
  wasOther(definition: McpServerDefinition): boolean {
    return this.entries(definition).length > 0 && !this.entry(definition);
  }

  async allow(definition: McpServerDefinition, trusted: boolean): Promise<void> {
    const last = this.entries(definition).at(-1);
    const before = this.entry(definition) ?? { tools: undefined, off: last?.off, sandboxed: last?.sandboxed };
    await this.keep({ ...before, hash: definition.hash, trusted }, definition);
  }

  async setSandboxed(definition: McpServerDefinition, sandboxed: boolean): Promise<void> {
    const entry = this.entry(definition);
    if (entry) await this.keep({ ...entry, sandboxed: sandboxed || undefined }, definition);
  }

  async allowSite(definition: McpServerDefinition, site: string): Promise<void> {
    const entry = this.entry(definition);
    if (entry) await this.keep({ ...entry, sites: [...(entry.sites ?? []), site].slice(-maxSites) }, definition);
  }

  async setOff(definition: McpServerDefinition, names: readonly string[]): Promise<void> {
    const entry = this.entry(definition);
    if (entry) await this.keep({ ...entry, off: names.length > 0 ? [...names] : undefined }, definition);
  }

  /**
   * Accepts tools; permissions of former definitions continue.
   * @param listed all current tools; texts of other tools are removed
   */
  async acceptTools(
    definition: McpServerDefinition,
    tools: readonly ListedTool[],
    listed: readonly ListedTool[] = tools,
  ): Promise<void> {
    const entry = this.entry(definition);
    if (!entry) return;
    const all = new Map(Object.entries(entry.tools ?? {}));
    for (const tool of tools) {
      const hash = hashServerTool(tool);
      const known = all.get(keyOf(tool)) ?? [];
      if (!known.includes(hash)) all.set(keyOf(tool), [...known, hash].slice(-maxDefinitions));
    }
    const present = new Set(listed.map(keyOf));
    if (all.size > maxTools) for (const key of all.keys()) if (!present.has(key)) all.delete(key);
    await this.storeTexts(definition, tools, present);
    await this.keep({ ...entry, tools: Object.fromEntries(all) }, definition);
  }

  approvedTexts(definition: McpServerDefinition): ServerToolText[] {
    return this.lists()[`${serverKeyOf(definition)}#${definition.hash}`] ?? [];
  }

  async forget(definition: McpServerDefinition): Promise<void> {
    const serverKey = serverKeyOf(definition);
    const { [serverKey]: _, ...others } = this.all();
    await this.memory.set(others);
    const lists = Object.entries(this.lists()).filter(([key]) => !key.startsWith(`${serverKey}#`));
    await this.approvedTextStore.set(Object.fromEntries(lists));
  }

  private async keep(entry: ApprovedServer, definition: McpServerDefinition): Promise<void> {
    const others = this.entries(definition).filter(({ hash }) => hash !== entry.hash);
    await this.memory.set({ ...this.all(), [serverKeyOf(definition)]: [...others, entry].slice(-maxEntries) });
  }

  private async storeTexts(
    definition: McpServerDefinition,
    tools: readonly ListedTool[],
    present: ReadonlySet<string>,
  ) {
    const now = new Map(tools.map((tool) => [keyOf(tool), pickServerToolText(tool)]));
    const before = this.approvedTexts(definition).filter((tool) => present.has(keyOf(tool)) && !now.has(keyOf(tool)));
    let left = longestList;
    const remaining = [...now.values(), ...before].filter((tool) => {
      const { length } = JSON.stringify(tool);
      if (length > maxTextLength || length > left) return false;
      left -= length;
      return true;
    });
    const key = `${serverKeyOf(definition)}#${definition.hash}`;
    const { [key]: _, ...others } = this.lists();
    await this.approvedTextStore.set(
      Object.fromEntries([...Object.entries(others), [key, remaining]].slice(-maxLists)),
    );
  }

  private entries(definition: McpServerDefinition): ApprovedServer[] {
    const all = this.all();
    return Object.hasOwn(all, serverKeyOf(definition)) ? all[serverKeyOf(definition)]! : [];
  }

  private all(): Record<string, ApprovedServer[]> {
    return entriesSchema.catch({}).parse(this.memory.get());
  }

  /** Stored texts, only for display; no decision depends on the texts. */
  private lists(): Record<string, ServerToolText[]> {
    return textsSchema.catch({}).parse(this.approvedTextStore.get()) as Record<string, ServerToolText[]>;
  }
}

const textsSchema = z.record(
  z.string(),
  z.array(
    z.looseObject({ name: z.string(), title: z.string().optional(), description: z.string().optional() }).readonly(),
  ),
);

const serverKeyOf = ({ place, name }: McpServerDefinition): string => `${place}#${name}`;

const keyOf = ({ name }: ServerToolText): string => `=${name}`;

export function compareWithAcceptedTool(
  entry: ApprovedServer | undefined,
  tool: ListedTool,
): 'same' | 'new' | 'changed' {
  const known = definitionsOf(entry, tool);
  if (!known) return 'new';
  return known.includes(hashServerTool(tool)) ? 'same' : 'changed';
}

/**
 * Returns earlier definitions whose grants the tool inherits, newest first; for a returning older definition, only the earlier definitions.
 */
export function earlierToolDefinitions(entry: ApprovedServer | undefined, tool: ListedTool): string[] {
  const known = definitionsOf(entry, tool) ?? [];
  return known.slice(0, Math.max(0, known.indexOf(hashServerTool(tool)))).reverse();
}

function definitionsOf(entry: ApprovedServer | undefined, tool: ListedTool): string[] | undefined {
  const all = entry?.tools ?? {};
  return Object.hasOwn(all, keyOf(tool)) ? all[keyOf(tool)] : undefined;
}
