import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { NarrowedApprovalRules } from '../../../src/extension/approvals/narrowedRules.ts';
import { DecisionFile } from '../../../src/extension/settings/decisionFile.ts';
import { toEnglishText } from '../../../src/protocol/text/l10n.ts';

const command = (more: object) => ({ effect: 'allow', tool: 'shell.run', ...more });
const stored = [
  command({ kind: 'looks' }),
  command({ kind: 'asks', folder: 'packages/api' }),
  command({ kind: 'checks' }),
  command({ command: 'eslint', varies: true }),
  command({ command: 'npm test' }),
  command({ kind: 'loads' }),
  { effect: 'deny', tool: 'shell.run', command: 'git push' },
  { effect: 'allow', tool: 'fs.edit', path: 'src/**' },
  'no rule',
];

describe('rules of before that cover less', () => {
  let folder: string;
  const memories = () => ({
    workspace: new DecisionFile(path.join(folder, 'workspace.json')),
    user: new DecisionFile(path.join(folder, 'user.json')),
  });
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'narrowed-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('are told once for each memory, by whatever window', () => {
    const rules = new NarrowedApprovalRules(memories());
    assert.deepEqual([rules.find('user', stored), rules.find('workspace', stored)], [true, true]);
    const again = new NarrowedApprovalRules(memories());
    assert.deepEqual([again.find('user', stored), again.find('workspace', stored)], [false, false]);
  });

  it('each say what they no longer cover, and others nothing', () => {
    const rules = new NarrowedApprovalRules(memories());
    rules.find('user', stored);
    const reasons = stored.map((rule) => {
      const reason = rules.reason('user', rule);
      return reason && toEnglishText(reason).replace(/^No longer covers (the )?(\w+).*/, '$2');
    });
    assert.deepEqual(reasons, ['commands', 'commands', 'scripts', 'project', ...Array(5).fill(undefined)]);
    assert.equal(rules.reason('workspace', stored[0]), undefined);
  });

  it('are none of those that are made later', () => {
    const rules = new NarrowedApprovalRules(memories());
    assert.equal(rules.find('workspace', []), false);
    assert.equal(rules.find('workspace', stored), false);
    assert.deepEqual(
      stored.filter((rule) => rules.reason('workspace', rule)),
      [],
    );
  });

  it('do not hinder a start whose memory cannot be written or read', () => {
    writeFileSync(path.join(folder, 'file'), '');
    const broken = new DecisionFile(path.join(folder, 'file', 'a.json'));
    const rules = new NarrowedApprovalRules({ workspace: broken, user: broken });
    assert.equal(rules.find('user', stored), false);
    assert.equal(rules.reason('user', stored[0]), undefined);
  });
});
