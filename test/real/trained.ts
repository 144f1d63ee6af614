import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  createLocalModelClient,
  type LocalModelClient,
  type LocalModelClientOptions,
} from '../../src/llm/local/host/client.ts';
import { buildWorker } from '../llm/local/setup.ts';
import { tries } from '../support/tries.ts';
import { findRealModels } from './models.ts';

/** Figures of each model, printed as a table at the end. */
const tables = new Map<string, string[]>();

const models = await findRealModels();

after(() => {
  for (const [name, rows] of tables) console.log(`\n${name}\n${rows.map((row) => `  ${row}`).join('\n')}`);
});

/**
 * Describes tests for each model; pending for one that this machine does not have and no registry serves.
 * @param ofEach `named`: for the others than the first one only when the part is named, as they take minutes
 */
export function describeTrained(
  title: string,
  define: (model: TrainedModel) => void,
  ofEach: 'always' | 'named' = 'always',
): void {
  describe(title, function () {
    this.timeout(600_000);
    for (const { name, file } of models) {
      if (file === undefined) {
        it(`${name}: left out (no registry)`);
        continue;
      }
      if (ofEach === 'named' && name !== models[0]!.name && tries(0, 1) === 0) {
        it(`${name}: npm test -- real`);
        continue;
      }
      describe(name, () => {
        const trained = new TrainedModel(name, file);
        before(() => trained.prepare());
        afterEach(() => trained.disposeClients());
        after(() => trained.cleanUp());
        define(trained);
      });
    }
  });
}

/** A model file with the folders and clients of its tests. One thread: several wait for each other by spinning. */
export class TrainedModel {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'real-'));
  /** Lines that the clients have logged since the last call of `forgetStates`. */
  log: string[] = [];
  private readonly states = path.join(this.folder, 'states');
  private readonly runs = path.join(this.folder, 'runs');
  private clients: LocalModelClient[] = [];

  constructor(
    readonly name: string,
    readonly file: string,
  ) {}

  async prepare(): Promise<void> {
    await buildWorker();
    for (const run of ['run-1', 'run-2']) mkdirSync(path.join(this.runs, run), { recursive: true });
  }

  async client(options: Partial<LocalModelClientOptions> = {}): Promise<LocalModelClient> {
    const client = createLocalModelClient({
      workerPath: await buildWorker(),
      modelPath: this.file,
      threads: 1,
      gpu: false,
      chatFormats: path.join(this.folder, 'formats'),
      keep: () => ({ folder: this.states, folders: [], runs: this.runs, bytes: 1e9, restMs: 10, share: 1e9 }),
      onLog: (line) => this.log.push(line),
      ...options,
    });
    this.clients.push(client);
    return client;
  }

  async disposeClients(): Promise<void> {
    for (const client of this.clients.splice(0)) await client.dispose();
  }

  async forgetStates(): Promise<void> {
    await this.disposeClients();
    rmSync(this.states, { recursive: true, force: true });
    this.log = [];
  }

  /** Adds a row to the table of the model. */
  figure(what: string, ...values: string[]): void {
    const rows = tables.get(this.name) ?? [];
    tables.set(this.name, [...rows, `${what.padEnd(46)} ${values.join(', ')}`]);
  }

  cleanUp(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
