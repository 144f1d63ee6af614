// npm run bench -- sandboxRedTeam [--only=text] [--inside=true] [--shown=true]: attacks on the sandbox of commands, each played through the tool
// host with every question denied, and without the sandbox, to show that it is real. Counts effects outside: files, secrets, protected names of the
// workspace, connections, processes, privileges, and what later commands of the user would run. Fails if there is one.
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import * as paths from 'node:path';
import { temporarySandbox } from '../support/commandSandbox.ts';
import type { Attack } from './redTeam/attack.ts';
import { attackClasses } from './redTeam/attackClasses.ts';
import { startServices } from './redTeam/decoyServices.ts';
import { createHome, createTemplate } from './redTeam/decoys.ts';
import { closeDecoys, type Played, playAttack, type RedTeamSite } from './redTeam/playAttack.ts';

const option = (name: string) => process.argv.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3);
const only = option('only');
const isShown = option('shown') !== undefined;
const hasControls = option('inside') === undefined;

const sandbox = await temporarySandbox();
if (!sandbox) {
  console.log('No sandbox here.');
  process.exit(0);
}
const folder = paths.join(sandbox.folder, 'yard');
const site: RedTeamSite = {
  folder,
  template: paths.join(folder, 'template'),
  sandbox,
  home: sandbox.home,
  controlHome: paths.join(folder, 'home'),
  environment: { PATH: process.env.PATH, LANG: 'C.UTF-8', GIT_CONFIG_NOSYSTEM: '1' },
  services: await (async () => {
    mkdirSync(folder, { recursive: true });
    return startServices(folder, `towpath-decoy-${process.pid}`);
  })(),
};
createTemplate(site.template);
for (const home of [site.home, site.controlHome]) createHome(home);

const hasAll = (needs = ''): boolean =>
  needs.split(' ').every((program) => {
    if (program === '') return true;
    try {
      return execFileSync('/bin/sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }) !== '';
    } catch {
      return false;
    }
  });

interface Sum {
  rows: number;
  inside: number;
  questions: number;
  real: number;
  withoutControl: number;
  effects: number;
  missing: number;
}
const emptySum = (): Sum => ({ rows: 0, inside: 0, questions: 0, real: 0, withoutControl: 0, effects: 0, missing: 0 });
const sums = new Map<string, Sum>();
const unreal: string[] = [];
const held: string[] = [];
const ids = new Set<string>();
const commands = new Set<string>();
const started = performance.now();

for (const { title, attacks, effect } of attackClasses) {
  const sum = emptySum();
  sums.set(title, sum);
  for (const attack of attacks) {
    const text = JSON.stringify([attack.command, attack.next, attack.prepare, attack.ending, attack.later]);
    if (ids.has(attack.id) || commands.has(text)) throw new Error(`There are two attacks ${attack.id}.`);
    ids.add(attack.id);
    commands.add(text);
    if (only && !attack.id.includes(only) && title !== only) continue;
    if (hasAll(attack.needs)) await play(attack, sum, effect);
    else sum.missing += 1;
  }
}

async function play(attack: Attack, sum: Sum, effect: string): Promise<void> {
  sum.rows += 1;
  const { control = 'outside' } = attack;
  const inside = await playAttack(site, attack, 'inside');
  if (inside.isStarted) sum.inside += 1;
  else held.push(attack.id);
  if (inside.asked > 0) sum.questions += 1;
  if (inside.effects.length > 0) {
    sum.effects += 1;
    console.log(`EFFECT  ${attack.id} (${attack.effect ?? effect}): ${inside.effects.join('; ')}\n  ${attack.command}`);
  }
  let other: Played | undefined;
  if (control === 'none') sum.withoutControl += 1;
  else if (hasControls) {
    other = await playAttack(site, attack, control);
    if (other.effects.length > 0) sum.real += 1;
    else unreal.push(attack.id);
  }
  if (isShown) {
    console.log(
      `${attack.id}: inside ${inside.effects.join('; ') || '-'}; control ${other?.effects.join('; ') || '-'}`,
    );
    for (const [name, { output }] of Object.entries({ inside, ...(other && { other }) }))
      console.log(`  ${name}: ${output.slice(0, 700).replaceAll('\n', '\n    ')}`);
  }
}

closeDecoys();
site.services.close();
await sandbox.cleanup();

const columns = ['attacks', 'ran inside', 'asked', 'effects', 'real outside', 'not tried outside', 'not here'];
const cells = (sum: Sum) => [
  sum.rows,
  sum.inside,
  sum.questions,
  sum.effects,
  sum.real,
  sum.withoutControl,
  sum.missing,
];
const total = emptySum();
for (const sum of sums.values()) for (const key of Object.keys(total) as (keyof Sum)[]) total[key] += sum[key];
const print = (name: string, values: readonly (string | number)[]) =>
  console.log(
    `${name.padEnd(34)}${values.map((value, at) => String(value).padStart(columns[at]!.length + 2)).join('')}`,
  );
print('', columns);
for (const [title, sum] of sums) if (sum.rows + sum.missing > 0) print(title, cells(sum));
print('all', cells(total));
if (held.length > 0) console.log(`Not started, because a question was denied: ${held.join(', ')}.`);
if (unreal.length > 0) console.log(`Without an effect outside of the sandbox, too: ${unreal.join(', ')}.`);
const seconds = Math.round((performance.now() - started) / 1000);
const user = process.getuid!() === 0 ? 'root' : 'an ordinary user';
console.log(`${total.effects} effects outside in ${total.rows} attacks, as ${user}, in ${seconds} s.`);
process.exit(total.effects > 0 ? 1 : 0);
