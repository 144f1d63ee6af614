import type { Random } from '../../support/random.ts';

type Node = Record<string, unknown> & { name: string };
type Edge = { from: string; to: string; parallel: true; fan_in: string };

/** A workflow that was made up: its file, and what its record may take, however often its loops go round. */
export interface RandomFlow {
  yaml: string;
  /** Characters of JSON. */
  mostRoom: number;
  kinds: string[];
}

/** What templates give that is hard to keep. */
const values = [
  ...['{{ none }}', '{{ [1, none, 2.5] }}', "{{ {'a': none, 'b': [true]} }}", '{{ 1.0 }}', '{{ 0 * -1 }}'],
  ...[
    '{{ state.free }}',
    '{{ [state.free, state.n] }}',
    '{{ 10 ** 20 }}',
    '2026-11-23',
    "{{ '' }}",
    '{{ state.n / 7 }}',
  ],
];

/** Keys that anything may set. */
const keys = ['free', 'a', 'b', 'c', 'd'];

/**
 * Sequences, ways back, loops, parallel parts within each other and lists, whose nodes set values, ask a model, and write, edit, move
 * and delete files, each file once; and append to one, which nothing but its own word can tell.
 */
export function randomFlow(random: Random): RandomFlow {
  const nodes: Node[] = [];
  const edges: Edge[] = [];
  const kinds = new Set<string>();
  const counters: string[] = [];
  let lines = 1;
  let names = 0;
  const named = (kind: string) => `${kind}${++names}`;
  const key = () => random.pick(keys);
  const add = (kind: string, node: Record<string, unknown>, name = named(kind)) => {
    kinds.add(kind);
    nodes.push({ name, ...node });
    return name;
  };
  const set = (name: string, value: string) => ({ run: { type: 'expression', value, output_key: name } });

  /** Steps with effects that are each done once; `own`: what tells this visit from every other. */
  const effects = (own: string): Record<string, unknown>[] => {
    const [path, moved] = [`f/${own}.txt`, `g/${own}.txt`];
    const result = () => (random.chance(0.5) ? { output: key() } : { output: { [key()]: true } });
    const write = { uses: 'fs.write', with: { path, content: 'one\ntwo\nthree\n' }, ...result() };
    const edit = {
      uses: 'fs.edit',
      with: { path, edits: [{ oldText: 'two\n', newText: random.pick(['', '2\n']) }] },
      ...result(),
    };
    const move = { uses: 'fs.move', with: { from: path, to: moved }, ...result() };
    const remove = { uses: 'fs.delete', with: { path: moved }, ...result() };
    const append = { uses: 'test.append', with: { name: own }, ...result() };
    return random.pick([
      [write],
      [write, edit],
      [append],
      [write, move],
      [write, edit, move, remove],
      [write, append, move],
    ]);
  };
  const ownOf = (name: string, more: readonly string[] = []) =>
    [name, ...counters.map((one) => `{{ state.${one} }}`), ...more].join('-');

  const simple = () => {
    const kind = random.pick(['set', 'ask', 'effect', 'effect', 'effects', 'rounds', 'each']);
    const name = named(kind);
    if (kind === 'set')
      add(kind, { uses: 'state.set', with: { [key()]: random.pick(values), [key()]: random.pick(values) } }, name);
    if (kind === 'ask')
      add(
        kind,
        { uses: 'llm.call', with: { messages: [{ role: 'user', content: `${name} {{ state.n }}` }] }, output: key() },
        name,
      );
    if (kind === 'effect') add(kind, effects(ownOf(name))[0]!, name);
    if (kind === 'effects') add(kind, { steps: effects(ownOf(name)) }, name);
    if (kind === 'rounds') {
      const round = `k${name}`;
      add('set', set(round, '0'));
      const body = [set(round, `state.${round} + 1`), ...effects(ownOf(name, [`{{ state.${round} }}`]))];
      add(
        kind,
        { type: 'while_loop', condition: `state.${round} < ${1 + random.upTo(3)}`, max_iterations: 5, body },
        name,
      );
    }
    if (kind === 'each') {
      const list = Array.from({ length: 1 + random.upTo(3) }, (_, index) => `i${index}`);
      lines += list.length;
      const steps = effects(ownOf(name, ['{{ item }}']));
      const work = random.chance(0.5) ? { steps } : steps[0]!;
      const { output: _, ...node } = work as Record<string, unknown>;
      add(kind, { foreach: list, ...node, output: key() }, name);
    }
  };

  const back = (depth: number) => {
    const counter = named('c');
    add('set', set(counter, '0'));
    const first = add('back', {});
    counters.push(counter);
    sequence(depth - 1, 1);
    counters.pop();
    const after = named('after');
    const goto = [{ if: `state.${counter} < ${1 + random.upTo(2)}`, to: first }, { to: after }];
    add('set', { ...set(counter, `state.${counter} + 1`), goto });
    add('after', {}, after);
  };

  const parallel = (depth: number) => {
    const fork = add('fork', {});
    const join = named('join');
    const heads = Array.from({ length: random.chance(0.2) ? 3 : 2 }, () => {
      const head = add('head', { uses: 'state.set', with: { [key()]: random.pick(values) } });
      lines++;
      sequence(depth - 1, 1);
      add('tail', {}); // a part within ends at a node of its own
      return head;
    });
    for (const to of heads) edges.push({ from: fork, to, parallel: true, fan_in: join });
    add(
      'parallel',
      { uses: 'state.set', with: { n: '{{ parallel_results | length }}', [key()]: random.pick(values) } },
      join,
    );
  };

  const part = (depth: number) => {
    const kind = depth > 0 ? random.pick(['simple', 'simple', 'back', 'parallel'] as const) : 'simple';
    ({ simple, back, parallel })[kind](depth);
  };
  const sequence = (depth: number, most: number) => {
    for (let count = 1 + random.upTo(most); count > 0; count--) part(depth);
  };

  add('begin', {});
  sequence(2, 2);
  const initial = Object.fromEntries(keys.map((one) => [one, random.pick([null, 1, 'text', [null]])]));
  const file = { settings: { max_visits: 1000 }, initial_state: { ...initial, n: 1 }, nodes, edges };
  const state = (keys.length + names) * 250;
  return { yaml: JSON.stringify(file), mostRoom: 4 * lines * lines * state + names * 1000, kinds: [...kinds] };
}
