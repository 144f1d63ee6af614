import * as z from 'zod';
import { toEnglishText } from '../../../src/protocol/text/l10n.ts';
import type { LanguageService } from '../../../src/tools/code/language.ts';
import { defaultReadLineCount, maxLineWindowCharacters } from '../../../src/tools/core/lineWindow.ts';
import { maxOutcomeBytes } from '../../../src/tools/core/outcome.ts';
import { maxJsonBytes, maxJsonDepth } from '../../../src/tools/core/parseLimits.ts';
import { maxYamlAliases } from '../../../src/tools/core/yaml.ts';
import { builtinTools } from '../../../src/tools/host/builtinTools.ts';
import { mcpToolResultSchema } from '../../../src/tools/mcp/callResult.ts';
import { suggestedWorkflowActionNames } from '../../../src/workflows/action/actions.ts';
import { maxWorkflowNesting as mostNested } from '../../../src/workflows/action/nested.ts';
import { maxYamlProblems } from '../../../src/workflows/read/check.ts';
import { defaultConcurrency, maxForEachItems } from '../../../src/workflows/run/forEach.ts';
import { maxNodeVisits } from '../../../src/workflows/run/runGraph.ts';
import { maxTemplateValues } from '../../../src/workflows/template/bounds.ts';
import { maxTemplateSteps } from '../../../src/workflows/template/interpreter.ts';
import { maxRangeLength } from '../../../src/workflows/template/language.ts';
import { templateProblem } from '../../../src/workflows/template/template.ts';
import { createWorkflowJsonSchemas, workflowActionSchema } from '../../../src/workflows/write/jsonSchema.ts';
import type { DescribedJsonSchema } from '../../../src/workflows/write/writing.ts';

type Wide = Omit<DescribedJsonSchema, 'properties'> & {
  properties?: Record<string, Wide>;
  items?: Wide;
  required?: string[];
};

const workflow = createWorkflowJsonSchemas().workflow as Wide;
const node = workflow.properties!.nodes!.items!;

/** The tables of the page of workflows. */
export const workflowTables: Record<string, () => string> = {
  file: () => keys(workflow),
  settings: () =>
    keys({ properties: { ...workflow.properties!.settings!.properties, ...prefixed('llm'), ...prefixed('parallel') } }),
  node: () => keys(node),
  edge: () => keys(workflow.properties!.edges!.items!),
  agent: () => keys(createWorkflowJsonSchemas().agent as Wide),
  actions: () => suggestedWorkflowActionNames.map((name) => section(name, 'no approval')).join('\n\n'),
  tools: () =>
    builtinTools({ language: {} as LanguageService })
      .map(({ definition: { name }, risk }) => section(name, risk === 'read' ? 'no approval' : 'needs approval'))
      .join('\n\n'),
  server: () => table(rowsOf('gives', z.toJSONSchema(mcpToolResultSchema, { io: 'input' }) as Wide)),
  limits: () =>
    ['| limit | maximum |', '|---|---|', ...limits().map(([what, most]) => `| ${what} | ${most} |`)].join('\n'),
  filters: () => namesIn(toEnglishText(templateProblem('{{ x | nosuchfilter }}')!)),
  tests: () => namesIn(toEnglishText(templateProblem('{{ x is nosuchtest }}')!)),
};

const prefixed = (key: string): Record<string, Wide> =>
  Object.fromEntries(
    Object.entries(workflow.properties!.settings!.properties![key]!.properties ?? {}).map(([inner, schema]) => [
      `${key}.${inner}`,
      schema,
    ]),
  );

/** Keys of a mapping, without those of other hosts. */
function keys({ properties = {} }: Wide): string {
  const ours = Object.entries(properties).filter(([, { deprecated, description }]) => !deprecated && description);
  return [
    '| key | description |',
    '|---|---|',
    ...ours.map(([key, { description }]) => `| \`${key}\` | ${cell(description)} |`),
  ].join('\n');
}

