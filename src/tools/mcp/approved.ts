import * as z from 'zod';
import type { Definition } from './config/config.ts';
import type { ListedTool } from './server.ts';
import { type ServerToolText, serverToolDefinition, serverToolTerms } from './serverText.ts';

const entrySchema = z.object({
  /** The definition it was given for. */
  hash: z.string(),
  /** Its tools that say they only read run without a question. */
  trusted: z.boolean(),
  /**
   * Name → hashes of the tools as they were accepted, oldest first: with each, the person agreed to go on with what was
   * allowed for those before it. Absent until they were listed for the first time.
   */
  tools: z.record(z.string(), z.array(z.string()).or(z.string().transform((hash) => [hash]))).optional(),
});
export type ApprovedServer = z.output<typeof entrySchema>;

/** Under one name in one place: a server that is configured in another way, or starts in another folder, has its own. */
const entriesSchema = z.record(z.string(), z.array(entrySchema).or(entrySchema.transform((entry) => [entry])));

/** What was allowed longest ago is forgotten. */
const mostEntries = 50;
const mostDefinitions = 20;
const mostTools = 2000;
/** Characters of JSON: longer words of a tool are not kept, and cannot be compared later. */
const longestWords = 200_000;
const longestList = 2_000_000;
const mostLists = 100;

/** Where approvals are kept: outside any workspace. */
interface ApprovalMemory {
  get(): unknown;
  set(value: unknown): Promise<void>;
}

/** The person's decisions about servers, each bound to what was shown: another command or address is another server. */
export class Approved {
  /** @param words where the words of accepted tools are kept, so that a change can be shown */
  constructor(
    private readonly memory: ApprovalMemory,
    private readonly words: ApprovalMemory,
  ) {}

  entry(definition: Definition): ApprovedServer | undefined {
    return this.entries(definition).find(({ hash }) => hash === definition.hash);
  }

  /** It was allowed before, as something else only. */
  wasOther(definition: Definition): boolean {
    return this.entries(definition).length > 0 && !this.entry(definition);
  }

  async allow(definition: Definition, trusted: boolean): Promise<void> {
    await this.keep({ tools: undefined, ...this.entry(definition), hash: definition.hash, trusted }, definition);
  }

  /**
   * The person goes on with these, and with what was allowed for them before.
   * @param listed all that the server has now: of others, the words are forgotten
   */
  async acceptTools(
    definition: Definition,
    tools: readonly ListedTool[],
    listed: readonly ListedTool[] = tools,
  ): Promise<void> {
    const entry = this.entry(definition);
    if (!entry) return;
    const all = new Map(Object.entries(entry.tools ?? {}));
    for (const tool of tools) {
      const hash = serverToolDefinition(tool);
      const known = all.get(keyOf(tool)) ?? [];
      if (!known.includes(hash)) all.set(keyOf(tool), [...known, hash].slice(-mostDefinitions));
    }
    const present = new Set(listed.map(keyOf));
    if (all.size > mostTools) for (const key of all.keys()) if (!present.has(key)) all.delete(key);
    await this.keepWords(definition, tools, present);
    await this.keep({ ...entry, tools: Object.fromEntries(all) }, definition);
  }

  /** What its tools said when they were last accepted, as far as that is known. */
  wordsBefore(definition: Definition): ServerToolText[] {
    return this.lists()[`${placeOf(definition)}#${definition.hash}`] ?? [];
  }

  /** Takes back whatever was allowed under this name in this place. */
  async forget(definition: Definition): Promise<void> {
    const place = placeOf(definition);
    const { [place]: _, ...others } = this.all();
    await this.memory.set(others);
    const lists = Object.entries(this.lists()).filter(([key]) => !key.startsWith(`${place}#`));
    await this.words.set(Object.fromEntries(lists));
  }

  private async keep(entry: ApprovedServer, definition: Definition): Promise<void> {
    const others = this.entries(definition).filter(({ hash }) => hash !== entry.hash);
    await this.memory.set({ ...this.all(), [placeOf(definition)]: [...others, entry].slice(-mostEntries) });
  }

  private async keepWords(definition: Definition, tools: readonly ListedTool[], present: ReadonlySet<string>) {
    const now = new Map(tools.map((tool) => [keyOf(tool), serverToolTerms(tool)]));
    const before = this.wordsBefore(definition).filter((tool) => present.has(keyOf(tool)) && !now.has(keyOf(tool)));
    let left = longestList;
    const kept = [...now.values(), ...before].filter((tool) => {
      const { length } = JSON.stringify(tool);
      if (length > longestWords || length > left) return false;
      left -= length;
      return true;
    });
    const key = `${placeOf(definition)}#${definition.hash}`;
    const { [key]: _, ...others } = this.lists();
    await this.words.set(Object.fromEntries([...Object.entries(others), [key, kept]].slice(-mostLists)));
  }

  private entries(definition: Definition): ApprovedServer[] {
    const all = this.all();
    return Object.hasOwn(all, placeOf(definition)) ? all[placeOf(definition)]! : [];
  }

  private all(): Record<string, ApprovedServer[]> {
    return entriesSchema.catch({}).parse(this.memory.get());
  }

  /** For showing alone: nothing is decided by them. */
  private lists(): Record<string, ServerToolText[]> {
    return wordsSchema.catch({}).parse(this.words.get()) as Record<string, ServerToolText[]>;
  }
}

const wordsSchema = z.record(
  z.string(),
  z.array(
    z.looseObject({ name: z.string(), title: z.string().optional(), description: z.string().optional() }).readonly(),
  ),
);

/** Where it is configured, and under which name. */
const placeOf = ({ place, name }: Definition): string => `${place}#${name}`;

const keyOf = ({ name }: ServerToolText): string => `=${name}`;

/** Whether a tool is what was accepted; `new` and `changed` ones are not. */
export function judgeTool(entry: ApprovedServer | undefined, tool: ListedTool): 'same' | 'new' | 'changed' {
  const known = definitionsOf(entry, tool);
  if (!known) return 'new';
  return known.includes(serverToolDefinition(tool)) ? 'same' : 'changed';
}

/** The definitions before this one whose grants the person lets it have, newest first; of one that comes back, those before it. */
export function definitionsBefore(entry: ApprovedServer | undefined, tool: ListedTool): string[] {
  const known = definitionsOf(entry, tool) ?? [];
  return known.slice(0, Math.max(0, known.indexOf(serverToolDefinition(tool)))).reverse();
}

function definitionsOf(entry: ApprovedServer | undefined, tool: ListedTool): string[] | undefined {
  const all = entry?.tools ?? {};
  return Object.hasOwn(all, keyOf(tool)) ? all[keyOf(tool)] : undefined;
}
