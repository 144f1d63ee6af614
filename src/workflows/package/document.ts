import { mkdir, readFile, realpath } from 'node:fs/promises';
import path from 'node:path';
import { ToolError } from '../../tools/core/tool.ts';
import { writeOwnFile } from '../../tools/sandbox/writeFile.ts';
import type { PackageWorkflowGraph } from './packageGraph.ts';
import { type PackageRunState, parsePackageRunState } from './state.ts';
import { checkPackageTransition, checkStateValueLoss } from './transitions.ts';

const stateFile = 'workflow.md';

/** State document of a run. The stored text was validated before writing and is complete. */
export class PackageRunStateDocument {
  private constructor(
    readonly folder: string,
    readonly graph: PackageWorkflowGraph,
    public state: PackageRunState,
  ) {}

  /** Opens a document; `first` is the initial text of a new run. Throws `ToolError` if the document was damaged or removed externally. */
  static async open(folder: string, graph: PackageWorkflowGraph, first?: string): Promise<PackageRunStateDocument> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const real = await realpath(folder);
    const file = path.join(real, stateFile);
    let text = await readFile(file, 'utf8').catch(whenMissing);
    if (text === undefined) {
      if (first === undefined) throw new ToolError('ENOENT', 'it is gone.');
      text = first;
      await writeOwnFile(file, text);
    }
    const state = parsePackageRunState(text);
    checkPackageTransition(graph, state, state); // throws if the state names unknown nodes
    return new PackageRunStateDocument(real, graph, state);
  }

  /** Returns true if the path refers to the document, ignoring case as many disks do. */
  isAt(file: string): boolean {
    return file.toLowerCase() === path.join(this.folder, stateFile).toLowerCase();
  }

  /**
   * Writes a new text, or throws `ToolError` without a change.
   *
   * @param drops paths whose values may be lost (`mergePackageRunState`)
   */
  async write(text: string, drops?: readonly string[]): Promise<void> {
    await this.put(text, await this.standing(), drops);
  }

  /** Returns the state on disk, which the user may have edited; the previous state if invalid. */
  private async standing(): Promise<PackageRunState> {
    try {
      const state = parsePackageRunState(await readFile(path.join(this.folder, stateFile), 'utf8'));
      checkPackageTransition(this.graph, state, state);
      return state;
    } catch {
      return this.state;
    }
  }

  /**
   * Restores an earlier text for the user, without the transition rules that bind the model. Throws `ToolError` without a change if the
   * text is no state of this graph.
   */
  async restore(text: string): Promise<void> {
    await this.put(text);
  }

  private async put(text: string, before?: PackageRunState, drops?: readonly string[]): Promise<void> {
    const after = parsePackageRunState(text);
    checkPackageTransition(this.graph, before ?? after, after);
    if (before) checkStateValueLoss(before, after, drops);
    await writeOwnFile(path.join(this.folder, stateFile), text);
    this.state = after;
  }
}

function whenMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
  return undefined;
}
