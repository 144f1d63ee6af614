import { promises as fs, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beginState } from './stateFiles.ts';

/** A place for a run in the engine's memory. What stands in it is another sequence once the context was made anew. */
export interface SequenceSlot<Sequence> {
  sequence: Sequence;
}

/** The part of node-llama-cpp's context sequence that is needed here. */
export interface CarriedSequence<Token extends number> {
  readonly nextTokenIndex: number;
  readonly contextSize: number;
  readonly contextTokens: Token[];
  clearHistory(): Promise<void>;
  eraseContextTokenRanges(ranges: { start: number; end: number }[]): Promise<void>;
  takeCheckpoint(): Promise<void>;
  saveStateToFile(file: string): Promise<unknown>;
  loadStateFromFile(file: string, risk: { acceptRisk: true }): Promise<void>;
}

export interface CarrierParts {
  /** Where the files are; a folder of their own in the system's temporary one when not given. */
  folder?: string;
  /** An estimate. */
  bytesPerToken: number;
  log(text: string): void;
}

/** Takes what seats hold from one context into the next, by files that are gone when it is done. What it cannot take is read again. */
export class StateTransfer<Token extends number, Sequence extends CarriedSequence<Token>> {
  private folder: string | undefined;
  private readonly states = new Map<SequenceSlot<Sequence>, { file: string; tokens: Token[] }>();
  private readonly leaving = () => {
    for (const place of this.places()) rmSync(place, { recursive: true, force: true });
  };

  constructor(private readonly parts: CarrierParts) {
    this.folder = parts.folder;
    process.once('exit', this.leaving);
  }

  async save(seat: SequenceSlot<Sequence>): Promise<void> {
    const { sequence } = seat;
    const end = sequence.nextTokenIndex;
    if (end === 0) return;
    try {
      this.folder ??= await fs.mkdtemp(path.join(tmpdir(), `${ownFolder}${process.pid}-`));
      const file = await beginState(this.folder, `${carried}${process.pid}`);
      this.states.set(seat, { file, tokens: [] });
      const { bavail, bsize } = await fs.statfs(this.folder);
      if (bavail * bsize < end * this.parts.bytesPerToken) throw new Error('there is no room on the disk');
      // What was drafted is in the engine's memory, and no token of the conversation.
      await sequence.eraseContextTokenRanges([{ start: end, end: sequence.contextSize }]);
      await sequence.saveStateToFile(file);
      this.states.set(seat, { file, tokens: sequence.contextTokens });
    } catch (error) {
      this.parts.log(`${end} tokens cannot be carried over: ${error}`);
    }
  }

  /** Tokens that the seat holds again. */
  async load(seat: SequenceSlot<Sequence>): Promise<number> {
    const { file, tokens } = this.states.get(seat) ?? { tokens: [] };
    if (file === undefined || tokens.length === 0) return 0;
    const { sequence } = seat;
    try {
      await sequence.loadStateFromFile(file, { acceptRisk: true });
      const { contextTokens } = sequence;
      if (contextTokens.length === tokens.length && contextTokens.every((token, at) => token === tokens[at])) {
        await sequence.takeCheckpoint(); // the file has none
        return tokens.length;
      }
    } catch (error) {
      this.parts.log(`${tokens.length} tokens could not be carried over: ${error}`);
    }
    await sequence.clearHistory();
    return 0;
  }

  async clear(): Promise<void> {
    for (const place of this.places()) await fs.rm(place, { recursive: true, force: true }).catch(() => {});
    process.off('exit', this.leaving);
  }

  private places(): string[] {
    const isOwn = this.folder !== undefined && this.folder !== this.parts.folder;
    return [...[...this.states.values()].map(({ file }) => file), ...(isOwn ? [this.folder!] : [])];
  }
}

/** Of a process, whose number follows: a file, and a folder in the system's temporary one. */
const [carried, ownFolder] = ['carried-', 'towpath-carried-'];

/** Removes what processes left that were killed while they carried it. @param folder where that is, if it is in no folder of their own */
export async function removeLeft(folder: string | undefined): Promise<void> {
  const places = [...(folder === undefined ? [] : [[folder, carried] as const]), [tmpdir(), ownFolder] as const];
  for (const [place, beginning] of places) {
    const names = (await fs.readdir(place).catch(() => [])).filter((name) => name.startsWith(beginning));
    for (const name of names)
      if (!isAlive(Number.parseInt(name.slice(beginning.length), 10)))
        await fs.rm(path.join(place, name), { recursive: true, force: true }).catch(() => {}); // somebody else's
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
