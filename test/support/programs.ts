import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { type BuildOptions, build } from 'esbuild';

type Program = BuildOptions & { entryPoints: [string]; outfile: string };

/** A program as it is built for people, in memory. */
export interface Built {
  /** What it comes to, by the names of the files. */
  files: Map<string, string>;
  /** Every file that has a part in it, from the project's root. */
  inputs: string[];
}

/** Builds the program of `dist/` that has this name; `entry` to begin with another file than it does. */
export async function built(name: string, entry?: string): Promise<Built> {
  const found = (await programs()).find(({ outfile }) => path.basename(outfile) === name);
  if (!found) throw new Error(`There is no program ${name}.`);
  const options = { ...found, ...(entry && { entryPoints: [entry] }), sourcemap: false } as const;
  const { outputFiles, metafile } = await build({ ...options, write: false, metafile: true });
  const [output] = Object.values(metafile.outputs).filter(({ entryPoint }) => entryPoint);
  const inputs = Object.entries(output!.inputs).flatMap(([file, { bytesInOutput }]) =>
    bytesInOutput > 0 ? [file] : [],
  );
  return { files: new Map(outputFiles.map((file) => [path.basename(file.path), file.text])), inputs };
}

/** What the project's build makes. */
export async function programs(): Promise<Program[]> {
  const file = path.resolve(import.meta.dirname, '../../esbuild.mjs');
  return (await import(pathToFileURL(file).href)).programs;
}
