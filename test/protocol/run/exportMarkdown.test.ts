import assert from 'node:assert/strict';
import { runToMarkdown } from '../../../src/protocol/run/exportMarkdown.ts';
import { runOf } from '../../webview/conversation.ts';
import { givesTasks, taskBegins, taskHasRead, taskResult } from '../../webview/tasks.ts';

describe('A run as Markdown', () => {
  it('ends with the conversations of its tasks, under their titles', () => {
    const run = runOf('run-1', [
      ...givesTasks(['t1', 'Review the parser']),
      ...taskBegins('t1'),
      ...taskHasRead('t1'),
      ...taskResult('t1', 'No mistakes.'),
    ]);
    const text = runToMarkdown(run, (one) => one);
    assert.equal(
      text.slice(text.indexOf('I give')),
      `I give this to others.

- \`task.run\`

## reviewer: Review the parser

> Review the parser: look for mistakes.

I read the parser.

- \`fs.read\` \`src/parse.ts\`
`,
    );
  });
});
