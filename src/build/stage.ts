import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { enginePackageByPlatform } from '../llm/local/engineInstall/missingEngine.ts';
import { createCatalogText, modelCatalogFile, priceCatalogPackage, storedCatalogDate } from './catalog.ts';
import { collectEngineFiles } from './closure.ts';
import { enginePackageFolder, lockedPackageFolder } from './lockedFolder.ts';
import { toTranslatableManifest } from './manifestText.ts';
import { billOfMaterials } from './sbom.ts';
import type { PackageFacts } from './shippedPackages.ts';
import { bundledPackages, readPackageFacts } from './shippedPackages.ts';
import { type BuildTarget, projectRoot } from './targets.ts';

const rule = '─'.repeat(100);

function thirdPartyNotices(packages: PackageFacts[], llamaCpp: string | undefined): string {
  const parts = packages.map((one) => `${one.name} ${one.version}\nLicence: ${one.licence}\n\n${textOf(one)}`);
  const head = 'Towpath contains what others have made. Their names, versions and licences, each with its own text:';
  return `${[head, ...parts, ...(llamaCpp ? [llamaCpp] : [])].map((part) => part.trim()).join(`\n\n${rule}\n`)}\n`;
}

function textOf({ name, licence, author, licenceFiles }: PackageFacts): string {
  if (licenceFiles.length > 0)
    return licenceFiles.map((file) => readFileSync(path.resolve(projectRoot, file), 'utf8').trim()).join('\n\n');
  const text = standard[licence];
  if (!text) throw new Error(`${name} brings no text of its licence (${licence}), and there is none here.`);
  return text(author ?? `the authors of ${name}`);
}

/** Standard texts for packages that name a licence but contain no text. */
const standard: Record<string, (holder: string) => string> = {
  MIT: (holder) => `Copyright (c) ${holder}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy,
modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the
Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE,
ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`,
};

export interface BuildOutput {
  folder: string;
  bundled: string[];
  closure: { files: string[]; folders: string[] };
  /** Files beside `dist`, selected by `.vscodeignore`. */
  files: string[];
}

/** Builds into `folder`, which must be inside the project. */
export async function buildAllBundles(folder: string): Promise<BuildOutput> {
  const metafile = path.join(folder, 'meta.json');
  mkdirSync(path.join(folder, 'dist'));
  const outdir = path.relative(projectRoot, path.join(folder, 'dist'));
  node('esbuild.mjs', '--outdir', outdir, '--metafile', metafile);
  const listed = node(vsceScriptPath, 'ls', '--no-dependencies').split('\n').filter(Boolean);
  return {
    folder,
    bundled: [...bundledPackages(JSON.parse(readFileSync(metafile, 'utf8'))), await downloadPricePackage(folder)],
    closure: await collectEngineFiles(),
    files: listed.filter((file) => file !== 'README.md'), // installed users need another README
  };
}

/** Downloads the package of prices and returns its folder. Throws if the shipped catalog differs from the package. */
async function downloadPricePackage(folder: string): Promise<string> {
  const work = path.join(folder, 'catalog');
  mkdirSync(work);
  const from = lockedPackageFolder(priceCatalogPackage, work);
  if ((await createCatalogText(from, storedCatalogDate())) !== readFileSync(modelCatalogFile, 'utf8'))
    throw new Error(`The prices are not those of ${priceCatalogPackage}. Run npm run catalog.`);
  return from;
}

export const vsceScriptPath = path.join(projectRoot, 'node_modules/@vscode/vsce/vsce');

/** Copies the contents of a platform's package into `folder`, with file modes independent of the machine. */
export function stageVsixContents(target: BuildTarget, built: BuildOutput, folder: string): void {
  const put = (from: string, to: string) =>
    cpSync(path.resolve(projectRoot, from), path.join(folder, to), { recursive: true });
  for (const file of built.files) put(file, file);
  put('src/build/marketplace.md', 'README.md');
  put(path.join(built.folder, 'dist'), 'dist');
  const engine = target === 'universal' ? undefined : enginePackageByPlatform[target];
  const folders = [...built.bundled];
  if (engine) {
    for (const file of built.closure.files) put(file, `dist/${file}`);
    const work = path.join(built.folder, engine);
    mkdirSync(work, { recursive: true });
    const from = enginePackageFolder(engine, work);
    const into = `dist/node_modules/@node-llama-cpp/${engine}`;
    put(from, into);
    rmSync(path.join(folder, into, 'README.md'), { force: true });
    folders.push(...built.closure.folders, from);
  }
  const { manifest, english } = toTranslatableManifest(productManifest());
  writeJson(path.join(folder, 'package.json'), manifest);
  writeJson(path.join(folder, 'package.nls.json'), english);
  writeJson(path.join(folder, 'package.nls.de.json'), inGerman(english));
  writeJson(path.join(folder, 'dist/target.json'), { target, ...(engine && { engine }) });
  const packages = [
    ...new Map(folders.map(readPackageFacts).map((one) => [`${one.name}@${one.version}`, one])).values(),
  ];
  packages.sort((a, b) => (`${a.name}@${a.version}` < `${b.name}@${b.version}` ? -1 : 1));
  const { name, version, license } = manifest;
  const llamaCpp = engine && llamaCppRelease();
  writeJson(path.join(folder, 'sbom.cdx.json'), billOfMaterials({ name, version, license }, packages, llamaCpp));
  const llamaCppNotice = engine && readFileSync(path.join(projectRoot, 'src/build/llama.cpp.txt'), 'utf8');
  writeFileSync(path.join(folder, 'ThirdPartyNotices.txt'), thirdPartyNotices(packages, llamaCppNotice));
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    chmodSync(path.join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644);
}

/** Returns the manifest without build settings, because these refer to absent files. */
function productManifest(): { name: string; version: string; license: string } {
  const manifest = JSON.parse(readFileSync(path.join(projectRoot, 'package.json'), 'utf8'));
  for (const key of ['private', 'scripts', 'dependencies', 'devDependencies', 'overrides']) delete manifest[key];
  return manifest;
}

function inGerman(english: Record<string, string>): Record<string, string> {
  const file = path.join(projectRoot, 'src/l10n/package.nls.de.json');
  const german = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
  return Object.fromEntries(Object.entries(english).map(([key, text]) => [key, german[text] ?? text]));
}

export function llamaCppRelease(): string {
  const file = path.join(projectRoot, 'node_modules/node-llama-cpp/llama/binariesGithubRelease.json');
  return JSON.parse(readFileSync(file, 'utf8')).release;
}

function node(...args: string[]): string {
  return execFileSync(process.execPath, args, { cwd: projectRoot, encoding: 'utf8' });
}

const writeJson = (file: string, value: object) => writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
