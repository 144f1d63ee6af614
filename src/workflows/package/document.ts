import { mkdir, readFile, realpath } from 'node:fs/promises';
import path from 'node:path';
import { ToolError } from '../../tools/core/tool.ts';
import { keepFile } from '../../tools/sandbox/writeFile.ts';
import type { PackageGraph } from './packageGraph.ts';
import { type PackageState, parseState } from './state.ts';
import { checkLoss, checkTransition } from './transitions.ts';

const stateFile = 'workflow.md';

/** A run's state document. What is on disk was checked before it landed, and is there whole. */
export class StateDocument {
  private constructor(
    /** Its folder, links resolved. */
    readonly folder: string,
    readonly graph: PackageGraph,
    /** Where the run stands. */
    public state: PackageState,
  ) {}

  /**
   * Opens a run's document; `first` is the text of a run that has none yet. Throws `ToolError` when somebody else has
   * damaged or removed it.
   */
  static async open(folder: string, graph: PackageGraph, first?: string): Promise<StateDocument> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const real = await realpath(folder);
    const file = path.join(real, stateFile);
    let text = await readFile(file, 'utf8').catch(whenMissing);
    if (text === undefined) {
      if (first === undefined) throw new ToolError('ENOENT', 'it is gone.');
      text = first;
      await keepFile(file, text);
    }
    const state = parseState(text);
    checkTransition(graph, state, state); // its nodes are nodes of this graph
    return new StateDocument(real, graph, state);
  }

  /** A path names it also in other letters, which many disks take for the same. */
  isAt(file: string): boolean {
    return file.toLowerCase() === path.join(this.folder, stateFile).toLowerCase();
  }

  /**
   * Takes a new text, or throws `ToolError` and leaves everything as it is.
   * @param drops the places that may lose something by it (`mergeState`)
   */
  async write(text: string, drops?: readonly string[]): Promise<void> {
    await this.put(text, await this.standing(), drops);
  }

  /** What the person may have made of it meanwhile; as it was, when that cannot be used. */
  private async standing(): Promise<PackageState> {
    try {
      const state = parseState(await readFile(path.join(this.folder, stateFile), 'utf8'));
      checkTransition(this.graph, state, state);
      return state;
    } catch {
      return this.state;
    }
  }

  /**
   * Takes an earlier text back as the person wants it: what may follow what binds the model, not them. It must be a state of
   * this graph all the same, or it throws `ToolError` and leaves everything as it is.
   */
  async restore(text: string): Promise<void> {
    await this.put(text);
  }

  private async put(text: string, before?: PackageState, drops?: readonly string[]): Promise<void> {
    const after = parseState(text);
    checkTransition(this.graph, before ?? after, after);
    if (before) checkLoss(before, after, drops);
    await keepFile(path.join(this.folder, stateFile), text);
    this.state = after;
  }
}

function whenMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
  return undefined;
}
