// What an MCP server costs the process that uses it, in CPU time, beside the official client alone: the first start in a fresh process with
// fifteen tools and their schemas, another start, and a call whose arguments are checked. The server is a process of its own, and is not
// counted.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { writeBundle } from '../support/programs.ts';
import { talk } from '../tools/mcp/talk.ts';
import { inMs, line, median, rounds } from './measure.ts';

const server = path.join(import.meta.dirname, '../support/mcp/fifteen.mjs');
const budget = 2; // times the official client
const callsPerRound = 200;
const text = 'x'.repeat(200);

interface Costs {
  start: number[];
  call: number[];
}

async function cpuOf<Value>(work: () => Promise<Value>): Promise<[ms: number, value: Value]> {
  const before = process.cpuUsage();
  const value = await work();
  const { user, system } = process.cpuUsage(before);
  return [(user + system) / 1000, value];
}

async function official(): Promise<[start: number, call: number]> {
  const [start, client] = await cpuOf(async () => {
    const client = new Client({ name: 'bench', version: '1' }, { versionNegotiation: { mode: 'auto' } });
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [server], stderr: 'ignore' }));
    await client.listTools();
    return client;
  });
  const [calls] = await cpuOf(async () => {
    for (let count = 0; count < callsPerRound; count++) await client.callTool({ name: 'echo', arguments: { text } });
  });
  await client.close();
  return [start, calls / callsPerRound];
}

async function ours(): Promise<[start: number, call: number]> {
  const t = await talk({ servers: { fifteen: { command: process.execPath, args: [server] } } });
  t.answer = 'allow-run';
  const [start] = await cpuOf(async () => {
    await t.prepare();
    return t.host.getVisibleTools({ agentId: 'default' }).length;
  });
  await t.call('mcp.fifteen.echo', { text });
  const tool = t.servers.tools().find(({ definition }) => definition.name === 'mcp.fifteen.echo')!;
  const one = t.server('fifteen');
  const { signal } = t.stop;
  const [calls] = await cpuOf(async () => {
    for (let count = 0; count < callsPerRound; count++) {
      const args = tool.arguments.parse({ text }) as Record<string, unknown>;
      await one.call('echo', args, { signal });
    }
  });
  await t.close();
  return [start, calls / callsPerRound];
}

const costs = { official: { start: [], call: [] } as Costs, ours: { start: [], call: [] } as Costs };
for (let round = -2; round < rounds; round++)
  for (const [name, run] of Object.entries({ official, ours })) {
    const [start, call] = await run();
    if (round < 0) continue; // it warms up
    costs[name as keyof typeof costs].start.push(start);
    costs[name as keyof typeof costs].call.push(call);
  }

const folder = mkdtempSync(path.join(tmpdir(), 'towpath-bench-mcp-'));
const first = { official: [] as number[], ours: [] as number[] };
try {
  const programs = {
    official: await writeBundle(path.join(import.meta.dirname, 'mcp/officialStart.ts'), path.join(folder, 'official')),
    ours: await writeBundle(path.join(import.meta.dirname, 'mcp/towpathStart.ts'), path.join(folder, 'ours')),
  };
  for (let round = -1; round < rounds; round++)
    for (const [name, program] of Object.entries(programs)) {
      const { stdout, stderr } = spawnSync(process.execPath, [program, server], { encoding: 'utf8' });
      const [ms, tools] = stdout.split(' ').map(Number);
      if (tools !== 15) throw new Error(stderr || stdout);
      if (round >= 0) first[name as keyof typeof first].push(ms!);
    }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

const all = {
  'first start': first,
  'another start': { official: costs.official.start, ours: costs.ours.start },
  call: { official: costs.official.call, ours: costs.ours.call },
};
for (const [what, { official, ours }] of Object.entries(all)) {
  const [base, own] = [median(official), median(ours)];
  line(`official client: ${what}`, { CPU: inMs(base) }, 1, Infinity);
  line(`Towpath: ${what}`, { CPU: inMs(own), times: (own / base).toFixed(1) }, own / base, budget);
}
process.exit();
