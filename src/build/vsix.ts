import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { type BuildOutput, stageVsixContents, vsceScriptPath } from './stage.ts';
import { type BuildTarget, projectRoot } from './targets.ts';

export interface Vsix {
  target: BuildTarget;
  file: string;
  bytes: number;
  sha256: string;
}

/** Builds a platform's package in `into`. The output is deterministic. */
export function packVsix(target: BuildTarget, built: BuildOutput, into: string): Vsix {
  const folder = path.join(built.folder, `stage-${target}`);
  mkdirSync(folder);
  mkdirSync(into, { recursive: true });
  stageVsixContents(target, built, folder);
  const { name, version } = JSON.parse(readFileSync(path.join(projectRoot, 'package.json'), 'utf8'));
  const file = path.join(into, `${name}-${version}-${target}.vsix`);
  const platform = target === 'universal' ? [] : ['--target', target];
  // the repository is chosen by the owner
  const options = ['--no-dependencies', '--allow-missing-repository', '--out', file, ...platform];
  execFileSync(process.execPath, [vsceScriptPath, 'package', ...options], {
    cwd: folder,
    env: { ...process.env, SOURCE_DATE_EPOCH: earliest, TZ: 'UTC', LC_ALL: 'C' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  rmSync(folder, { recursive: true });
  const sha256 = createHash('sha256').update(readFileSync(file)).digest('hex');
  return { target, file, bytes: statSync(file).size, sha256 };
}

/** Earliest zip timestamp (1980), in seconds. */
const earliest = '315532800';
