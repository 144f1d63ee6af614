import * as z from 'zod';

const positionSchema = z.object({ run: z.string(), seq: z.number().int() });
type BranchPosition = z.infer<typeof positionSchema>;

/**
 * Origin of a branch: events up to `seq` belong to `run`. `line`: origins of the ancestors, so that a family stays known after an ancestor
 * is deleted.
 */
export const runBranchOriginSchema = z.object({ ...positionSchema.shape, line: z.array(positionSchema).optional() });
export type RunBranchOrigin = z.infer<typeof runBranchOriginSchema>;

interface RunBranch {
  id: string;
  parent?: RunBranchOrigin;
  createdAt: number;
  updatedAt: number;
  pinned?: boolean;
}

/**
 * Fork point of a run: the run is `ways[nth]` of branches from one event, oldest first. Each branch is named by a run that continues it.
 */
export interface ForkPoint {
  seq: number;
  ways: string[];
  nth: number;
}

/** Returns the fork points of the run in order. A deleted run counts as long as a run continues from its part. */
export function forkPoints(id: string, runs: readonly RunBranch[]): ForkPoint[] {
  const self = runs.find((run) => run.id === id);
  if (!self) return [];
  const kin = relatedRuns(id, runs);
  const positions = new Map(
    kin.flatMap(({ parent }) => positionsOf(parent)).map((position) => [`${position.seq} ${position.run}`, position]),
  );
  const points: ForkPoint[] = [];
  for (const position of positions.values()) {
    const own = wayAt(self, position);
    if (own === undefined) continue;
    const takers = new Map<string, RunBranch[]>([[own, []]]);
    for (const run of kin) {
      const way = wayAt(run, position);
      if (way !== undefined) takers.set(way, [...(takers.get(way) ?? []), run]);
    }
    if (takers.size < 2) continue;
    const since = (way: string) =>
      Math.min(...takers.get(way)!.map((run) => (way === position.run ? 0 : run.createdAt)));
    const ways = [...takers.keys()].sort((one, other) => since(one) - since(other) || (one < other ? -1 : 1));
    const reached = (way: string) => (way === own ? id : newest(way, takers.get(way)!));
    points.push({ seq: position.seq, ways: ways.map(reached), nth: ways.indexOf(own) });
  }
  return points.sort((one, other) => one.seq - other.seq);
}

export const descendantRuns = <Run extends RunBranch>(id: string, runs: readonly Run[]): Run[] =>
  runs.filter(({ parent }) => positionsOf(parent).some(({ run }) => run === id));

interface BranchedRun<Run> {
  run: Run;
  depth: number;
  newest: number;
}

/**
 * Sorts runs under their parents, or under the nearest existing ancestor. Families are sorted by their newest run, families with a pinned
 * run first, branches by their start.
 */
export function sortRunsUnderParents<Run extends RunBranch>(runs: readonly Run[]): BranchedRun<Run>[] {
  const before = new Set<string>(); // guards against cycles in an altered record
  const below = new Map<string | undefined, Run[]>();
  for (const run of runs.toSorted((one, other) => one.createdAt - other.createdAt)) {
    const above = positionsOf(run.parent).find((position) => before.has(position.run))?.run;
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

export function relatedRuns<Run extends RunBranch>(id: string, runs: readonly Run[]): Run[] {
  const self = runs.find((run) => run.id === id);
  return self ? runs.filter((run) => rootOf(run) === rootOf(self)) : [];
}

const positionsOf = (parent: RunBranchOrigin | undefined): BranchPosition[] =>
  parent ? [parent, ...(parent.line ?? [])] : [];

const rootOf = ({ id, parent }: RunBranch): string => positionsOf(parent).at(-1)?.run ?? id;

const newest = (way: string, takers: readonly RunBranch[]): string =>
  (
    takers.find(({ id }) => id === way) ??
    takers.reduce((one, other) => (other.updatedAt > one.updatedAt ? other : one))
  ).id;

// Id of the run whose part contains the continuation of the path from a fork point; undefined: the path does not contain the point.
function wayAt({ id, parent }: RunBranch, { run, seq }: BranchPosition): string | undefined {
  const path = [{ run: id, seq: Number.POSITIVE_INFINITY }, ...positionsOf(parent)];
  const at = path.findIndex((position) => position.run === run);
  if (at < 0 || seq > path[at]!.seq) return undefined;
  return at > 0 && seq === path[at]!.seq ? path[at - 1]!.run : run;
}
