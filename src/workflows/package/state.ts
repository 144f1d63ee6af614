import { stringify } from 'yaml';
import * as z from 'zod';
import { zodIssueText } from '../../protocol/text/zodIssueText.ts';
import { exceedsValueLimits } from '../../tools/core/parseLimits.ts';
import { ToolError } from '../../tools/core/tool.ts';
import { maxFrontmatterBytes, parseYaml } from '../../tools/core/yaml.ts';

const stateSchema = z.looseObject({
  currentNodeId: z.string().min(1),
  stepsCompleted: z.array(z.string().min(1)),
  variables: z.record(z.string(), z.unknown()),
  decisionLog: z.array(z.union([z.string(), z.record(z.string(), z.unknown())])),
  artifacts: z.array(z.union([z.string(), z.looseObject({ path: z.string() })])),
  updatedAt: z.string().refine((text) => !Number.isNaN(Date.parse(text)), { message: 'expected a date and time' }),
});
/** Frontmatter of `@state/workflow.md`: the position of a run. */
export type PackageRunState = z.infer<typeof stateSchema>;

const stateLimit = 200_000;

/** Parses a state document. Throws `E_WRITE_LIMIT`, `E_INVALID_FRONTMATTER` or `E_SCHEMA_VALIDATION`. */
export function parsePackageRunState(text: string): PackageRunState {
  if (text.length > stateLimit)
    throw new ToolError('E_WRITE_LIMIT', `The state document is longer than ${stateLimit} characters. Keep it short.`);
  const parsed = stateSchema.safeParse(frontmatterOf(text).values);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.slice(0, 5).map(zodIssueText);
  const message = `The state document's frontmatter has another shape: ${problems.join('; ')}. Nothing was written.`;
  throw new ToolError('E_SCHEMA_VALIDATION', message, { problems });
}

export function createPackageRunStateText(template: string | undefined, entryNodeId: string, now: Date): string {
  const { values, body } = template === undefined ? { values: {}, body: defaultBody } : frontmatterOf(template);
  const frontmatter = {
    ...values,
    currentNodeId: entryNodeId,
    stepsCompleted: [],
    variables: values.variables ?? {},
    decisionLog: [],
    artifacts: [],
    updatedAt: now.toISOString(),
  };
  const text = `---\n${stringify(frontmatter, { lineWidth: 0 })}---\n${body}`;
  parsePackageRunState(text);
  return text;
}

const defaultBody = '\n# Notes\n';

export const artifactPaths = ({ artifacts }: PackageRunState): string[] =>
  artifacts.map((one) => (typeof one === 'string' ? one : one.path));

function frontmatterOf(text: string): { values: Record<string, unknown>; body: string } {
  const found = /^\ufeff?---[ \t]*\r?\n([\s\S]*?)^---[ \t]*(?:\r?\n|$)/m.exec(text);
  if (found?.index !== 0) throw invalid('it does not begin with YAML between two lines "---".');
  const { document, trouble } = parseYaml(found[1]!, { uniqueKeys: true }, maxFrontmatterBytes);
  if (trouble) throw invalid(trouble.message);
  const problem = document.errors[0];
  if (problem) throw invalid(problem.message.split('\n')[0]!.replace(/:$/, '.'));
  let values: unknown;
  try {
    values = document.toJS({ maxAliasCount: 50 });
  } catch (error) {
    throw invalid((error as Error).message); // YAML aliases that expand excessively
  }
  if (exceedsValueLimits(values)) throw invalid('it holds too much.');
  if (typeof values !== 'object' || values === null || Array.isArray(values))
    throw invalid('it is not a map of keys to values.');
  return { values: values as Record<string, unknown>, body: text.slice(found[0].length) };
}

const invalid = (why: string) =>
  new ToolError(
    'E_INVALID_FRONTMATTER',
    `The state document's frontmatter cannot be read: ${why} Nothing was written.`,
  );
