// What keeping the contents of a thousand runs within their quota costs the editor at the end of a turn, beside the way it was:
// every content of every run looked at, all at the same time. Exits with 1 when it costs more than the editor may feel.
import { promises as fs, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { StoredContentQuota } from '../../src/runs/contentQuota.ts';
import { compare, inMs, line } from './measure.ts';

const [runs, contents, quota] = [1000, 20, 500_000_000];
const folder = path.join(mkdtempSync(path.join(tmpdir(), 'quota-')), 'runs');
for (let run = 0; run < runs; run++) {
  const place = path.join(folder, `run-${run}`, 'contents');
  mkdirSync(place, { recursive: true });
  for (let content = 0; content < contents; content++) writeFileSync(path.join(place, `${content}`), 'x'.repeat(200));
}

async function asItWas(): Promise<void> {
  const names = (place: string) => fs.readdir(place).catch(() => []);
  const files = (await names(folder)).map(async (run) => {
    const place = path.join(folder, run, 'contents');
    return Promise.all((await names(place)).map(async (name) => (await fs.stat(path.join(place, name))).size));
  });
  const total = (await Promise.all(files)).flat().reduce((sum, size) => sum + size, 0);
  if (total > quota) throw new Error('There is nothing to remove here.');
}

const window = new StoredContentQuota(folder, async () => []);
const costs = (await compare(
  {
    asItWas,
    again: async () => void (await window.trim(quota, new Set())),
    first: async () => void (await new StoredContentQuota(folder, async () => []).trim(quota, new Set())),
  },
  1,
)) as Record<'asItWas' | 'again' | 'first', number>;
line('every content, at every rest, before', { CPU: inMs(costs.asItWas) }, 0, 0);
line('the first look of a window', { CPU: inMs(costs.first) }, costs.first / costs.asItWas, 0.25);
line('at every rest', { CPU: inMs(costs.again) }, costs.again / costs.asItWas, 0.25);
rmSync(path.dirname(folder), { recursive: true });
