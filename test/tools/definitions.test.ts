import assert from 'node:assert/strict';
import { defaultTools } from '../../src/tools/default.ts';

describe('tools: definitions', () => {
  it('stay small enough for a small model', () => {
    const sizes = defaultTools().map(({ definition }) => ({
      name: definition.name,
      characters: JSON.stringify(definition).length,
    }));
    const total = sizes.reduce((sum, { characters }) => sum + characters, 0);
    console.log(
      `      ${total} characters: ${sizes.map(({ name, characters }) => `${name} ${characters}`).join(', ')}`,
    );
    assert.ok(total < 4500, `${total} characters`);
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
        'fs.delete change',
        'shell.run execute',
        'output.read read',
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
      'fs.delete': ['path'],
      'shell.run': ['command', 'cwd', 'timeoutSeconds'],
      'output.read': ['id', 'offset', 'limit'],
    });
  });
});
