// What an item of a `foreach` costs in a list ten times as long: 1 where the workflow is linear, 10 where it is quadratic. Exits
// with 1 when a long list makes an item dearer.
import { Stage } from '../workflows/stage.ts';
import { inMs, line, median } from './measure.ts';

const [few, many, rounds] = [100, 1000, 5];

/** CPU milliseconds of an item in a list of so many. */
async function itemOf(count: number): Promise<number> {
  const items = JSON.stringify(Array.from({ length: count }, (_, at) => `item ${at}`));
  const stage = await Stage.of(`
initial_state: {items: ${items}}
nodes:
  - {name: all, foreach: state.items, uses: state.set, with: {text: "{{ item }}"}}
`);
  try {
    const before = process.cpuUsage();
    const { phase } = await stage.start();
    const { user, system } = process.cpuUsage(before);
    if (phase !== 'Completed') throw new Error(`It ended as ${phase}.`);
    return (user + system) / 1000 / count;
  } finally {
    await stage.end();
  }
}

await itemOf(few);
const costs: { short: number[]; long: number[] } = { short: [], long: [] };
for (let round = 0; round < rounds; round++) {
  costs.short.push(await itemOf(few));
  costs.long.push(await itemOf(many));
}
const [short, long] = [median(costs.short), median(costs.long)];
const numbers = { [`of ${few}`]: inMs(short), [`of ${many}`]: inMs(long), growth: `${(long / short).toFixed(2)} ×` };
line('an item of a list', numbers, long / short, 1.3);
