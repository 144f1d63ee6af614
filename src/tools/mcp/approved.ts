import { createHash } from 'node:crypto';
import stringify from 'safe-stable-stringify';
import * as z from 'zod';
import type { Definition } from './config.ts';
import type { ListedTool } from './server.ts';

const entrySchema = z.object({
  /** The definition it was given for. */
  hash: z.string(),
  /** Its tools that say they only read run without a question. */
  trusted: z.boolean(),
  /** Name → hash of the tools as they were seen and accepted. Absent until they were listed for the first time. */
  tools: z.record(z.string(), z.string()).optional(),
});
type Entry = z.infer<typeof entrySchema>;

/** Where approvals are kept: outside any workspace. */
export interface Memory {
  get(): unknown;
  set(value: unknown): Promise<void>;
}

/** The person's decisions about servers, each bound to what was shown: another command or address is another server. */
export class Approved {
  constructor(private readonly memory: Memory) {}

  entry(definition: Definition): Entry | undefined {
    const entry = this.all()[placeOf(definition)];
    return entry?.hash === definition.hash ? entry : undefined;
  }

  /** It was allowed before, as something else. */
  wasOther(definition: Definition): boolean {
    const entry = this.all()[placeOf(definition)];
    return entry !== undefined && entry.hash !== definition.hash;
  }

  async allow(definition: Definition, trusted: boolean): Promise<void> {
    await this.keep(definition, { tools: undefined, ...this.entry(definition), hash: definition.hash, trusted });
  }

  async acceptTools(definition: Definition, tools: readonly ListedTool[]): Promise<void> {
    const entry = this.entry(definition);
    if (!entry) return;
    const hashes = Object.fromEntries(tools.map((tool) => [`=${tool.name}`, toolHash(tool)]));
    await this.keep(definition, { ...entry, tools: hashes });
  }

  /** Whether a tool is still what was accepted; `new` and `changed` ones are not. */
  judge(definition: Definition, tool: ListedTool): 'same' | 'new' | 'changed' {
    const known = this.entry(definition)?.tools?.[`=${tool.name}`];
    if (known === undefined) return 'new';
    return known === toolHash(tool) ? 'same' : 'changed';
  }

  async forget(definition: Definition): Promise<void> {
    const { [placeOf(definition)]: _, ...others } = this.all();
    await this.memory.set(others);
  }

  private async keep(definition: Definition, entry: Entry): Promise<void> {
    await this.memory.set({ ...this.all(), [placeOf(definition)]: entry });
  }

  private all(): Record<string, Entry> {
    return z.record(z.string(), entrySchema).catch({}).parse(this.memory.get());
  }
}

/** Where it is configured, and under which name. */
const placeOf = ({ place, name }: Definition): string => `${place}#${name}`;

/** Everything about a tool that a model or the gate goes by. */
function toolHash({ name, title, description, inputSchema, annotations }: ListedTool): string {
  const said = stringify({ name, title, description, inputSchema, annotations }) ?? '';
  return createHash('sha256').update(said).digest('hex');
}
