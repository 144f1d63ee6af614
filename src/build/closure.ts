import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { factsOf, packageOf } from './shippedPackages.ts';
import { projectRoot } from './targets.ts';

const library = 'node_modules/node-llama-cpp';

/**
 * What the engine's library can reach at run time: the files of its packages that an import leads to, below `node_modules`,
 * with the manifests that say how to read them, and their licences. What only builds llama.cpp from its sources, or is a
 * command line, stays out. `folders`: the packages these files are of.
 */
export async function closure(): Promise<{ files: string[]; folders: string[] }> {
  const { metafile } = await build({
    absWorkingDir: projectRoot,
    entryPoints: [`${library}/dist/index.js`],
    // The engines come by themselves; reflink copies what the library downloads, which nobody asks it to.
    external: ['@node-llama-cpp/*', '@reflink/reflink'],
    ...{ bundle: true, write: false, metafile: true, platform: 'node', format: 'esm', target: 'node20', outdir: '.' },
    logLevel: 'error',
  });
  const code = Object.keys(metafile.inputs);
  const folders = [...new Set(code.map(packageOf))].sort();
  const data = readdirSync(path.join(projectRoot, library, 'llama')).filter((name) => name.endsWith('.json'));
  const files = [
    ...code.flatMap((file) => [file, ...manifestsOf(file)]),
    ...folders.flatMap((folder) => factsOf(folder).licenceFiles),
    ...data.map((name) => `${library}/llama/${name}`),
  ];
  return { files: [...new Set(files)].sort(), folders };
}

/** All from the file's folder up to its package: a folder's own may say that what is in it are modules, or are not. */
function manifestsOf(file: string): string[] {
  const folder = path.posix.dirname(file);
  const above = folder === packageOf(file) ? [] : manifestsOf(folder);
  const own = `${folder}/package.json`;
  return existsSync(path.join(projectRoot, own)) ? [own, ...above] : above;
}
