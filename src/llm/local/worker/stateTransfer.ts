import { promises as fs, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { takeRecordedCheckpoint } from './rewindableSequence.ts';
import { createUnfinishedSequenceStateFile } from './stateFiles.ts';
import { clearSequence, type StorableSequence } from './writtenStates.ts';

/** Slot of a run in the engine's memory. A recreated context puts another sequence into the slot. */
export interface SequenceSlot<Sequence> {
  sequence: Sequence;
}

export interface SequenceStateTransferDependencies {
  folder?: string;
  bytesPerToken: number;
  log(text: string): void;
}

/** Transfer of slot contents from one context to the next by temporary files. Content that cannot be loaded is evaluated again. */
export class SequenceStateTransfer<Token extends number, Sequence extends StorableSequence<Token>> {
  private folder: string | undefined;
  private readonly states = new Map<SequenceSlot<Sequence>, { file: string; tokens: Token[] }>();
  private readonly leaving = () => {
    for (const folder of this.folders()) rmSync(folder, { recursive: true, force: true });
  };

  constructor(private readonly parts: SequenceStateTransferDependencies) {
    this.folder = parts.folder;
    process.once('exit', this.leaving);
  }

  async save(seat: SequenceSlot<Sequence>): Promise<void> {
    const { sequence } = seat;
    const end = sequence.nextTokenIndex;
    if (end === 0) return;
    try {
      this.folder ??= await fs.mkdtemp(path.join(tmpdir(), `${ownFolder}${process.pid}-`));
      const file = await createUnfinishedSequenceStateFile(this.folder, `${carried}${process.pid}`);
      this.states.set(seat, { file, tokens: [] });
      const { bavail, bsize } = await fs.statfs(this.folder);
      if (bavail * bsize < end * this.parts.bytesPerToken) throw new Error('there is no room on the disk');
      // Draft tokens are in the engine's memory but not in the conversation.
      await sequence.eraseContextTokenRanges([{ start: end, end: sequence.contextSize }]);
      await sequence.saveStateToFile(file);
      this.states.set(seat, { file, tokens: sequence.contextTokens });
    } catch (error) {
      this.parts.log(`${end} tokens cannot be carried over: ${error}`);
    }
  }

  async load(seat: SequenceSlot<Sequence>): Promise<number> {
    const { file, tokens } = this.states.get(seat) ?? { tokens: [] };
    if (file === undefined || tokens.length === 0) return 0;
    const { sequence } = seat;
    try {
      await sequence.loadStateFromFile(file, { acceptRisk: true });
      const { contextTokens } = sequence;
      if (contextTokens.length === tokens.length && contextTokens.every((token, at) => token === tokens[at])) {
        await takeRecordedCheckpoint(sequence); // a file contains no checkpoints
        return tokens.length;
      }
    } catch (error) {
      this.parts.log(`${tokens.length} tokens could not be carried over: ${error}`);
    }
    await clearSequence(sequence);
    return 0;
  }

  async clear(): Promise<void> {
    for (const folder of this.folders()) await fs.rm(folder, { recursive: true, force: true }).catch(() => {});
    process.off('exit', this.leaving);
  }

  private folders(): string[] {
    const isOwn = this.folder !== undefined && this.folder !== this.parts.folder;
    return [...[...this.states.values()].map(({ file }) => file), ...(isOwn ? [this.folder!] : [])];
  }
}

const [carried, ownFolder] = ['carried-', 'towpath-carried-'];

/**
 * Removes the leftovers of killed processes.
 *
 * @param folder folder of the files if they have no temporary folder
 */
export async function removeSequenceStateLeftovers(folder: string | undefined): Promise<void> {
  const candidates = [...(folder === undefined ? [] : [[folder, carried] as const]), [tmpdir(), ownFolder] as const];
  for (const [folder, beginning] of candidates) {
    const names = (await fs.readdir(folder).catch(() => [])).filter((name) => name.startsWith(beginning));
    for (const name of names)
      if (!isAlive(Number.parseInt(name.slice(beginning.length), 10)))
        await fs.rm(path.join(folder, name), { recursive: true, force: true }).catch(() => {}); // owned by another user
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
