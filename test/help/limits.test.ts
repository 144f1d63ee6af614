import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { helpPageList } from '../../src/help/pages.ts';
import { mcpCallResultData } from '../../src/tools/mcp/callResult.ts';
import { loadPackage } from '../../src/workflows/package/load.ts';
import { loadWorkflow } from '../../src/workflows/read/validate.ts';
import { programFiles } from '../support/connecting.ts';
import { readPage } from '../support/help/pages.ts';
import { temporaryWorkspace } from '../support/workspace.ts';
import { conversation } from '../tools/conversation.ts';
import { builderFiles } from '../workflows/package/builderSample.ts';

const root = path.resolve(import.meta.dirname, '../..');
const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
const source = [...programFiles(path.join(root, 'src'))];

/** Throws when a program file uses one of these names: the feature exists then. */
const isNotUsed = (names: RegExp, folder = '') => {
  const users = source.filter(([file, text]) => file.startsWith(folder) && names.test(text)).map(([file]) => file);
  assert.deepEqual(users, []);
};

/** Throws unless a package whose file is changed so is rejected, and the unchanged one is not. */
async function isRejected(file: string, change: (value: string) => string): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'limits-'));
  try {
    for (const [name, text] of Object.entries(builderFiles)) {
      mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
      writeFileSync(path.join(folder, name), text);
    }
    await loadPackage(folder);
    const changed = change(builderFiles[file]!);
    assert.notEqual(changed, builderFiles[file]);
    writeFileSync(path.join(folder, file), changed);
    await assert.rejects(loadPackage(folder));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const withMenuItem = (item: object) => (text: string) => {
  const value = JSON.parse(text);
  value.agents[0].menu = [item];
  return JSON.stringify(value);
};

/** Names of the offered tools that change or run something. */
async function changingTools(state: 'untrusted' | 'virtual'): Promise<string[]> {
  const workspace = await temporaryWorkspace();
  try {
    const virtual = {} as NonNullable<typeof workspace.virtual>;
    const { host } = conversation(state === 'untrusted' ? { ...workspace, trusted: false } : { ...workspace, virtual });
    const { host: full } = conversation(workspace);
    const changing = ['fs.write', 'fs.edit', 'fs.move', 'fs.delete', 'shell.run'];
    const names = ({ getVisibleTools }: typeof host) => getVisibleTools({ agentId: 'default' }).map(({ name }) => name);
    assert.deepEqual(
      changing.filter((name) => !names(full).includes(name)),
      [],
    );
    return changing.filter((name) => names(host).includes(name));
  } finally {
    workspace.cleanup();
  }
}

const hasNoOtherSandbox = () => isNotUsed(/\bAppContainer\b/);
const isReadOnly = async () => assert.deepEqual(await changingTools('virtual'), []);

/** Beginning of each item below a heading *Limits*, and the check that fails once the item is not true any more. */
const checks: [start: string, check: () => void | Promise<void>][] = [
  ['No sandbox on Windows (macOS: preview)', hasNoOtherSandbox],
  [
    'An untrusted workspace has no tools that change or run anything',
    async () => assert.deepEqual(await changingTools('untrusted'), []),
  ],
  ['A virtual workspace is read-only', isReadOnly],
  ['No edits and no commands in a virtual workspace', isReadOnly],
  [
    'A run stops after 50 steps, unless you change `towpath.maxTurns`',
    () => {
      const settings = [manifest.contributes.configuration].flat();
      const found = settings.flatMap(({ properties }) => properties['towpath.maxTurns'] ?? []);
      assert.deepEqual(
        found.map((setting: { default: number }) => setting.default),
        [50],
      );
    },
  ],
  [
    'No GPU engine for NVIDIA or Vulkan is included',
    () => {
      const replaced = Object.keys(manifest.overrides).map((name) => name.replace('@node-llama-cpp/', ''));
      const kinds = ['cuda', 'cuda-ext', 'vulkan'];
      const engines = ['linux', 'win'].flatMap((system) => kinds.map((kind) => `${system}-x64-${kind}`));
      assert.deepEqual(
        engines.filter((engine) => !replaced.includes(engine)),
        [],
        'installed with the package',
      );
    },
  ],
  [
    'No Python in workflows',
    () => {
      const nodes = (value: string) => `nodes:\n  - name: a\n    run: ${value}\n`;
      assert.notEqual(loadWorkflow(nodes('"import os"'), { tools: [] }).problems.length, 0);
      assert.equal(
        loadWorkflow(nodes('{type: expression, value: 1 + 1, output_key: n}'), { tools: [] }).problems.length,
        0,
      );
    },
  ],
  ['No sampling', () => isNotUsed(/CreateMessageRequest|sampling\/createMessage|sampling: ?\{/, 'tools/mcp/')],
  [
    'Sounds in results are named and not played',
    () => {
      const data = mcpCallResultData({ content: [{ type: 'audio', mimeType: 'audio/wav', data: 'AAAA' }] });
      assert.match(JSON.stringify(data), /audio\/wav/);
      assert.doesNotMatch(JSON.stringify(data), /AAAA/);
    },
  ],
  [
    'No `subworkflow` nodes',
    () => isRejected('workflows/7/workflow.graph.json', (text) => text.replace('"step"', '"subworkflow"')),
  ],
  [
    'No classic workflows',
    () =>
      isRejected('agents.json', withMenuItem({ trigger: 'x', description: 'X', workflow: '{project-root}/x.yaml' })),
  ],
  [
    'No menu items with several commands',
    () =>
      isRejected(
        'agents.json',
        withMenuItem({ description: 'X', triggers: [{ type: 'handler', match: 'y', exec: 'assets/look.md' }] }),
      ),
  ],
  [
    'No `maxReadBytes` below 65,536',
    () =>
      isRejected('agents.json', (text) => {
        const value = JSON.parse(text);
        value.agents[0].tools.fs.maxReadBytes = 65_535;
        return JSON.stringify(value);
      }),
  ],
  ['No completions while you type', () => isNotUsed(/registerInlineCompletionItemProvider/)],
];

/** Items of the lists below headings *Limits*, by their page. */
const limits = [
  ['README.md', readFileSync(path.join(root, 'README.md'), 'utf8')] as const,
  ...helpPageList.filter(({ name }) => name !== 'developing').map(({ name }) => [name, readPage(name)] as const),
].flatMap(([name, text]) =>
  [...text.matchAll(/^## Limits\n([\s\S]*?)(?=^## |$(?![\s\S]))/gm)].flatMap(([, list]) =>
    [...list!.matchAll(/^- (.*)/gm)].map(([, item]) => ({ name, item: item! })),
  ),
);

describe('The limits that the pages list', () => {
  for (const { name, item } of limits)
    it(`${name}: ${item}`, async () => {
      const [, check] = checks.find(([start]) => item.startsWith(start)) ?? [];
      assert.ok(check, 'has a check in this file');
      await check();
    });

  it('are all that is checked', () => {
    const unused = checks.filter(([start]) => !limits.some(({ item }) => item.startsWith(start)));
    assert.deepEqual(
      unused.map(([start]) => start),
      [],
    );
  });

  it('are listed below the heading, not in other sections', () => {
    for (const { name } of helpPageList) {
      const text = readPage(name).replaceAll(/^## Limits\n[\s\S]*?(?=^## |$(?![\s\S]))/gm, '');
      assert.doesNotMatch(text, /not (?:yet )?supported|does not support|not there\b|not yet/i, name);
    }
  });
});
