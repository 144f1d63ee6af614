/**
 * Starts public servers through the product's own server class and calls what needs no network. Not part of `npm test`: it installs the
 * servers from npm and PyPI. Usage: `npx tsx test/tools/mcp/publicServers/run.ts <folder> [name …]`; the folder keeps what is installed.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Tool } from '../../../../src/tools/core/tool.ts';
import { closeAll, talk } from '../talk.ts';
import { npmServers, type PublicServer, pythonServers } from './list.ts';
import { minimalArguments } from './minimalArguments.ts';

const [folder = '', ...names] = process.argv.slice(2);
const run = (program: string, args: readonly string[], cwd = folder) =>
  execFileSync(program, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });

function installNpm(): void {
  if (!existsSync(path.join(folder, 'package.json'))) run('npm', ['init', '-y']);
  const missing = npmServers.filter(({ program }) => !existsSync(path.join(folder, 'node_modules', program)));
  const flags = ['install', '--ignore-scripts', '--no-audit', '--no-fund'];
  if (missing.length > 0) run('npm', [...flags, ...missing.map((server) => server.package)]);
}

const scriptsOf = ({ sdk }: PublicServer) => path.join(folder, sdk ? 'venv-old' : 'venv', 'bin');

function installPython(): void {
  for (const server of pythonServers) {
    const scripts = scriptsOf(server);
    if (!existsSync(scripts)) run('python3', ['-m', 'venv', path.dirname(scripts)]);
    if (existsSync(path.join(scripts, server.program))) continue;
    run(path.join(scripts, 'pip'), ['install', '-q', ...(server.sdk ? [server.sdk] : []), server.package]);
  }
}

const filled = <Value>(value: Value, root: string): Value =>
  JSON.parse(JSON.stringify(value).replaceAll('{folder}', root.replaceAll('\\', '/')));

interface Outcome {
  tools: number;
  leftOut: number;
  called: number;
  problems: string[];
}

async function examine(server: PublicServer, isPython: boolean): Promise<Outcome> {
  const t = await talk({});
  const { root } = t.workspace;
  writeFileSync(path.join(root, 'b.js'), 'let unused = 1\n');
  writeFileSync(path.join(root, 'eslint.config.mjs'), 'export default [];\n');
  for (const args of [
    ['init', '-q'],
    ['add', '.'],
    ['-c', 'user.name=a', '-c', 'user.email=a@b.example', 'commit', '-qm', 'x'],
  ])
    run('git', args, root);
  const program = isPython
    ? { command: path.join(scriptsOf(server), server.program), args: [...(server.args ?? [])] }
    : { command: process.execPath, args: [path.join(folder, 'node_modules', server.program), ...(server.args ?? [])] };
  t.configure({ servers: { s: filled({ ...program, env: server.env ?? {} }, root) } });
  t.limits = { startMs: 60_000, callMs: 60_000 };
  await t.prepare();
  const { state, tools, leftOut } = t.server('s');
  const outcome: Outcome = { tools: tools.length, leftOut: leftOut.length, called: 0, problems: [] };
  if (state.phase === 'failed') outcome.problems.push(state.problem);
  for (const { names, kind } of leftOut) outcome.problems.push(`left out of its ${kind}: ${names.join(', ')}`);
  for (const tool of t.servers.tools()) refuseMinimal(tool, outcome);
  for (const [tool, args] of filled(server.calls, root)) {
    const result = await t.call(`mcp.s.${tool}`, args);
    outcome.called += 1;
    if (!result.ok) outcome.problems.push(`${tool}: ${result.error.message}`);
  }
  await closeAll();
  return outcome;
}

/** The least that a schema asks for is accepted by its check. */
function refuseMinimal(tool: Tool, outcome: Outcome): void {
  if (!tool.schema || !tool.arguments) return;
  const checked = tool.arguments.safeParse(minimalArguments(tool.schema));
  if (!checked.success) outcome.problems.push(`${tool.definition.name} refuses: ${checked.error.issues[0]?.message}`);
}

async function main(): Promise<void> {
  if (folder === '') throw new Error('Name a folder for the servers.');
  mkdirSync(folder, { recursive: true });
  installNpm();
  installPython();
  let failed = 0;
  for (const server of [...npmServers, ...pythonServers]) {
    if (names.length > 0 && !names.includes(server.name)) continue;
    const { tools, called, problems } = await examine(server, pythonServers.includes(server));
    if (problems.length > 0) failed += 1;
    console.log(`${problems.length > 0 ? '✗' : '✓'} ${server.package}: ${tools} tools, ${called} calls`);
    for (const problem of problems) console.log(`    ${problem.slice(0, 400)}`);
  }
  console.log(`${npmServers.length + pythonServers.length} servers, ${failed} with a problem.`);
  process.exit(failed > 0 ? 1 : 0);
}

void main();
