import assert from 'node:assert/strict';
import { checksAsJson, checksAsMarkdown } from '../../src/check/report.ts';
import { type CheckResult, shortCheckResult } from '../../src/check/taskResult.ts';

const task = (id: string, why?: string) => ({
  ...{ id, title: `Task ${id}`, passed: why === undefined, ...(why !== undefined && { why }) },
  ...{ ms: 61_000, replies: 2, prompt: 4000, cached: 3500, written: 1200 },
});

const small: CheckResult = {
  ...{
    'towpath-check': 1,
    model: 'local/models/small.gguf',
    at: Date.UTC(2026, 10, 24, 12),
    towpath: '0.1.0',
    window: 8192,
  },
  ...{ of: 2, tasks: [task('one'), task('two', 'It said | and\nnothing else.')], writtenPerSecond: 6.25, cost: 0 },
};
const large: CheckResult = {
  ...{ 'towpath-check': 1, model: 'openai/large', at: Date.UTC(2026, 10, 24, 12), towpath: '0.1.0', of: 2 },
  ...{ tasks: [task('one')], readPerSecond: 2400, writtenPerSecond: 81, ended: 'It was stopped.' },
};

describe('What came of checking models', () => {
  it('is a few words in a list', () => {
    assert.equal(shortCheckResult(small), '1 of 2 tasks · 6.3 tokens/s');
    assert.equal(shortCheckResult({ ...large, writtenPerSecond: undefined }), '1 of 2 tasks');
  });

  it('is a page on which they stand beside each other', () => {
    const [table, first, second] = checksAsMarkdown([small, large]).split('\n## ');
    assert.equal(
      table,
      `# Model check results

- **small:** 1 of 2 tasks done.
- **openai/large:** 1 of 2 tasks done, 1 not run. It was stopped.

|  | small | openai/large |
| --- | :-: | :-: |
| Task one | ✓ | ✓ |
| Task two | ✗ | – |
| *Done* | **1 of 2** | **1 of 2** |
| *Generation, tokens/s* | 6.3 | 81 |
| *Reading, tokens/s* | unknown | 2,400 |
| *Time* | 2 min | 61 s |
| *Tokens sent* | 8,000 | 4,000 |
| *… from a cache* | 7,000 | 3,500 |
| *Tokens generated* | 2,400 | 1,200 |
| *Window* | 8,192 | unknown |
| *Cost* | $0 | unknown |
`,
    );
    assert.match(first!, /^small\n\nChecked on 24 Nov 2026 with Towpath 0\.1\.0\. Model file: models\/small\.gguf\n/);
    assert.match(first!, /^\| Task two \| It said \\\| and.*nothing else\. \|$/m, 'a cell stays a cell');
    assert.match(second!, /^openai\/large\n\nChecked on 24 Nov 2026 with Towpath 0\.1\.0\.\n/);
  });

  it('names two model files of the same name with their folders', () => {
    const other = { ...small, model: 'local/downloads/small.gguf' };
    const heads = [...checksAsMarkdown([small, other, large]).matchAll(/^## (.+)$/gm)].map(([, head]) => head);
    assert.deepEqual(heads, ['models/small.gguf', 'downloads/small.gguf', 'openai/large']);
  });

  it('is nothing yet, with the way to it', () => assert.match(checksAsMarkdown([]), /None yet\. \*Check This Model\*/));

  it('is JSON for programs', () =>
    assert.deepEqual(JSON.parse(checksAsJson([small])), { 'towpath-checks': 1, checks: [small] }));
});
