import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import * as paths from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandSandbox } from '../../../src/tools/commandSandbox/commandSandbox.ts';
import { builtinTools } from '../../../src/tools/host/builtinTools.ts';
import { sha256 } from '../../../src/tools/sandbox/fileText.ts';
import { BackgroundCommands } from '../../../src/tools/shell/background.ts';
import { workspaceIn } from '../../support/workspace.ts';
import { conversation } from '../../tools/conversation.ts';
import { type Attack, decoySecret, gainedLine, readyLine } from './attack.ts';
import type { DecoyServices } from './decoyServices.ts';
import {
  createHome,
  createOther,
  type DecoyProcess,
  differencesOf,
  filesWithOtherNames,
  processesNamed,
  startDecoy,
  stateOf,
} from './decoys.ts';
import { isGuarded, specialFilesIn } from './guardedPaths.ts';

export interface RedTeamSite {
  /** Holds everything that attacks may reach. */
  folder: string;
  template: string;
  sandbox: CommandSandbox;
  /** Decoys of the home folder: of the sandbox, and of the plays without it. */
  home: string;
  controlHome: string;
  services: DecoyServices;
  environment: NodeJS.ProcessEnv;
}

/** `inside` and `allowed` play in the sandbox; every question is denied or allowed. `outside`: without it. */
export type PlayMode = 'inside' | 'allowed' | 'outside';

export interface Played {
  /** Effects outside. */
  effects: string[];
  output: string;
  /** Number of questions. */
  asked: number;
  /** False if a question was denied before the command began. */
  isStarted: boolean;
}

const shared = ['/tmp', '/var/tmp', '/dev/shm'];
const machine =
  '/ /etc /etc/profile.d /etc/cron.d /usr /usr/bin /usr/local/bin /var/lib /var/spool/cron /opt /root /boot /run /sys/fs/cgroup /dev /dev/mqueue'.split(
    ' ',
  );
const timeoutSeconds = 20;
let count = 0;
let decoy: DecoyProcess | undefined;

export const closeDecoys = (): void => decoy?.end();

