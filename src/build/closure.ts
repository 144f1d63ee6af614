import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { containingPackageFolder, readPackageFacts } from './shippedPackages.ts';
import { projectRoot } from './targets.ts';

const library = 'node_modules/node-llama-cpp';

/**
 * Returns the files of the engine's library reachable by imports at run time, below `node_modules`, with manifests and licences. Building
 * llama.cpp from source and command line tools are excluded. `folders`: the packages of the files.
 */
export async function collectEngineFiles(): Promise<{ files: string[]; folders: string[] }> {
  const { metafile } = await build({
    absWorkingDir: projectRoot,
    entryPoints: [`${library}/dist/index.js`],
    // Engines are separate packages; reflink copies library downloads, which are never used.
    external: ['@node-llama-cpp/*', '@reflink/reflink'],
    ...{ bundle: true, write: false, metafile: true, platform: 'node', format: 'esm', target: 'node20', outdir: '.' },
    logLevel: 'error',
  });
  const code = Object.keys(metafile.inputs);
  const folders = [...new Set(code.map(containingPackageFolder))].sort();
  const data = readdirSync(path.join(projectRoot, library, 'llama')).filter((name) => name.endsWith('.json'));
  const files = [
    ...code.flatMap((file) => [file, ...manifestsOf(file)]),
    ...folders.flatMap((folder) => readPackageFacts(folder).licenceFiles),
    ...data.map((name) => `${library}/llama/${name}`),
  ];
  return { files: [...new Set(files)].sort(), folders };
}

/** Returns all manifests from the file's folder up to its package, because a nested manifest may set the module type. */
function manifestsOf(file: string): string[] {
  const folder = path.posix.dirname(file);
  const above = folder === containingPackageFolder(file) ? [] : manifestsOf(folder);
  const own = `${folder}/package.json`;
  return existsSync(path.join(projectRoot, own)) ? [own, ...above] : above;
}
