import assert from 'node:assert/strict';
import type { ToolCall } from '../../../src/protocol/content/messages.ts';
import type { RunEventBody } from '../../../src/protocol/run/events.ts';
import { applyEvent } from '../../../src/protocol/run/fold.ts';
import { newRun, type Run } from '../../../src/protocol/run/run.ts';
import { type CallFold, callFoldText, RunCallFolds } from '../../../webview/cards/folding.ts';
import { begin, eventsOf } from '../conversation.ts';

const read = (id: string, path = id): ToolCall => ({ id, name: 'fs.read', arguments: { path } });
const search = (id: string): ToolCall => ({ id, name: 'fs.search', arguments: { pattern: id } });
const edit = (id: string): ToolCall => ({ id, name: 'fs.edit', arguments: { path: id } });
const plan = (id: string): ToolCall => ({ id, name: 'plan.update', arguments: { items: [] } });

const says = (content: string, ...toolCalls: ToolCall[]): RunEventBody => ({
  type: 'message',
  message: { role: 'assistant', content, ...(toolCalls.length > 0 && { toolCalls }) },
});
const thinks = (thinking: string, ...toolCalls: ToolCall[]): RunEventBody => ({
  type: 'message',
  message: { role: 'assistant', content: '', thinking, toolCalls },
});
const starts = (...calls: ToolCall[]): RunEventBody[] =>
  calls.map(({ id, name }) => ({ type: 'tool-start', toolCallId: id, name }));
const ends = (calls: ToolCall[], code?: string): RunEventBody[] =>
  calls.flatMap(({ id, name }) => [
    ...starts({ id, name, arguments: {} }),
    { type: 'tool-end', toolCallId: id, name, ok: code === undefined, ms: 1, ...(code && { code }) },
  ]);
const turn = (...calls: ToolCall[]): RunEventBody[] => [says('', ...calls), ...ends(calls)];

/** A run that is told piece by piece, as it is drawn after each. */
function told(...pieces: RunEventBody[][]) {
  const folding = new RunCallFolds();
  const run = newRun('run-1');
  let seq = 0;
  for (const piece of [begin, ...pieces]) {
    for (const event of eventsOf('run-1', piece, seq)) applyEvent(run, event);
    seq += piece.length;
    folding.look(run, () => false);
  }
  return { folding, run, drawn: drawn(folding, run) };
}

/** `Read 2 files, searched once [a b c]` for a fold, the id of a call for a card of its own; a line per message. */
function drawn(folding: RunCallFolds, run: Run): string[] {
  const fold = ({ calls }: CallFold) => {
    const { words, failed } = callFoldText(run, calls);
    return `${words}${failed ? ` · ${failed} failed` : ''} [${calls.map(({ id }) => id).join(' ')}]`;
  };
  return run.messages.flatMap((message, at) => {
    const parts = folding.at(at).parts.map((part) => ('calls' in part ? fold(part) : part.id));
    return message.role === 'assistant' && parts.length > 0 ? [parts.join(', ')] : [];
  });
}