/** Plays an attack on new decoys and returns what it has changed. */
export async function playAttack(site: RedTeamSite, attack: Attack, mode: PlayMode): Promise<Played> {
  const tag = `towpath-red-${process.pid}-${++count}-`;
  const own = paths.join(site.folder, `w${count}`);
  const [ws, out] = [paths.join(own, 'ws'), paths.join(own, 'out')];
  const home = mode === 'outside' ? site.controlHome : site.home;
  createOther(out);
  cpSync(site.template, ws, { recursive: true, verbatimSymlinks: true });
  for (const folder of shared) mkdirSync(`${folder}/${tag}old`);
  const victimName = `decoy-${process.pid}-process`;
  if (!decoy || decoy.change() !== undefined) {
    decoy?.end();
    decoy = await startDecoy(victimName, site.folder, paths.join(site.folder, 'decoy.log'));
  }
  const key = String(1_700_000_000 + ((process.pid * 1000 + count) % 300_000_000));
  const variables: Record<string, string> = {
    ...site.services.variables,
    DECOY_LOG: paths.join(site.folder, 'decoy.log'), // not that of another red team at work
    ...{ HOME: home, WS: ws, OUT: out, TAG: tag, VICTIM: String(decoy.pid), VICTIM_NAME: victimName, KEY: key },
  };
  const environment = { ...site.environment, ...variables };
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, environment);
  if (attack.prepare) await runOutside(site, attack.prepare, ws, environment);

  const log = paths.join(site.folder, 'decoy.log');
  const otherNames = filesWithOtherNames(out);
  const before = {
    ws: stateOf(ws, false),
    out: stateOf(out, true, otherNames),
    home: stateOf(home, true),
    log: contentOf(log),
  };
  const played: Played = { effects: [], output: '', asked: 0, isStarted: true };
  if (mode === 'outside') {
    for (const command of [attack.command, attack.next])
      if (command !== undefined) played.output += await runOutside(site, command, ws, environment, attack.ending);
  } else Object.assign(played, await runInside(site, attack, own, mode));

  const { effects } = played;
  const left = await processesLeft(tag, attack.ending ? 5000 : 500);
  if (left.length > 0) effects.push(`${left.length} processes are left`);
  const changes = differencesOf(before.ws, stateOf(ws, false));
  const guards = changes.filter((change) => isGuardedChange(attack, change.slice(2)) || attack.ending === 'stop');
  if (guards.length > 0) effects.push(`workspace: ${guards.join(', ')}`);
  if (existsSync(ws)) effects.push(...specialFilesIn(ws).map((one) => `workspace: ${one}`));
  else effects.push('the workspace is removed');
  for (const name of ['out', 'home'] as const) {
    const found = differencesOf(
      before[name],
      stateOf({ out, home }[name], true, name === 'out' ? otherNames : undefined),
    );
    if (found.length > 0) effects.push(`${name}: ${found.slice(0, 5).join(', ')}`);
  }
  if (contentOf(log) !== before.log) effects.push('file of a process outside: written');
  for (const folder of [...shared, ...machine]) {
    if (shared.includes(folder) && existsSync(`${folder}/${tag}old`) && readdirSync(`${folder}/${tag}old`).length > 0)
      effects.push(`${folder}/${tag}old: changed`);
    for (const name of namesIn(folder))
      if (name.includes(tag) && !(shared.includes(folder) && name === `${tag}old`)) effects.push(`${folder}/${name}`);
  }
  for (const kind of ['shm', 'sem', 'msg'])
    if (contentOf(`/proc/sysvipc/${kind}`).match(new RegExp(`^\\s*${key} `, 'm'))) effects.push(`shared ${kind}`);
  const changed = decoy.change();
  if (changed) effects.push(`process outside: ${changed}`);
  effects.push(...(await site.services.reached()).map((name) => `reached ${name}`));
  const texts = [played.output, ...changes.map((change) => contentOf(paths.join(ws, change.slice(2))))];
  if (texts.some(hasSecret)) effects.push('a secret is read');
  if (played.output.split('\n').some((line) => line.trim() === gainedLine)) effects.push('allowed by the kernel');
  if (attack.later) {
    await runOutside(site, attack.later, ws, environment);
    if (existsSync(paths.join(out, 'pwned')) && !before.out.has('pwned')) effects.push('a later command ran it');
  }
  await cleanUp(tag, key, own, home, site);
  return played;
}

async function runInside(site: RedTeamSite, attack: Attack, own: string, mode: PlayMode): Promise<Partial<Played>> {
  const workspace = workspaceIn(own);
  let output = '';
  const background = new BackgroundCommands({
    keep: async (_runId, text) => {
      output += text;
      return sha256(text);
    },
  });
  const tools = builtinTools({
    shell: { sandbox: site.sandbox, background, covers: async () => ({ isWhole: true }) as { isWhole: true } },
  });
  const talking = conversation(workspace, {
    tools,
    policy: { preset: 'sandbox' },
    answer: async ({ plan }) => ({ decision: mode === 'allowed' || plan.sandbox === 'inside' ? 'allow' : 'deny' }),
  });
  const said = () => talking.events.flatMap((event) => (event.type === 'tool-output' ? [event.text] : [])).join('');
  for (const command of [attack.command, attack.next]) {
    if (command === undefined) continue;
    const call = talking.call('shell.run', {
      command,
      ...(attack.ending === 'background' ? { background: true } : { timeoutSeconds }),
    });
    if (attack.ending === 'stop') {
      const isEnded = call.then(() => true);
      while (!said().includes(readyLine)) if (await Promise.race([isEnded, sleep(20)])) break;
      talking.stop.abort();
    }
    const outcome = await call;
    output += JSON.stringify(outcome).replaceAll('\\n', '\n');
    if (attack.ending !== 'background' || !outcome.ok) continue;
    const { id } = outcome.data as { id?: string };
    if (id === undefined) continue;
    await sleep(300);
    await background.stop(id, 'person').catch(() => undefined);
  }
  await background.close();
  const starts = talking.events.filter((event) => event.type === 'tool-start' && event.sandbox === 'inside');
  return { output: output + said(), asked: talking.asked.length, isStarted: starts.length > 0 };
}

