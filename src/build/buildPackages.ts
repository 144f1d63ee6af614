// npm run package [-- target … --twice --list]: builds a VSIX per platform into dist/packages; all platforms by default.
// --twice builds everything again and compares the packages byte by byte
// --list prints the contents of each package
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { readVsixContents, vsixProblems } from './check.ts';
import { buildAllBundles } from './stage.ts';
import { type BuildTarget, buildTargets, createTemporaryBuildFolder, maxPackageBytes, projectRoot } from './targets.ts';
import { packVsix, type Vsix } from './vsix.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { twice: { type: 'boolean', default: false }, list: { type: 'boolean', default: false } },
});
const unknown = positionals.filter((name) => !buildTargets.includes(name as BuildTarget));
if (unknown.length > 0) {
  console.error(`There is no platform ${unknown.join(', ')}. Platforms: ${buildTargets.join(', ')}.`);
  process.exit(2);
}
const asked = positionals.length > 0 ? (positionals as BuildTarget[]) : buildTargets;
const into = path.join(projectRoot, 'dist', 'packages');
let troubled = false;

const first = await pack(into);
if (values.twice) {
  const again = createTemporaryBuildFolder();
  try {
    const second = await pack(again);
    for (const [index, one] of first.entries())
      if (second[index]!.sha256 !== one.sha256) warn(`${one.target}: built again, it is another package.`);
  } finally {
    rmSync(again, { recursive: true });
  }
}
for (const one of first) {
  const contents = await readVsixContents(one.file);
  for (const trouble of vsixProblems(one, contents)) warn(`${one.target}: ${trouble}`);
  const size = `${inMegabytes(one.bytes).padStart(5)} of ${maxPackageBytes(one.target) / 1e6} MB`;
  console.log(`${one.target.padEnd(13)} ${size}  ${String(contents.size).padStart(4)} files  ${one.sha256}`);
  if (values.list) console.log([...contents].map(([name, { length }]) => `  ${length}\t${name}`).join('\n'));
}
console.log(`In ${path.relative(projectRoot, into)}${values.twice ? ', built twice with the same bytes' : ''}.`);
process.exitCode = troubled ? 1 : 0;

async function pack(folder: string): Promise<Vsix[]> {
  const work = createTemporaryBuildFolder();
  try {
    mkdirSync(folder, { recursive: true });
    const built = await buildAllBundles(work);
    return asked.map((target) => packVsix(target, built, folder));
  } finally {
    rmSync(work, { recursive: true });
  }
}

function warn(trouble: string): void {
  troubled = true;
  console.error(trouble);
}

function inMegabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
