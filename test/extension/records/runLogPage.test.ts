import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { RunLogChannel, storedRunLog } from '../../../src/extension/records/runLogPage.ts';
import { LLMError } from '../../../src/llm/core/errors.ts';
import { Conversation } from '../../engine/conversation.ts';
import { call } from '../../support/scriptedClient.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';

const key = 'a-key-of-nobody-1234';
const secretWords = 'the plan of the century';

describe('the log of a run', () => {
  let talk: Conversation;
  let logs: RunLogChannel;
  const shown: string[] = [];
  const channel = (level: string) => (text: string) => shown.push(`${level} ${text}`);
  const plain = (text: string) =>
    text
      .replaceAll(talk.workspace.root, '(folder)')
      .replaceAll(/(?<=^\w+ )run-[0-9a-f]{8} /gm, '')
      .replaceAll(/\b[\d,.]+ m?s\b/g, 'N ms')
      .replaceAll(/\b[\d,.]+ (tokens|tools)\b/g, 'N $1');

  beforeEach(async () => {
    shown.length = 0;
    const workspace = await temporaryWorkspace({ 'a.txt': `one ${secretWords}\n` });
    talk = new Conversation(workspace, [
      { error: new LLMError('LLM_RATE_LIMITED', `Slow down (${key}).`, { retryable: true }) },
      { text: secretWords, calls: [call('fs.read', { path: 'a.txt' }, 'r')] },
      {
        calls: [
          call('shell.run', { command: `echo ${key}; exit 3` }, 's'),
          call('fs.write', { path: 'b.txt', content: secretWords }, 'w'),
        ],
      },
      { text: secretWords },
    ]);
    const levels = { debug: channel('debug'), info: channel('info'), warn: channel('warn'), error: channel('error') };
    logs = new RunLogChannel(levels, async () => [key]);
    talk.told = (event) => logs.onEvent(event);
  });
  afterEach(() => talk.end());

  it('tells a run as it goes, and no word of it', async () => {
    talk.answers = [{ decision: 'allow' }, { decision: 'deny', words: secretWords }];
    await talk.start(secretWords);
    await logs.written();
    assert.ok(!shown.join('\n').match(/century|nobody/));
    const told = shown.filter((line) => !line.startsWith('debug')).map(plain);
    const isRead = (line: string) => line.includes('fs.read'); // reads begin while the model still writes
    assert.deepEqual(told.filter(isRead), ['info fs.read [r] begins', 'info fs.read [r] done in N ms']);
    assert.deepEqual(
      told.filter((line) => !isRead(line)),
      `info run begins: workflow chat, agent towpath, model scripted/one
info the person says 23 characters
info at work.
info asking scripted/one: 1 message, N tools, about N tokens
warn scripted/one gives no answer at try 1: LLM_RATE_LIMITED: Slow down ([key]). Tried again after N ms.
info scripted/one answers in N ms, N ms of it waiting, at try 2: N tokens read, 5 written (sent 1 message, N tools, about N tokens)
info asking scripted/one: 3 messages, N tools, about N tokens
info scripted/one answers in N ms: N tokens read, 5 written (sent 3 messages, N tools, about N tokens)
info call [s] asks: Run a command ((folder)): \`echo [key]; exit 3\`
info call [w] asks: Create b.txt ((folder)/b.txt)
info shell.run [s] is allowed after N ms
info fs.write [w] is denied after N ms, with words
info shell.run [s] begins: \`echo [key]; exit 3\` in (folder)
info shell.run [s] done in N ms, exit code 3
warn fs.write [w] failed after N ms: TOOL_DENIED
info asking scripted/one: 6 messages, N tools, about N tokens
info scripted/one answers in N ms: N tokens read, 5 written (sent 6 messages, N tools, about N tokens)
info rests.`.split('\n'),
    );
  });

  it('can be copied from the record, damaged as it may be, with what it ran in', async () => {
    await talk.start(secretWords);
    const journal = path.join(talk.folder, 'runs', readdirSync(path.join(talk.folder, 'runs'))[0]!, 'journal.jsonl');
    writeFileSync(journal, `${readFileSync(journal, 'utf8')}torn`);
    const text = storedRunLog(await talk.store.events(talk.runId), ['Towpath 1, on /home/ada'], {
      secrets: [key],
      home: talk.workspace.root,
    });
    assert.ok(!text.match(/century|nobody/) && !text.includes(talk.workspace.root), text);
    assert.match(
      text,
      /^Towpath 1, on ~\nThe record is damaged: its last line is torn \(4 bytes from byte \d+\)\.\n\n20/,
    );
    assert.match(text, /\[warn\] scripted\/one gives no answer at try 1: LLM_RATE_LIMITED: Slow down \(\[key\]\)\./);
    assert.match(text, /\[info\] shell\.run \[s\] done in .*, exit code 3\n/);
    assert.match(text, /\[info\] fs\.write \[w\] begins: b\.txt \(new\)\n/);
  });

  it('shows nothing while it does not know what must not be shown', async () => {
    logs = new RunLogChannel({ debug: channel('d'), info: channel('i'), warn: channel('w'), error: channel('e') }, () =>
      Promise.reject(new Error('locked')),
    );
    await talk.start('hi');
    await logs.written();
    assert.deepEqual(shown, []);
  });
});
