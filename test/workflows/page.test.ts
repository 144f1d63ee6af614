import assert from 'node:assert/strict';
import { loadWorkflow } from '../../src/workflows/read/validate.ts';
import { createWorkflowJsonSchemas } from '../../src/workflows/write/jsonSchema.ts';
import { readPage } from '../support/help/pages.ts';
import { reply } from '../support/provider.ts';
import { Stage, toolNames } from './stage.ts';

const page = readPage('workflows');
const files = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, yaml]) => yaml!);
const named = (name: string) => files.find((yaml) => yaml.includes(`name: ${name}\n`))!;

describe('the page of workflows', () => {
  for (const [index, yaml] of files.entries())
    it(`shows file ${index + 1} as it can be run: ${/name: (.*)/.exec(yaml)![1]}`, () => {
      const { problems, warnings } = loadWorkflow(yaml, { tools: toolNames });
      assert.deepEqual([problems, warnings], [[], []]);
    });

  it('has words for every key', () => {
    const without: string[] = [];
    const look = (schema: Words, place: string) => {
      for (const [key, one] of Object.entries(schema.properties ?? {})) {
        if (!one.description) without.push(`${place}.${key}`);
        look(one, `${place}.${key}`);
      }
    };
    const { workflow, agent } = createWorkflowJsonSchemas() as Record<string, Words>;
    look({ properties: workflow!.properties }, 'workflow');
    look({ properties: workflow!.properties!.nodes!.items!.properties }, 'node');
    look({ properties: workflow!.properties!.edges!.items!.properties }, 'edge');
    look({ properties: agent!.properties }, 'agent');
    assert.deepEqual(without, []);
  });

  describe('and its files run', () => {
    let stage: Stage;
    afterEach(() => stage.end());

    it('the one with a tool of its own', async () => {
      stage = await Stage.of(
        named('Find where it is decided'),
        [reply.call('find_text', { pattern: 'LIMIT' }), reply.text('src/a.ts:1')],
        { files: { 'src/a.ts': 'const LIMIT = 1;\n' } },
      );
      const { phase } = await stage.start('go', { question: 'Where is the limit?' });
      assert.equal(phase, 'Completed');
      assert.equal(stage.workspace.read('answer.md'), '# Where is the limit?\n\nsrc/a.ts:1');
      const [tool] = stage.provider.requests[0]!.body.tools!.filter(({ function: one }) => one.name === 'find_text');
      assert.deepEqual((tool!.function as { parameters?: { required?: unknown } }).parameters!.required, ['pattern']);
      assert.match(stage.provider.requests[1]!.body.messages.at(-1)!.content!, /1: const LIMIT/);
    });

    it('the one over a list', async () => {
      stage = await Stage.of(named('Line counts'), [], {
        files: { 'docs/a.md': 'one\ntwo\n', 'docs/b/c.md': 'one\n' },
      });
      assert.deepEqual(await stage.start(), {
        success: true,
        phase: 'Completed',
        assistantText: 'docs/a.md: 2\ndocs/b/c.md: 1\n',
      });
    });
  });
});

interface Words {
  description?: string;
  properties?: Record<string, Words>;
  items?: Words;
}
