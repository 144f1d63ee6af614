import { spawnSync } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { mkdirSync, realpathSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import * as paths from 'node:path';
import type { CommandSandbox, SandboxReport } from '../../../src/tools/commandSandbox/commandSandbox.ts';
import { deniedPaths } from '../../../src/tools/commandSandbox/deniedPaths.ts';
import { programForOutside } from '../../../src/tools/commands/unsandboxedPrograms.ts';
import { gitSafetySettings } from '../../../src/tools/shell/bareRepositories.ts';
import { commandEnvironment } from '../../../src/tools/shell/environment.ts';
import { runSandboxed } from '../../support/commandSandbox.ts';
import type { ToolchainRow } from './row.ts';
import { writeFiles } from './writeFiles.ts';

interface PlayedRow {
  first: string;
  second: string;
  /** Hosts and protected names. */
  asked: string[];
  verdict: string;
  problems: string[];
}

interface Run {
  code: number | null;
  seconds: number;
  output: string;
  report?: SandboxReport;
}

const registries =
  /^(registry\.(npmjs\.org|yarnpkg\.com)|pypi\.org|files\.pythonhosted\.org|(index|static)\.crates\.io|(proxy|sum)\.golang\.org|repo\.maven\.apache\.org|repo1\.maven\.org|deb\.debian\.org)$/;
// The name of a test in rows whose programs refuse to run as root, or want rights that root has not in a user namespace.
const notRoot = 'test $(id -u) != 0';
const limitSeconds = 180;

/** Plays a row in a new folder. */
export async function playRow(
  sandbox: CommandSandbox,
  row: ToolchainRow,
  temporary: string,
  isCompared: boolean,
): Promise<PlayedRow> {
  const missing = (row.needs ?? []).filter((test) => !isThere(test));
  if (missing.length > 0)
    return {
      first: '–',
      second: '–',
      asked: [],
      verdict: `missing here (${missing.map((test) => (test === notRoot ? 'not as root' : test)).join(', ')})`,
      problems: [],
    };
  const folder = row.below ? paths.join(homedir(), row.below) : temporary;
  try {
    const asked = new Set<string>();
    const problems: string[] = [];
    const lines = [row.first, row.second ?? row.first];
    await createProject(row, folder);
    const runs: Run[] = [];
    for (const line of lines) {
      const run = await runInside(sandbox, line, realpathSync(folder), asked);
      runs.push(run);
      const { report } = run;
      for (const path of report?.discarded ?? []) problems.push(`not kept: ${path}`);
      for (const path of report?.conflicts ?? []) problems.push(`changed meanwhile: ${path}`);
      for (const path of report?.special ?? []) problems.push(`special file: ${path}`);
      if (run.code !== 0)
        problems.push(
          ...run.output.trimEnd().split('\n').slice(-12),
          ...deniedPaths(run.output, folder, report?.isWritable ?? (() => true)).map((path) => `denied: ${path}`),
        );
    }
    const isGood = runs.every(({ code }) => code === 0);
    const guess = lines.map(programForOutside).find((program) => program !== undefined);
    let verdict = isGood ? (asked.size === 0 ? 'works' : 'works after one answer') : 'FAILS';
    if (guess) verdict = `outside only (${guess} is recognized)`;
    else if (row.isOutside) verdict = isGood ? 'works, not expected' : 'outside only';
    else if (row.isSecondOutside && runs[0]!.code === 0)
      verdict = isGood ? 'works, not expected' : 'first: after one answer, then outside only';
    else if (!isGood && isCompared) {
      rmSync(folder, { recursive: true, force: true });
      await createProject(row, folder);
      const outside = [await runOutside(lines[0]!, folder), await runOutside(lines[1]!, folder)];
      if (outside.some(({ code }) => code !== 0))
        verdict = `fails outside too: ${outside.map(({ code }) => code).join(', ')}`;
    }
    const [first, second] = runs.map(
      ({ code, seconds }) => `${code === 0 ? 'ok' : `exit ${code}`} ${seconds.toFixed(1)} s`,
    );
    return { first: first!, second: second!, asked: [...asked], verdict, problems };
  } finally {
    if (row.below) rmSync(paths.join(homedir(), row.below.split('/')[0]!), { recursive: true, force: true });
  }
}

const isThere = (test: string): boolean =>
  spawnSync('/bin/sh', ['-c', test.includes(' ') ? test : `command -v ${test}`], { stdio: 'ignore' }).status === 0;

async function createProject(row: ToolchainRow, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  writeFiles(folder, row.files ?? {});
  if (!row.prepare) return;
  const { code, output } = await runOutside(row.prepare, folder);
  if (code !== 0) throw new Error(`${row.run}: could not be prepared: ${output.slice(-1000)}`);
}

const marker = 'toolchains';

async function runInside(sandbox: CommandSandbox, line: string, folder: string, asked: Set<string>): Promise<Run> {
  const registryAddresses = new Set<string>();
  const mayConnect = async ({ host, port }: { host: string; port: number }) => {
    // Where a registry has a private address, this is asked about, too.
    asked.add(registryAddresses.has(host) ? 'its address' : port === 443 ? host : `${host}:${port}`);
    if (!registries.test(host)) return registryAddresses.has(host);
    for (const { address } of await lookup(host, { all: true })) registryAddresses.add(address);
    return true;
  };
  const mayKeep = async (changes: readonly { path: string }[]) => {
    for (const { path } of changes) asked.add(`\`${path}\``);
    return true;
  };
  const questions = { mayConnect, mayKeep };
  const started = performance.now();
  const command = await sandbox.begin({ runId: folder, folder, folders: [folder], questions });
  const env = commandEnvironment(process.env, marker, await gitSafetySettings());
  const ended = await runSandboxed(command, line, env, limitSeconds).catch((error: Error) => {
    throw new Error(`${line}: ${error.message}`);
  });
  return { ...ended, seconds: (performance.now() - started) / 1000 };
}

async function runOutside(line: string, folder: string): Promise<Run> {
  const started = performance.now();
  const env = commandEnvironment(process.env, marker, await gitSafetySettings());
  const options = { cwd: folder, env, encoding: 'utf8', maxBuffer: 1 << 28, timeout: limitSeconds * 1000 } as const;
  const { status, stdout, stderr } = spawnSync('/bin/bash', ['-c', line], options);
  return { code: status, output: `${stdout}${stderr}`, seconds: (performance.now() - started) / 1000 };
}
