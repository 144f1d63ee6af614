import assert from 'node:assert/strict';
import { systemPrompt } from '../../src/engine/composer.ts';
import type { Language } from '../../src/tools/code/language.ts';
import { defaultTools as build } from '../../src/tools/default.ts';
import { createToolHost } from '../../src/tools/host.ts';
import { chat } from '../../src/workflows/chat.ts';
import { temporaryWorkspace } from '../support/workspace.ts';

const defaultTools = () => build({ language: {} as Language });

describe('tools: definitions', () => {
  it('stay small: with the system prompt under 6,000 characters', async () => {
    const workspace = await temporaryWorkspace();
    const host = createToolHost({ workspace, tools: defaultTools(), approve: async () => ({ decision: 'deny' }) });
    workspace.cleanup();
    const prompt = systemPrompt(chat.agent, { names: ['workspace'] }).length;
    const sizes = (contextWindow?: number) =>
      host
        .getVisibleTools({ agentId: 'default', contextWindow })
        .map((definition) => ({ name: definition.name, characters: JSON.stringify(definition).length }));
    const sum = (tools: { characters: number }[]) =>
      tools.reduce((total, { characters }) => total + characters, prompt);
    const [small, all] = [sizes(8192), sizes()];
    const told = all.map(({ name, characters }) => `${name} ${characters}`).join(', ');
    console.log(`      ${sum(all)} characters, ${sum(small)} for a small window: prompt ${prompt}, ${told}`);
    assert.ok(sum(all) < 6000, `${sum(all)} characters`);
    assert.deepEqual(
      all.filter(({ name }) => !small.some((one) => one.name === name)).map(({ name }) => name),
      ['code.diagnostics', 'code.symbols', 'code.definition', 'code.references', 'editor.context'],
    );
  });

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
      'fs.search': ['pattern', 'path', 'glob', 'fixed', 'ignoreCase', 'context'],
      'fs.read': ['path', 'offset', 'limit'],
      'fs.write': ['path', 'content', 'ifMatchSha256'],
      'fs.edit': ['path', 'edits', 'ifMatchSha256'],
      'fs.apply_patch': ['path', 'patch', 'frontmatter', 'ifMatchSha256'],
      'fs.move': ['from', 'to'],
      'fs.delete': ['path'],
      'shell.run': ['command', 'cwd', 'timeoutSeconds', 'background'],
      'shell.stop': ['id'],
      'output.read': ['id', 'offset', 'limit'],
      'code.diagnostics': ['path'],
      'code.symbols': ['path', 'query'],
      'code.definition': ['path', 'line', 'symbol'],
      'code.references': ['path', 'line', 'symbol'],
      'editor.context': [],
      'web.fetch': ['url'],
      'plan.update': ['items'],
    });
  });
});
