import { homedir } from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { openPromise } from 'yauzl';
import { enginePackageByPlatform } from '../llm/local/engineInstall/missingEngine.ts';
import { type BuildTarget, maxPackageBytes, projectRoot } from './targets.ts';
import type { Vsix } from './vsix.ts';

/** Allowed files of a package: the installer's files, our files by folder, and the engine's closure. */
const ours = [
  /^\[Content_Types\]\.xml$/,
  /^extension\.vsixmanifest$/,
  /^extension\/(package\.json|package\.nls(\.[a-z]+)?\.json|readme\.md|changelog\.md|LICENSE\.txt|ThirdPartyNotices\.txt|sbom\.cdx\.json)$/,
  /^extension\/dist\/([\w-]+\.(cjs|mjs|js|css)|target\.json|demo\.gguf)$/,
  /^extension\/dist\/(parser|chunks|schemas)\/[\w.-]+\.(js|cjs|mjs|json)$/,
  /^extension\/src\/l10n\/bundle\.l10n\.[a-z]+\.json$/,
  /^extension\/src\/help\/[\w-]+\.md$/,
  /^extension\/src\/workflows\/templates\/[\w-]+\.yaml$/,
  /^extension\/webview\/icon\.(png|svg)$/,
];
const closure = [
  /^extension\/dist\/node_modules\/.+\.(js|cjs|mjs|json)$/,
  /^extension\/dist\/node_modules\/.+\/(LICEN[CS]E|COPYING|NOTICE)[\w.-]*$/i,
];

export async function readVsixContents(file: string): Promise<Map<string, Buffer>> {
  const zip = await openPromise(file);
  const contents = new Map<string, Buffer>();
  for await (const entry of zip.eachEntry())
    contents.set(entry.fileName, await buffer(await zip.openReadStreamPromise(entry)));
  return contents;
}

/** Returns a message for each content that must not be published. */
export function vsixProblems({ target, bytes }: Vsix, contents: Map<string, Buffer>): string[] {
  const names = [...contents.keys()];
  const strange = names.filter((name) => !isAllowed(name, target)).map((name) => `${name} is not on the list.`);
  const twice = names.filter((name, index) => names.findIndex((one) => same(one, name)) !== index);
  const paths = [projectRoot, homedir(), process.cwd()].filter((one) => one !== path.parse(one).root);
  const traces = [...contents].flatMap(([name, content]) =>
    paths.filter((one) => containsPath(content, one)).map((one) => `${name} tells of the builder's ${one}.`),
  );
  const size =
    bytes > maxPackageBytes(target) ? [`It has ${bytes} bytes, and ${maxPackageBytes(target)} are allowed.`] : [];
  const engine = target === 'universal' ? [] : missingOf(enginePackageByPlatform[target], names);
  return [...strange, ...twice.map((name) => `${name} is in it twice.`), ...traces, ...size, ...engine];
}

function isAllowed(name: string, target: BuildTarget): boolean {
  if (ours.some((rule) => rule.test(name))) return true;
  if (target === 'universal') return false;
  const bins = `extension/dist/node_modules/@node-llama-cpp/${enginePackageByPlatform[target]}/bins/${enginePackageByPlatform[target]}/`;
  return name.startsWith(bins) ? !name.slice(bins.length).includes('..') : closure.some((rule) => rule.test(name));
}

const same = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

const missingOf = (engine: string, names: string[]) =>
  [`@node-llama-cpp/${engine}/bins/${engine}/llama-addon.node`, 'node-llama-cpp/dist/index.js']
    .map((name) => `extension/dist/node_modules/${name}`)
    .filter((name) => !names.includes(name))
    .map((name) => `${name} is missing.`);

/** Returns true if the content contains the folder, also in the escaped forms of JSON or JavaScript on Windows. */
function containsPath(content: Buffer, folder: string): boolean {
  const spelled = [folder, folder.replaceAll('\\', '\\\\'), folder.replaceAll('\\', '/')];
  return spelled.some((one) => content.includes(`${one}/`) || content.includes(`${one}\\`));
}
