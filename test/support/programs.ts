import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';

type Program = BuildOptions & {
  entryPoints: Record<string, string>;
  outExtension: { '.js': string };
};

/** A program as it is built for people, in memory. */
export interface Built {
  /** What it comes to, by the names of the files; those of the programs that are built with it, too. */
  files: Map<string, string>;
  /** Every file that has a part in what is loaded with it, from the project's root. */
  inputs: string[];
  /** Each of the files with what has a part in it, loaded or not. */
  parts: Map<string, string[]>;
  /** Files that are loaded with each part that is loaded when it is needed, by their names. */
  late: string[][];
}

/** Builds the program of `dist/` that has this name; `entry` to begin with another file than it does, not `minify` to find names in it. */
export async function built(name: string, entry?: string, minify = true): Promise<Built> {
  const { name: own, ext } = path.parse(name);
  const found = (await programs()).find((one) => own in one.entryPoints && one.outExtension['.js'] === ext);
  if (!found) throw new Error(`There is no program ${name}.`);
  const options = { ...found, ...(entry && { entryPoints: { [own]: entry } }), sourcemap: false, minify } as const;
  const { outputFiles, metafile } = await build({ ...options, write: false, metafile: true });
  const { outputs } = metafile;
  const parts = new Map(Object.entries(outputs).map(([file, output]) => [path.basename(file), partsOf(output)]));
  const files = new Map(outputFiles.map((file) => [path.basename(file.path), file.text]));
  const loaded = loadedWith(outputs, Object.keys(outputs).find((file) => path.basename(file) === name)!);
  const entries = new Set(
    Object.values(outputs).flatMap(({ imports }) =>
      imports.filter(({ kind }) => kind === 'dynamic-import').map(({ path: file }) => file),
    ),
  );
  const late = [...entries]
    .filter((file) => outputs[file])
    .map((file) => loadedWith(outputs, file).map((one) => path.basename(one)));
  return { files, inputs: loaded.flatMap((file) => partsOf(outputs[file]!)), parts, late };
}

/** Bundles a file as the extension host's program is bundled, with `main.cjs` as its entry. Returns the path of that. */
export async function writeBundle(entry: string, folder: string): Promise<string> {
  const { files } = await built('main.cjs', entry);
  rmSync(folder, { recursive: true, force: true });
  for (const [name, text] of files) {
    const file = path.join(folder, name === 'main.cjs' ? name : path.join('chunks', name));
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return path.join(folder, 'main.cjs');
}

type Outputs = Metafile['outputs'];

const partsOf = ({ inputs }: Outputs[string]) =>
  Object.entries(inputs).flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : []));

/** The file itself, and what it cannot begin without. */
function loadedWith(outputs: Outputs, first: string): string[] {
  const loaded = new Set([first]);
  for (const file of loaded)
    for (const { path: other, kind } of outputs[file]!.imports)
      if (kind === 'import-statement' && outputs[other]) loaded.add(other);
  return [...loaded];
}

/** What the project's build makes. */
export const programs = async (): Promise<Program[]> => (await project()).programs;

/** Plugins that a bundle with the gate in it needs. */
export const gatePlugins = async (): Promise<Plugin[]> => [(await project()).tables];

function project(): Promise<{ programs: Program[]; tables: Plugin }> {
  const file = path.resolve(import.meta.dirname, '../../esbuild.mjs');
  return import(pathToFileURL(file).href);
}
