import * as z from 'zod';

/** The newest event that a run shares with what was forked from it there. Numbers of events are the same in both. */
const placeSchema = z.object({ run: z.string(), seq: z.number().int() });
type BranchPosition = z.infer<typeof placeSchema>;

/**
 * Where a run's own part begins: what it says up to there `run` had said. `line`: where that one's own part begins, then the one
 * before it, so that it is known who belongs together when some of them are deleted.
 */
export const parentSchema = z.object({ ...placeSchema.shape, line: z.array(placeSchema).optional() });
export type Parent = z.infer<typeof parentSchema>;

/** A run among those that may be branches of each other. */
export interface Branch {
  id: string;
  parent?: Parent;
  createdAt: number;
  updatedAt: number;
  pinned?: boolean;
}

/** Ways to go on from one place, of which the run that is asked about took one: `ways[nth]`, the oldest first. */
export interface ForkPoint {
  seq: number;
  /** The run by which each way is reached. */
  ways: string[];
  nth: number;
}

/** The places at which others went on otherwise than the run with this id, in order. Who is deleted is counted where somebody that went its way is not. */
export function forkPoints(id: string, runs: readonly Branch[]): ForkPoint[] {
  const self = runs.find((run) => run.id === id);
  if (!self) return [];
  const kin = kinOf(id, runs);
  const places = new Map(
    kin.flatMap(({ parent }) => placesOf(parent)).map((place) => [`${place.seq} ${place.run}`, place]),
  );
  const points: ForkPoint[] = [];
  for (const place of places.values()) {
    const own = wayAt(self, place);
    if (own === undefined) continue;
    const takers = new Map<string, Branch[]>([[own, []]]);
    for (const run of kin) {
      const way = wayAt(run, place);
      if (way !== undefined) takers.set(way, [...(takers.get(way) ?? []), run]);
    }
    if (takers.size < 2) continue;
    const since = (way: string) => Math.min(...takers.get(way)!.map((run) => (way === place.run ? 0 : run.createdAt)));
    const ways = [...takers.keys()].sort((one, other) => since(one) - since(other) || (one < other ? -1 : 1));
    const reached = (way: string) => (way === own ? id : newest(way, takers.get(way)!));
    points.push({ seq: place.seq, ways: ways.map(reached), nth: ways.indexOf(own) });
  }
  return points.sort((one, other) => one.seq - other.seq);
}

/** Runs that come from this one, by whatever way. */
export const descendants = <Run extends Branch>(id: string, runs: readonly Run[]): Run[] =>
  runs.filter(({ parent }) => placesOf(parent).some(({ run }) => run === id));

/** A run in its family; `newest`: when something last happened in that. */
interface BranchedRun<Run> {
  run: Run;
  /** Under how many runs it stands. */
  depth: number;
  newest: number;
}

/**
 * Each run under the one that it comes from; where that is deleted, under the one before that. Families by their newest run, those
 * with a pinned one first, branches of a run in the order in which they began.
 */
export function underTheirRuns<Run extends Branch>(runs: readonly Run[]): BranchedRun<Run>[] {
  const before = new Set<string>(); // a record that was altered could name its own branch
  const below = new Map<string | undefined, Run[]>();
  for (const run of runs.toSorted((one, other) => one.createdAt - other.createdAt)) {
    const above = placesOf(run.parent).find((place) => before.has(place.run))?.run;
    const siblings = below.get(above);
    if (siblings) siblings.push(run);
    else below.set(above, [run]);
    before.add(run.id);
  }
  const family = (run: Run, depth: number): { run: Run; depth: number }[] => [
    { run, depth },
    ...(below.get(run.id) ?? []).flatMap((branch) => family(branch, depth + 1)),
  ];
  const families = (below.get(undefined) ?? []).map((run) => {
    const members = family(run, 0);
    const newest = Math.max(...members.map((member) => member.run.updatedAt));
    return { pinned: members.some((member) => member.run.pinned), newest, members };
  });
  return families
    .sort((one, other) => Number(other.pinned) - Number(one.pinned) || other.newest - one.newest)
    .flatMap(({ members, newest }) => members.map((member) => ({ ...member, newest })));
}

/** A run and all that it shares a beginning with. */
export function kinOf<Run extends Branch>(id: string, runs: readonly Run[]): Run[] {
  const self = runs.find((run) => run.id === id);
  return self ? runs.filter((run) => rootOf(run) === rootOf(self)) : [];
}

const placesOf = (parent: Parent | undefined): BranchPosition[] => (parent ? [parent, ...(parent.line ?? [])] : []);

/** The first of all that it comes from. */
const rootOf = ({ id, parent }: Branch): string => placesOf(parent).at(-1)?.run ?? id;

const newest = (way: string, takers: readonly Branch[]): string =>
  (
    takers.find(({ id }) => id === way) ??
    takers.reduce((one, other) => (other.updatedAt > one.updatedAt ? other : one))
  ).id;

/** By whose part a run goes on from a place; undefined: it never comes by there. */
function wayAt({ id, parent }: Branch, { run, seq }: BranchPosition): string | undefined {
  const path = [{ run: id, seq: Number.POSITIVE_INFINITY }, ...placesOf(parent)];
  const at = path.findIndex((place) => place.run === run);
  if (at < 0 || seq > path[at]!.seq) return undefined;
  return at > 0 && seq === path[at]!.seq ? path[at - 1]!.run : run;
}
