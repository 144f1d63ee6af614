import assert from 'node:assert/strict';
import type * as z from 'zod';
import { removeRedundantTools, type ToolDefinition } from '../../../src/protocol/content/tools.ts';
import type { LanguageService } from '../../../src/tools/code/language.ts';
import { toolNames } from '../../../src/tools/definitions/definitions.ts';
import { builtinTools as build } from '../../../src/tools/host/builtinTools.ts';
import { createToolHost } from '../../../src/tools/host/host.ts';
import { maxSent, sentSizes } from '../../support/sizes.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';

const defaultTools = () => build({ language: {} as LanguageService });

describe('tools: definitions', () => {
  for (const { wire, prompt, tools } of sentSizes())
    it(`stay small for ${wire}: with the system prompt at most ${maxSent} characters, as they are sent`, () =>
      assert.ok(prompt + tools <= maxSent, `prompt ${prompt}, tools ${tools}, together ${prompt + tools}`));

  it('are fewer where the window is small, and one is told of where another does its work as well', async () => {
    const workspace = await temporaryWorkspace();
    const host = createToolHost({ workspace, tools: defaultTools(), approve: async () => ({ decision: 'deny' }) });
    workspace.cleanup();
    const offered = (contextWindow?: number) => host.getVisibleTools({ agentId: 'default', contextWindow });
    const names = (tools: readonly ToolDefinition[]) => tools.map(({ name }) => name);
    const [small, all] = [names(offered(8192)), names(offered())];
    const code = ['code.diagnostics', 'code.symbols', 'code.definition', 'code.references'];
    const extra = [...code, 'editor.context', 'task.run'];
    assert.deepEqual(
      all.filter((name) => !small.includes(name)),
      extra,
    );
    assert.deepEqual(
      all.filter((name) => !names(removeRedundantTools(offered())).includes(name)),
      ['fs.apply_patch', 'code.references'],
    );
    for (const covered of ['fs.apply_patch', 'code.references']) {
      const alone = offered().filter(({ name }) => name === covered);
      assert.deepEqual(removeRedundantTools(alone), alone, 'an agent that may use nothing else is told of it');
      const named = names(removeRedundantTools(offered(), [covered]));
      assert.ok(named.includes(covered), 'a workflow that names it is told of it');
    }
  });

  it('are all known without the tools themselves, in their order', () =>
    assert.deepEqual(
      toolNames(),
      defaultTools().map(({ definition }) => definition.name),
    ));

  it('have the same bytes every time, in the same order', () => {
    const bytes = () => JSON.stringify(defaultTools().map(({ definition }) => definition));
    assert.equal(bytes(), bytes());
    assert.deepEqual(
      defaultTools().map(({ definition, risk }) => `${definition.name} ${risk}`),
      [
        'fs.list read',
        'fs.find read',
        'fs.search read',
        'fs.read read',
        'fs.write change',
        'fs.edit change',
        'fs.apply_patch change',
        'fs.move change',
        'fs.delete change',
        'shell.run execute',
        'shell.stop execute',
        'output.read read',
        'code.diagnostics read',
        'code.symbols read',
        'code.definition read',
        'code.references read',
        'editor.context read',
        'web.fetch execute',
        'plan.update read',
        'ask.person read',
        'task.run read',
      ],
    );
  });

  it('name their arguments in the order in which they are best written', () => {
    const orders = Object.fromEntries(
      defaultTools().map(({ definition }) => [definition.name, Object.keys(definition.parameters.properties!)]),
    );
    assert.deepEqual(orders, {
      'fs.list': ['path'],
      'fs.find': ['pattern', 'path'],
      'fs.search': ['pattern', 'path', 'glob', 'fixed', 'context'],
      'fs.read': ['path', 'offset', 'limit'],
      'fs.write': ['path', 'content'],
      'fs.edit': ['path', 'cell', 'edits'],
      'fs.apply_patch': ['path', 'patch', 'frontmatter'],
      'fs.move': ['from', 'to'],
      'fs.delete': ['path'],
      'shell.run': ['command', 'cwd', 'timeoutSeconds', 'background', 'outside'],
      'shell.stop': ['id'],
      'output.read': ['id', 'offset', 'limit'],
      'code.diagnostics': ['path'],
      'code.symbols': ['path', 'query'],
      'code.definition': ['path', 'line', 'symbol', 'references'],
      'code.references': ['path', 'line', 'symbol'],
      'editor.context': [],
      'web.fetch': ['url'],
      'plan.update': ['items'],
      'ask.person': ['questions'],
      'task.run': ['title', 'prompt', 'agent'],
    });
  });

  it('take a checksum for edits and patches without asking models for one', () => {
    for (const name of ['fs.write', 'fs.edit', 'fs.apply_patch']) {
      const { definition, schema, arguments: given } = defaultTools().find((tool) => tool.definition.name === name)!;
      assert.ok(!('ifMatchSha256' in definition.parameters.properties!));
      assert.ok('ifMatchSha256' in (schema as typeof definition.parameters).properties!);
      assert.ok('ifMatchSha256' in (given as z.ZodObject).shape);
    }
  });

  it('say what they take and give to people who write workflows, and nothing of that to a model', () => {
    for (const { definition, arguments: given, gives } of defaultTools()) {
      const words = Object.values((given as z.ZodObject).shape).map((one) => one.meta()?.help);
      assert.ok(
        words.every((help) => typeof help === 'string'),
        `${definition.name} takes something without words`,
      );
      assert.ok(gives, `${definition.name} does not say what it gives`);
      assert.doesNotMatch(JSON.stringify(definition), /"help"/);
    }
  });
});
