import assert from 'node:assert/strict';
import type { RunEventBody, StoredFileChange } from '../../../src/protocol/run/events.ts';
import { applyEvent } from '../../../src/protocol/run/fold.ts';
import { newRun } from '../../../src/protocol/run/run.ts';
import { eventsOf } from '../../webview/conversation.ts';

describe('the files that a run has changed', () => {
  const change = (path: string, before: string | null, after: string | null): StoredFileChange => ({
    path,
    before,
    after,
  });
  const did = (changes: StoredFileChange[], more: object = {}): RunEventBody =>
    ({
      type: 'tool-end',
      toolCallId: `c${changes[0]?.path}${changes[0]?.after}`,
      name: 'fs.edit',
      ok: true,
      ms: 1,
      changes,
      ...more,
    }) as RunEventBody;
  const fold = (...bodies: RunEventBody[]) => {
    const run = newRun('run-1');
    for (const event of eventsOf('run-1', bodies)) applyEvent(run, event);
    return Object.fromEntries(Object.entries(run.files ?? {}).map(([path, { at: _, ...file }]) => [path, file]));
  };

  const cases: [name: string, events: RunEventBody[], files: object][] = [
    ['are as before the first and after the last change', [did([change('a', '1', '2')]), did([change('a', '2', '3')])],
      { a: { before: '1', after: '3' } }],
    ['know that somebody else was at one between', [did([change('a', '1', '2')]), did([change('a', 'mine', '3')])],
      { a: { before: '1', after: '3', mixed: true } }],
    ['are no more what is as it was', [did([change('a', null, '2'), change('b', '1', '2')]), did([change('a', '2', null)])],
      { b: { before: '1', after: '2' } }],
    ['lose what is undone', [did([change('a', '1', '2')]), did([change('a', '2', '3')]),
      { type: 'undo', toolCallIds: ['ca3'], changes: [change('a', '3', '2')] }], { a: { before: '1', after: '2' } }],
    ['go with the folder that they are in, and back',
      [did([change('x/a', '1', '2')]), did([], { moved: { from: 'x', to: 'y' } })],
      { 'y/a': { before: '1', after: '2' }, y: { before: '', after: '', from: 'x' } }],
    ['come back with it', [did([change('x/a', '1', '2')]), did([], { moved: { from: 'x', to: 'y' } }),
      { type: 'undo', toolCallIds: ['m'], changes: [], paths: ['y'] }], { 'x/a': { before: '1', after: '2' } }],
    ['are not those of the run’s own place', [did([change('@state/a', null, '2')])], {}],
    ['know what the model has heard of them', [did([change('a', '1', '2')]),
      { type: 'message', message: { role: 'system', content: '' }, edits: [{ path: 'a', now: null }] }],
      { a: { before: '1', after: '2', told: null } }],
  ]; // biome-ignore format: a table
  for (const [name, events, files] of cases) it(name, () => assert.deepEqual(fold(...events), files));
});