function section(name: string, gate: string): string {
  const { description, gives, ...takes } = workflowActionSchema(name) as Wide & { gives?: Wide };
  const what = description!.replace(/ It gives `\{[^`]*\}`\.$/, '');
  const common = name.startsWith('llm.') && name !== 'llm.call' ? workflowActionSchema('llm.call') : undefined;
  const rows = [
    ...(common ? ['| takes | | | All that `llm.call` takes. |'] : []),
    ...rowsOf('takes', takes, common),
    ...rowsOf('gives', gives ?? {}),
  ];
  return [`#### \`${name}\``, '', `${what} (${gate})`, ...(rows.length > 0 ? ['', table(rows)] : [])].join('\n');
}

const table = (rows: readonly string[]) => ['| | key | value | description |', '|---|---|---|---|', ...rows].join('\n');

const number = (value: number) => value.toLocaleString('en-US');

const limits = (): [what: string, most: string][] => [
  ['size of a file', `${maxJsonBytes / 1024} KiB, ${maxJsonDepth} levels of lists and maps, ${maxYamlAliases} aliases`],
  ['reported problems of a file', `${maxYamlProblems}`],
  ['visits of a node between two stops', `${maxNodeVisits}, or \`settings.max_visits\` (1,000)`],
  ['rounds of a `while_loop`', '`max_iterations` (1,000)'],
  ['nested workflows', `${mostNested}`],
  ['items of a `foreach`', number(maxForEachItems)],
  ['parallel items and agents of branches', `${defaultConcurrency}, or \`max_workers\` (64)`],
  [
    'a template',
    `${number(maxTemplateValues)} characters between braces, ${maxJsonDepth} nested blocks, ${number(maxTemplateSteps)} steps, one second`,
  ],
  ['`range(n)`', `${number(maxRangeLength)} numbers`],
  ['result of a tool', `${maxOutcomeBytes / 1024} KiB`],
  [
    'one `fs.read`',
    `${number(defaultReadLineCount)} lines (\`limit\`: 5,000), ${number(maxLineWindowCharacters)} characters`,
  ],
];

/** Without `cut`, which every tool may give, and without what another one has as well. */
function rowsOf(what: string, { properties = {}, required = [] }: Wide, other?: DescribedJsonSchema): string[] {
  const own = Object.entries(properties).filter(([key]) => key !== 'cut' && !other?.properties?.[key]);
  return own.map(([key, schema]) => {
    const optional = required.includes(key) ? '' : '?';
    return `| ${what} | \`${key}\`${optional} | ${cell(typeOf(schema))} | ${cell(schema.description)} |`;
  });
}

function typeOf(schema: Wide): string {
  const { type, enum: values, const: only, anyOf, items, properties, required = [] } = schema;
  if (only !== undefined) return `\`${only}\``;
  if (values) return values.map((value) => `\`${value}\``).join(', ');
  if (anyOf) return [...new Set((anyOf as Wide[]).map(typeOf))].join(' or ');
  if (type === 'array') return items && !items.anyOf ? `list of ${typeOf(items)}` : 'list';
  if (properties && Object.keys(properties).length > 0) {
    const inner = Object.keys(properties).map((key) => (required.includes(key) ? key : `${key}?`));
    return `\`{${inner.join(', ')}}\``;
  }
  const names: Record<string, string> = {
    ...{
      string: 'text',
      integer: 'number',
      number: 'number',
      boolean: '`true`, `false`',
      object: 'map',
      null: '`null`',
    },
  };
  return [type]
    .flat()
    .map((one) => names[String(one)] ?? 'any')
    .join(' or ');
}

export const cell = (text = ''): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

/** Names that the error about an unknown name lists after that name. */
const namesIn = (problem = ''): string => wrapped(`${[...problem.matchAll(/`\w+`/g)].slice(1).join(', ')}.`);

/** Wraps a long list after its commas, as the lines of a page are. */
export const wrapped = (text: string): string => text.replaceAll(/(?=.{121})(.{1,120},) /g, '$1\n');
