// Files of a repository that mean harm to whoever reads them: the last bytes of what is allowed are used, or more.

export const largest = 256 * 1024;
export const fill = (piece: string, size = largest - 2000): string =>
  piece.repeat(Math.ceil(size / piece.length)).slice(0, size);
const lines = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, at) => line(at)).join('\n');

/** A workflow with a template (in double quotes) at a place where one can be. */
const withTemplate = (text: string) =>
  `nodes:\n  - name: a\n    uses: state.set\n    with:\n      x: ${JSON.stringify(text)}\n`;
const withCondition = (text: string) =>
  `nodes:\n  - name: a\n  - name: b\nedges:\n  - {from: a, to: b, when: ${JSON.stringify(text)}}\n`;

const bomb = lines(60, (at) => (at === 0 ? 'a0: &a0 [x, x]' : `a${at}: &a${at} [*a${at - 1}, *a${at - 1}]`));
const merges = `base: &base {${fill('', 0)}${Array.from({ length: 5000 }, (_, at) => `k${at}: 1`).join(', ')}}\nall:\n${fill('  - <<: [*base, *base]\n', 100_000)}`;

export const hostileWorkflows: Record<string, string> = {
  'lists-in-a-line': `nodes: ${fill('[')}`,
  'maps-in-a-line': `nodes: ${fill('{a: ')}`,
  'lists-in-lists': fill('- '),
  'keys-of-keys': fill('? '),
  'maps-below-maps': lines(700, (at) => `${' '.repeat(at)}a:`),
  'alias-bomb': bomb,
  'alias-chain': lines(15_000, (at) => (at === 0 ? 'a0: &a0 [x]' : `a${at}: &a${at} [*a${at - 1}]`)).slice(
    0,
    largest - 10,
  ),
  aliases: `a: &a 1\nb: [${fill('*a, ')}]`,
  'merge-keys': merges,
  documents: fill('---\n'),
  'deep-documents': fill(`a: ${'['.repeat(1500)}\n---\n`),
  anchors: fill('&a '),
  tags: fill('!a '),
  'megabyte-key': `${'k'.repeat(1_000_000)}: 1\nnodes: []\n`,
  'long-key': `${'k'.repeat(250_000)}: 1\nnodes: [{name: a}]\n`,
  'thousand-problems': `nodes: [{name: a}]\n${lines(12_000, (at) => `unknown_${at}: ${at}`)}`,
  'unknown-in-nodes': `nodes:\n${lines(4000, (at) => `  - {name: n${at}, uses: no.tool, with: {x: "{{"}}`)}`,
  commas: `nodes: [${fill(',')}]`,
  quotes: fill('"a" '),
  blanks: fill(' \n'),
  comments: `${fill('#\n')}- 1`,
  escapes: `nodes: "${fill('\\n')}"`,
  'same-key': fill('a: 1\n'),
  json: `{"nodes": ${fill('{"a":')}`,
  'template-braces': withTemplate(fill('{{')),
  'template-statements': withTemplate(fill('{%')),
  'template-lambda': withTemplate(`${fill('{{')} lambda`),
  'template-ifs': withTemplate(`${'{% if 1 %}'.repeat(9000)}${'{% endif %}'.repeat(9000)}`.slice(0, 200_000)),
  'template-elifs': withTemplate(`{% if 1 %}${'{% elif 1 %}'.repeat(1000)}{% endif %}`),
  'template-brackets': withTemplate(`{{ ${fill('(', 200_000)} }}`),
  'template-not': withTemplate(`{{ ${fill('not ', 200_000)} 1 }}`),
  'template-sum': withTemplate(`{{ 1${' + 1'.repeat(30_000)} }}`),
  'template-filters': withTemplate(`{{ x${' | trim'.repeat(20_000)} }}`),
  'template-blanks': withTemplate(`x${fill(' ', 200_000)}{{ 1 }}`),
  'condition-braces': withCondition(fill('{{ a ')),
  'condition-quotes': withCondition(fill("'")),
};

export const hostileAgents: Record<string, string> = {
  'too-large': `instructions: |\n${fill('  x\n', 2_000_000)}`,
  'deep-tools': `instructions: x\ntools: ${fill('[')}`,
  tools: `instructions: x\ntools:\n${lines(20_000, (at) => `  - t${at}.x`)}`.slice(0, largest - 10),
  schemas: `instructions: x\ntools: [{name: a, action: fs.read, parameters: ${fill('{type: object, properties: {a: ', 1000)}}]`,
};

/** Folders with what their `bmad.json` and `agents.json` say. */
export const hostilePackages: Record<string, Record<string, string>> = {
  deep: { 'bmad.json': `{"name":"deep","workflows":${fill('[')}` },
  large: { 'bmad.json': `{"name":"${fill('x', 1_500_000)}"}` },
  agents: {
    'bmad.json': '{"name":"agents","workflows":[{"id":"a","graph":"g.json"}]}',
    'agents.json': `{"agents":${fill('{"a":')}`,
  },
  graph: {
    'bmad.json': '{"name":"graph","workflows":[{"id":"a","graph":"g.json"}]}',
    'agents.json': '{"agents":[{"id":"a","name":"A","persona":{"role":"r"},"systemPrompt":"x"}]}',
    'g.json': `{"entryNodeId":"a","nodes":[],"edges":[${fill('{"from":"a","to":"b"},', 200_000)}{}]}`,
  },
};

/** All of them as files below a repository's folder. */
export function hostileFiles(): Record<string, string> {
  const entries = [
    ...Object.entries(hostileWorkflows).map(([name, text]) => [`.towpath/workflows/${name}.yaml`, text] as const),
    ...Object.entries(hostileAgents).map(([name, text]) => [`.towpath/agents/${name}.yaml`, text] as const),
    ...Object.entries(hostilePackages).flatMap(([name, files]) =>
      Object.entries(files).map(([file, text]) => [`.towpath/packages/${name}/${file}`, text] as const),
    ),
  ];
  return Object.fromEntries(entries);
}