describe('What only reads', () => {
  const stories: [name: string, pieces: RunEventBody[][], drawn: string[]][] = [
    ['folds within a reply and across replies', [turn(read('a'), search('b')), turn(read('c'), search('d'))],
      ['Read 2 files, searched twice [a b c d]']],
    ['is one file, however often it was read', [turn(read('a', 'x'), read('b', 'x'))], ['Read a file [a b]']],
    ['is one file, however its path was spelled', [
      [says('', read('a', 'x'), read('b', '/x')), { type: 'call-arguments', toolCallId: 'b', arguments: { path: 'x' } }, ...ends([read('a'), read('b')])],
    ], ['Read a file [a b]']],
    ['folds also over what was thought', [turn(read('a')), [thinks('hm', read('b')), ...ends([read('b')])]], ['Read 2 files [a b]']],
    ['is parted by words', [turn(read('a'), read('b')), [says('Now.', read('c')), ...ends([read('c')])]],
      ['Read 2 files [a b]', 'Read a file [c]']],
    ['is parted by what a person says', [turn(read('a')), [{ type: 'message', message: { role: 'user', content: 'And?' } }], turn(read('b'))],
      ['Read a file [a]', 'Read a file [b]']],
    ['is parted by what changes something, which is a card', [turn(read('a'), edit('e'), read('b')), turn(read('c'))],
      ['Read a file [a], e, Read 2 files [b c]']],
    ['goes on over the plan, which is no card', [turn(plan('p'), read('a')), turn(plan('q')), turn(read('b'))], ['Read 2 files [a b]']],
    ['counts what failed', [[says('', read('a'), read('b')), ...ends([read('a')]), ...ends([read('b')], 'ENOENT')]],
      ['Read 2 files · 1 failed [a b]']],
    ['leaves out what was denied', [[says('', read('a'), read('b')), ...ends([read('a')]), { type: 'approval', toolCallId: 'b', decision: 'deny', waitedMs: 1 }]],
      ['Read a file [a], b']],
    ['leaves out what waits for the person, and what the person allowed',
      [[says('', read('a'), read('b'), read('c')), ...ends([read('a')]),
        { type: 'question', toolCallId: 'b', question: { id: 'q', what: '', where: '', why: '' } },
        { type: 'question', toolCallId: 'c', question: { id: 'r', what: '', where: '', why: '' } },
        { type: 'approval', toolCallId: 'c', decision: 'allow', waitedMs: 1 }, ...ends([read('c')])]],
      ['Read a file [a], b, c']],
    ['leaves out what did not run', [[says('', read('a'), read('b')), ...ends([read('a')]), { type: 'phase', phase: 'Failed' }]], ['Read a file [a], b']],
    ['folds while it runs', [turn(read('a')), [says('', read('b'), read('c')), ...starts(read('b'))]], ['Read 3 files [a b c]']],
  ]; // biome-ignore format: stories
  for (const [name, pieces, expected] of stories)
    it(name, () => {
      assert.deepEqual(told(...pieces).drawn, expected);
      const whole = told(pieces.flat());
      assert.deepEqual(whole.drawn, expected, 'as if it had been there from the beginning');
    });

  it('is at work as long as one of it is', () => {
    const { folding, run } = told(turn(read('a')), [says('', read('b')), ...starts(read('b'))]);
    assert.equal(callFoldText(run, folding.newest!.calls).mark, 'working');
    assert.equal(callFoldText(run, [read('a')]).mark, 'check');
  });

  it('has no check where a call has failed: a dot for some of them, a cross for all', () => {
    const { run } = told(turn(read('a'), read('b')));
    const marks = () =>
      [callFoldText(run, [read('a'), read('b')]), callFoldText(run, [read('a')])].map(({ mark }) => mark);
    assert.deepEqual(marks(), ['check', 'check']);
    run.calls.a!.ok = false;
    assert.deepEqual(marks(), ['dot', 'cross']);
    run.phase = 'Failed';
    assert.deepEqual(marks(), ['dot', 'cross']);
  });

  it('keeps the name of a fold while it grows, and draws the rest of it nowhere else', () => {
    const { folding } = told(turn(read('a')), turn(read('b')), turn(read('c')));
    assert.equal(folding.newest!.key, 'a');
    const withins = [1, 2, 3].map((at) => folding.at(at).within);
    assert.deepEqual(withins, [false, true, true]);
  });

  it('that has settled is not looked at again', () => {
    const folding = new RunCallFolds();
    const run = newRun('run-1');
    const bodies = [...begin, ...Array.from({ length: 2000 }, (_, at) => [says(`${at}`, read(`r${at}`)), ...ends([read(`r${at}`)])]).flat()]; // biome-ignore format: one line
    for (const event of eventsOf('run-1', bodies)) applyEvent(run, event);
    const look = () => {
      let looked = 0;
      folding.look(run, () => {
        looked++;
        return false;
      });
      return looked;
    };
    assert.equal(look(), run.messages.length);
    assert.equal(look(), 0);
    for (const event of eventsOf('run-1', turn(read('new')), run.seq)) applyEvent(run, event);
    const again = look();
    assert.ok(again <= 4, `${again} messages were looked at`);
  });
});
