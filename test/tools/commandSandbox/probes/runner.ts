// Runs probes as the user that started it. Arguments: a folder for everything, the path of the forwarder, the
// path of a program that runs as root, and `availability` to test only if commands can be confined. Reads names of probes, one JSON object a line, and answers each with a line.

import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import * as paths from 'node:path';
import { createInterface } from 'node:readline';
import type { CommandLimits } from '../../../../src/tools/commandSandbox/commandLimits.ts';
import type { SandboxedCommand, SandboxedProcess } from '../../../../src/tools/commandSandbox/commandSandbox.ts';
import { createLinuxSandbox } from '../../../../src/tools/commandSandbox/linux/linuxSandbox.ts';
import { createHome } from './homeFolder.ts';
import type { Probe, ProbeWorld } from './probe.ts';
import { probeGroups } from './probeGroups.ts';
import { createWorld, type ProbeSite, processesWith } from './world.ts';

const [folder = '', forwarder = '', rooted = '', mode] = process.argv.slice(2);

function createSite(name: string, isControl: boolean): ProbeSite {
  const own = paths.join(folder, name);
  const site = {
    folder: own,
    template: paths.join(own, 'template'),
    home: paths.join(own, 'home'),
    store: paths.join(own, 'store'),
    journals: paths.join(own, 'journals'),
    isControl,
  };
  for (const one of [site.template, site.home, site.journals]) mkdirSync(one, { recursive: true });
  createHome(site);
  return site;
}