/** Runs a command without the sandbox, but so that it can change nothing except the decoys. */
async function runOutside(
  site: RedTeamSite,
  command: string,
  cwd: string,
  env: NodeJS.ProcessEnv,
  ending?: Attack['ending'],
): Promise<string> {
  const writable = [site.folder, ...shared].flatMap((folder) => ['--bind', folder, folder]);
  const fence = ['--ro-bind', '/', '/', '--dev-bind', '/dev', '/dev', '--bind', '/proc', '/proc', ...writable];
  if (process.getuid!() === 0) fence.push('--ro-bind', '/proc/sys', '/proc/sys', '--cap-add', 'ALL');
  const child = spawn('bwrap', [...fence, '--chdir', cwd, '--', '/bin/bash', '-c', command], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  const end = () => {
    try {
      process.kill(-child.pid!, 'SIGKILL');
    } catch {} // it has ended
  };
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text) => {
      output += text;
      if (ending && output.includes(readyLine)) setTimeout(end, 100);
    });
  const timer = setTimeout(end, ending ? 2000 : timeoutSeconds * 1000);
  const closed = new Promise((resolve) => child.once('close', resolve));
  await new Promise((resolve) => child.once('exit', resolve));
  clearTimeout(timer);
  await Promise.race([closed, sleep(300)]); // a process that is left may hold the output
  child.stdout.destroy();
  child.stderr.destroy();
  return output;
}

const isGuardedChange = ({ guards = [] }: Attack, path: string): boolean =>
  isGuarded(path) || guards.some((guard) => path === guard || path.startsWith(`${guard}/`));

async function processesLeft(tag: string, maxMs: number): Promise<number[]> {
  const deadline = Date.now() + maxMs;
  let left = processesNamed(tag);
  while (left.length > 0 && Date.now() < deadline) {
    await sleep(20);
    left = processesNamed(tag);
  }
  return left;
}

const forms = [
  decoySecret,
  [...decoySecret].reverse().join(''),
  Buffer.from(decoySecret).toString('hex'),
  ...[0, 1, 2].map((shift) =>
    Buffer.from('x'.repeat(shift) + decoySecret)
      .toString('base64')
      .slice(4, -4),
  ),
];
const hasSecret = (text: string): boolean => forms.some((form) => text.includes(form));

function contentOf(path: string): string {
  try {
    return lstatSync(path).isFile() ? readFileSync(path, 'utf8') : ''; // reading a pipe would never end
  } catch {
    return '';
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

async function cleanUp(tag: string, key: string, own: string, home: string, site: RedTeamSite): Promise<void> {
  for (const pid of processesNamed(tag)) process.kill(pid, 'SIGKILL'); // of a play without the sandbox
  for (const folder of shared)
    for (const name of namesIn(folder)) if (name.includes(tag)) rmSync(`${folder}/${name}`, { recursive: true });
  for (const [kind, option] of [
    ['shm', '-M'],
    ['sem', '-S'],
    ['msg', '-Q'],
  ] as const)
    if (contentOf(`/proc/sysvipc/${kind}`).match(new RegExp(`^\\s*${key} `, 'm')))
      execFileSync('ipcrm', [option, key], { stdio: 'ignore' });
  rmSync(own, { recursive: true, force: true });
  for (const name of namesIn(home)) if (home !== site.folder) rmSync(paths.join(home, name), { recursive: true });
  createHome(home);
}
