import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createLocalModelClient } from '../../../../src/llm/local/host/client.ts';
import { testScript } from '../../../support/scripted.ts';
import { localModel, Talk, tools } from '../setup.ts';

describe('the format of a chat template', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'chat-formats-'));
  let options: Awaited<ReturnType<typeof localModel>>['options'];
  let close: () => Promise<void>;
  before(async () => {
    ({ options, close } = await localModel(testScript(tools)));
  });
  after(async () => {
    await close();
    rmSync(folder, { recursive: true });
  });

  /** Loads the model, and returns its reply and the format that its log names. */
  async function load(): Promise<{ text: string | null; format: string | undefined }> {
    const lines: string[] = [];
    const client = createLocalModelClient({
      ...options,
      chatFormats: path.join(folder, 'formats'),
      onLog: (line) => lines.push(line),
    });
    try {
      const { content } = await new Talk(client).ask('Hello');
      return {
        text: String(content),
        format: lines.map((line) => /^chat wrapper: auto is (\w+)/.exec(line)?.[1]).find(Boolean),
      };
    } finally {
      await client.dispose();
    }
  }

  it('is found once, and remembered by the hash of the template', async () => {
    const found = await load();
    const [name, ...more] = readdirSync(path.join(folder, 'formats'));
    assert.match(name!, /^[0-9a-f]{32}$/);
    assert.deepEqual(more, []);
    const file = path.join(folder, 'formats', name!);
    assert.equal(readFileSync(file, 'utf8'), 'qwen');
    assert.deepEqual(await load(), found);

    writeFileSync(file, 'jinjaTemplate');
    assert.notEqual((await load()).format, found.format); // it is used
    assert.equal(readFileSync(file, 'utf8'), 'jinjaTemplate');

    writeFileSync(file, 'not a format');
    assert.deepEqual(await load(), found);
    assert.equal(readFileSync(file, 'utf8'), 'qwen');
  });
});