// Short enough to notice a hanging probe, and longer than any needs.
const patience = 60_000;
// Nothing of the environment of the tests: it may name proxies and hold secrets.
const environment = { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', LANG: 'C.UTF-8', GIT_CONFIG_NOSYSTEM: '1' };
for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
Object.assign(process.env, environment, { ROOTED: rooted });

const site = createSite(mode ?? 'site', false);
const createSandbox = (limits?: Partial<CommandLimits>) =>
  createLinuxSandbox({
    ...{ store: site.store, forwarder, home: site.home, hidden: [site.journals], limits },
    folders: async () => [site.template],
  });
const sandbox = createSandbox();

interface ProbeAnswer {
  /** What has happened outside. */
  effect?: string;
  /** Why the probe could not run. */
  pending?: string;
  problem?: string;
  output?: string;
}

if (mode === 'availability') {
  const available = await sandbox.availability();
  const marker = paths.join(site.template, 'ran');
  const begun = await sandbox
    .begin({
      runId: 'probe',
      folder: site.template,
      folders: [site.template],
      questions: { mayConnect: async () => true, mayKeep: async () => true },
    })
    .then(async (command) => {
      await runCommand(command, createWorld(site).world, {} as Probe, `touch ${marker}`);
      return 'begun';
    })
    .catch((error: Error) => error.message);
  process.stdout.write(`${JSON.stringify({ ...available, begun })}\n`);
  await sandbox.close();
  process.exit();
}

let control: ProbeSite | undefined;
for await (const line of createInterface({ input: process.stdin })) {
  const { group, name, isControl } = JSON.parse(line) as { group: string; name: string; isControl: boolean };
  const probe = probeGroups.find(({ title }) => title === group)!.probes.find((one) => one.name === name)!;
  const answer = await runProbe(probe, isControl).catch(
    (error: Error): ProbeAnswer => ({ problem: error.stack ?? String(error) }),
  );
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await sandbox.close();
process.exit();

async function runProbe(probe: Probe, isControl: boolean): Promise<ProbeAnswer> {
  const isRoot = process.getuid!() === 0;
  if (probe.user && (probe.user === 'root') !== isRoot) return { pending: `not as ${isRoot ? 'root' : 'this user'}` };
  if (isControl && probe.controlAs && !isRoot) return { pending: 'only as root' };
  for (const program of probe.needs ?? []) if (!isInstalled(program)) return { pending: `without ${program}` };
  const isOutside = isControl && probe.control === 'outside';
  if (isOutside) control ??= createSite('control', true);
  const { world, start, finish, close } = createWorld(isOutside ? control! : site);
  try {
    await probe.prepare?.(world);
    start();
    for (const script of [probe.script, probe.next].filter((one) => one !== undefined))
      await (isOutside ? runOutside(world, probe, script) : runInside(world, probe, script, isControl));
    await finish();
    const effect = await probe.effect(world);
    const isOver = probe.ending === 'stop' || probe.ending === 'limit' || world.output.includes('::end');
    return {
      ...(effect !== undefined && { effect }),
      ...(!isOver && { problem: 'The script did not reach its end.' }),
      output: world.output,
    };
  } finally {
    await close();
  }
}

function isInstalled(program: string): boolean {
  try {
    execFileSync('/bin/sh', ['-c', `command -v ${program}`]);
    return true;
  } catch {
    return false;
  }
}

async function runInside(world: ProbeWorld, probe: Probe, script: string, isAllowed: boolean): Promise<void> {
  const limits = typeof probe.limits === 'function' ? probe.limits(world) : probe.limits;
  const used = limits ? createSandbox(limits) : sandbox;
  if (limits) world.cleanUp(() => used.close());
  const command = await used.begin({
    runId: 'probe',
    folder: world.ws,
    folders: [world.ws],
    questions: {
      async mayConnect(target) {
        world.asked.push(`${target.host}:${target.port}`);
        return isAllowed || (probe.mayConnect?.(target, world) ?? false);
      },
      async mayKeep(changes) {
        world.protectedPaths.push(...changes.map(({ path }) => path));
        return isAllowed;
      },
    },
  });
  const { output } = await runCommand(command, world, probe, script);
  world.exceeded = await command.exceededLimit();
  if (probe.ending === 'stop' || world.exceeded) await command.discard();
  else if (probe.ending !== 'forget')
    world.report = await command.keep().catch((error: Error) => {
      if (!probe.mayFail) throw error;
      return undefined;
    });
  await output;
}

async function runCommand(
  command: SandboxedCommand,
  world: ProbeWorld,
  probe: Probe,
  script: string,
): Promise<{ output: Promise<unknown> }> {
  const argv = ['/bin/bash', '--norc', '-c', `${script}\necho ::end`];
  const env = variablesOf(world, command.environment);
  return watchProgram(command.spawn(argv, env), world, probe, env.GO!);
}

async function runOutside(world: ProbeWorld, probe: Probe, script: string): Promise<void> {
  const argv = ['--norc', '-c', `${script}\necho ::end`];
  const env = variablesOf(world, {});
  const child = spawn('/bin/bash', argv, {
    cwd: world.ws,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  await (await watchProgram(child, world, probe, env.GO!)).output;
}

/** The script waits for the file `GO` after `::ready`. */
function variablesOf(world: ProbeWorld, added: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const go = paths.join(added.XDG_CACHE_HOME ?? folder, `go-${world.tag}`);
  return { ...environment, ...added, ...world.variables, GO: go };
}

/** Resolves when the program has ended, as the product waits; `output` when all of it has come. Its group is killed on a stop. */
async function watchProgram(
  child: SandboxedProcess,
  world: ProbeWorld,
  probe: Probe,
  go: string,
): Promise<{ output: Promise<unknown> }> {
  const end = () => {
    try {
      process.kill(-child.pid!, 'SIGKILL');
    } catch {} // it has ended
  };
  const timer = setTimeout(end, patience);
  let isReady = false;
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', async (chunk) => {
      world.output += chunk;
      if (isReady || !world.output.includes('::ready')) return;
      isReady = true;
      try {
        await probe.during?.(world);
      } catch (error) {
        world.output += String(error);
        return end();
      }
      if (probe.ending === 'stop') end();
      else writeFileSync(go, '');
    });
  const closed = Promise.all(
    [child.stdout, child.stderr].map((stream) => new Promise((resolve) => stream.once('close', resolve))),
  );
  await new Promise<void>((resolve, reject) =>
    child
      .once('exit', () => {
        world.leftAtEnd = processesWith(world.tag);
        resolve();
      })
      .once('error', reject),
  );
  clearTimeout(timer);
  world.exitCode = child.exitCode;
  // A process left behind holds the output.
  const output = Promise.race([
    closed,
    new Promise((resolve) => setTimeout(resolve, world.isControl ? 100 : 2000).unref()),
  ]);
  return { output };
}
