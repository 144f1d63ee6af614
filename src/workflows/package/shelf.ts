import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, realpath, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { EngineError } from '../../engine/engine.ts';
import type { Workflow } from '../../engine/workflow.ts';
import { foldersOf } from '../../tools/workspace.ts';
import { unpackArchive } from './archive.ts';
import { parsePackageRunId } from './ids.ts';
import { loadPackage, type Package } from './load.ts';
import { PackageError } from './problem.ts';
import { agentTalk } from './talk.ts';
import { type PackageRunOptions, packageWorkflow } from './workflow.ts';

/** A package that is known; one that cannot be used says why. */
export type ShelvedPackage = { key: string; place: string } & ({ source: Package } | { problem: string });

export interface ShelfOptions extends Pick<PackageRunOptions, 'project' | 'stateFolder' | 'autopilot' | 'now'> {
  /** Where archives are unpacked. */
  storage: string;
  /** The file that names the packages which were opened in this workspace. */
  openedFile: string;
}

const openedSchema = z.array(z.string());

/** The packages of the workspace (`.towpath/packages/`: folders and `.bmad` archives), and those that were opened. */
export class Shelf {
  constructor(private readonly options: ShelfOptions) {}

  /** All of them, in the order they were found. None in a workspace that is not trusted. */
  async list(): Promise<ShelvedPackage[]> {
    if (!this.options.project.trusted) return [];
    const places = [...(await this.inWorkspace()), ...(await this.opened())];
    const found = new Map<string, ShelvedPackage>();
    for (const place of new Set(places)) {
      const shelved = await this.look(place);
      if (!found.has(shelved.key)) found.set(shelved.key, shelved);
    }
    return [...found.values()];
  }

  /** Adds an archive, or the folder of a `bmad.json`. Throws `PackageError`. */
  async open(file: string): Promise<ShelvedPackage & { source: Package }> {
    if (!this.options.project.trusted) throw new PackageError(path.basename(file), untrusted);
    const folder = isArchive(file) ? await unpackArchive(file, this.options.storage) : path.dirname(file);
    const source = await loadPackage(folder);
    const opened = await this.opened();
    if (!opened.includes(folder)) {
      await mkdir(path.dirname(this.options.openedFile), { recursive: true, mode: 0o700 });
      await writeFile(this.options.openedFile, JSON.stringify([...opened, folder]), { mode: 0o600 });
    }
    return { key: await keyOf(folder), place: folder, source };
  }

  /** The workflow of a run; undefined when the id is not of a package. Throws `EngineError`. */
  async workflow(id: string): Promise<Workflow | undefined> {
    const wanted = parsePackageRunId(id);
    if (!wanted) return undefined;
    if (!this.options.project.trusted) throw new EngineError('WORKFLOW_UNTRUSTED', untrusted);
    const shelved = (await this.list()).find(({ key }) => key === wanted.key);
    if (!shelved) throw missing(`The package of this run (${wanted.key}) is not here any more. Open it again.`);
    if ('problem' in shelved)
      throw new EngineError('WORKFLOW_INVALID', `The package cannot be used: ${shelved.problem}.`);
    const { source } = shelved;
    const agent = source.agents.find((one) => one.id === wanted.agentId);
    if (wanted.agentId !== undefined && !agent)
      throw missing(`The package ${source.title} has no agent "${wanted.agentId}" any more.`);
    if (wanted.workflowId === undefined) return agentTalk(id, source, agent!, this.options.project);
    const workflow = source.workflows.find((one) => one.id === wanted.workflowId);
    if (!workflow) throw missing(`The package ${source.title} has no workflow "${wanted.workflowId}" any more.`);
    return packageWorkflow({ ...this.options, id, source, workflow, activeAgentId: agent?.id ?? workflow.agentId });
  }

  private async look(place: string): Promise<ShelvedPackage> {
    let folder = place;
    try {
      if (isArchive(place)) folder = await unpackArchive(place, this.options.storage);
      return { key: await keyOf(folder), place, source: await loadPackage(folder) };
    } catch (error) {
      if (!(error instanceof PackageError)) throw error;
      return { key: await keyOf(folder), place, problem: error.message };
    }
  }

  private async inWorkspace(): Promise<string[]> {
    const places = await Promise.all(
      foldersOf(this.options.project.roots).map(async (root) => {
        const folder = path.join(root.path, '.towpath', 'packages');
        const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
        const wanted = entries.filter((entry) => entry.isDirectory() || (entry.isFile() && isArchive(entry.name)));
        return wanted.map((entry) => path.join(folder, entry.name)).sort();
      }),
    );
    return places.flat();
  }

  private async opened(): Promise<string[]> {
    const text = await readFile(this.options.openedFile, 'utf8').catch(() => '[]');
    try {
      return openedSchema.parse(JSON.parse(text));
    } catch {
      return [];
    }
  }
}

const untrusted = 'This workspace is not trusted, so no package is loaded. Trust it first (Manage Workspace Trust).';
const isArchive = (file: string) => /\.bmad$/i.test(file);
const missing = (message: string) => new EngineError('WORKFLOW_NOT_FOUND', message);

/** What a run remembers its package by: an archive's content, else where a folder is. */
async function keyOf(folder: string): Promise<string> {
  const name = path.basename(folder);
  if (/^[0-9a-f]{64}$/.test(name)) return name.slice(0, 16);
  const real = await realpath(folder).catch(() => folder);
  const readable = name.replace(/[^\w.-]/g, '_').slice(0, 40);
  return `${readable}-${createHash('sha256').update(real).digest('hex').slice(0, 8)}`;
}
