import type { Case } from './case.ts';
import { canBeHalf, canFail, faults } from './disk.ts';
import { randomOf } from './random.ts';
import type { Job } from './window.ts';

/** The operations of the windows that come to no harm, by what they do. */
export type Operations = Record<Job, readonly string[]>;

const moments = ['before', 'half', 'after'] as const;
const jobs = ['work', 'undo'] as const;

/** Every operation, before it, in its middle where it has one, and after it. */
export const points = (operations: Operations, of: readonly Job[] = jobs): Case[] =>
  of.flatMap((job) =>
    operations[job].flatMap((operation, index) =>
      moments
        .filter((how) => how !== 'half' || canBeHalf(operation))
        .map((how): Case => ({ job, blows: [{ at: index + 1, how }] })),
    ),
  );

/** The same while a person speaks: what waits is given once, as they want it in the end, or never. */
export const said = (operations: Operations): Case[] => points(operations, ['say']);

/** A second kill while the next window recovers from the first: its first steps are where it does. */
export function doubles(operations: Operations, seed: number, count = 80): Case[] {
  const random = randomOf(seed);
  const blow = (below: number) => ({ at: 1 + random(below), how: moments[random(3)]! });
  return Array.from({ length: count }, (_, index) => {
    const job = jobs[index % 4 === 3 ? 1 : 0]!;
    return { job, blows: [blow(operations[job].length), blow(14)] };
  });
}

/** At any time, wherever it is then: a process takes a while to begin with. */
export function times(seed: number, count = 60): Case[] {
  const random = randomOf(seed);
  return Array.from({ length: count }, () => ({ job: 'work', blows: [{ afterMs: 150 + random(1500) }] }));
}

/** While somebody takes their time to approve each call; some are killed twice. */
export function approvals(seed: number, count = 60): Case[] {
  const random = randomOf(seed);
  const blow = () => ({ afterMs: 200 + random(1300) });
  return Array.from({ length: count }, (_, index) => ({
    job: 'ask',
    blows: index % 3 === 2 ? [blow(), blow()] : [blow()],
  }));
}

/** At every operation the disk fails, once and for good; each operation in one of the ways that it can, in turn. */
export const diskFaults = ({ work }: Operations): Case[] =>
  work.flatMap((operation, index) => {
    const possible = faults.filter((fault) => canFail(operation, fault));
    const how = possible[index % possible.length]!;
    return [false, true].map((forGood): Case => ({ job: 'work', blows: [{ at: index + 1, how, forGood }] }));
  });

/** The folder of the store is deleted under the window. */
export const storeGone = ({ work }: Operations): Case[] =>
  work.map((_, index) => ({ job: 'work', blows: [{ at: index + 1, how: 'gone' }] }));

/** A real disk with ever more room: page by page while the first reply is kept, then in steps. Each is full at another place. */
export const rooms = (): Case[] =>
  Array.from({ length: 50 }, (_, index) => ({
    job: 'work',
    blows: [{ roomKb: 12 + 4 * index * (index < 10 ? 1 : 3) }],
  }));
