import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { ApprovalBasis } from '../../../src/protocol/content/approvalBasis.ts';
import { type failedToolOutcome, outcomeDetails } from '../../../src/protocol/content/tools.ts';
import {
  abortReasonOf,
  approvalBasisOfFormerText,
  isUnreadMention,
  mentionNoteOfFormerText,
  noteOfFormerText,
  outcomeReasonOf,
} from '../../../src/protocol/run/formerText.ts';
import type { CallState } from '../../../src/protocol/run/run.ts';
import { message, setLanguage } from '../../../src/protocol/text/l10n.ts';
import { localize } from '../../../src/protocol/text/localized.ts';
import { readOnlyCommandsRuleId } from '../../../src/tools/core/commandPart.ts';
import { cardLine, cardLineAriaLabel } from '../../../webview/cards/cardLine.ts';
import { automaticDecisionText } from '../../../webview/cards/failureReason.ts';

/** Text of earlier versions, word for word; it never changes with the present text. */
describe('what earlier versions stored in words alone', () => {
  const outcomes: [code: Parameters<typeof failedToolOutcome>[0], message: string, reason: string | undefined][] = [
    ['TOOL_DENIED', 'Too many calls in one answer: only the first 100 are looked at. This one did not run, and nobody was asked about it; ask again for what is still needed.', 'TOO_MANY_CALLS'],
    ['TOOL_DENIED', 'The run ended before this was answered. It did not run.', 'RUN_ENDED'],
    ['TOOL_DENIED', 'The person did not allow this. Nothing was run.', undefined],
    ['TOOL_INTERRUPTED', 'The run ended before the person answered. Ask again if it still matters.', 'RUN_ENDED'],
    ['TOOL_INTERRUPTED', 'The run ended while this was running. It may have had its effect: check before doing it again.', 'RUN_ENDED'],
    ['TOOL_INTERRUPTED', 'This run was imported from a file. The call did not run here.', 'IMPORTED'],
    ['TOOL_INTERRUPTED', 'Stopped while it ran; the command was ended with its children.', undefined],
    ['TOOL_EXEC_FAILED', 'It wrote more than 100 MiB and was ended. Write less, or to a file.', 'OUTPUT_LIMIT'],
    ['TOOL_EXEC_FAILED', 'It failed.', undefined],
    ['TOOL_ARGS_INVALID', 'pattern: regex parse error:\nFor literal text, set fixed to true.', 'PATTERN_INVALID'],
  ]; // biome-ignore format: a table
  for (const [code, message, reason] of outcomes)
    it(`has its reason: ${message.slice(0, 60)}`, () => {
      assert.equal(outcomeReasonOf({ code, message }), reason);
      assert.equal(
        outcomeReasonOf({ code, message: 'Another sentence.', details: outcomeDetails('IMPORTED') }),
        'IMPORTED',
      );
      assert.equal(outcomeReasonOf({ code, message: 'Another sentence.' }), undefined);
    });

  it('tells a run whose editor closed from one that was stopped', () => {
    const closed =
      'The editor closed while this run was at work. Nothing was lost; what had not been answered did not run.';
    assert.equal(abortReasonOf({ code: 'ENGINE_ABORTED', message: closed }), 'closed');
    assert.equal(abortReasonOf({ code: 'ENGINE_ABORTED', message: 'Another.', reason: 'closed' }), 'closed');
    assert.equal(abortReasonOf({ code: 'ENGINE_ABORTED', message: 'Stopped.' }), undefined);
    assert.equal(abortReasonOf({ code: 'UNKNOWN', message: closed }), undefined);
  });

  const rule = (what: string, scope = 'user') => ({ scope, what });
  const decisions: [automatic: string, basis: ApprovalBasis | undefined][] = [
    ['Allowed because this command only reads.', { by: 'read-only-command' }],
    ['Allowed because reads are free.', { by: 'preset', preset: 'reads-free' }],
    ['Allowed because edits are free.', { by: 'preset', preset: 'edits-free' }],
    ['Allowed because autopilot is on.', { by: 'preset', preset: 'autopilot' }],
    ['It ends a command of this run.', { by: 'command-of-run' }],
    ["The run's own.", { by: 'of-run' }],
    ['Allowed earlier in this run: fs.edit.', { by: 'grant', grant: 'fs.edit' }],
    ['Denied by your rule “shell.run”.', { by: 'rules', rules: [rule('shell.run')] }],
    ['Allowed by your rule for this workspace “fs.edit src/**”.', { by: 'rules', rules: [rule('fs.edit src/**', 'workspace')] }],
    ['Allowed by your rule “shell.run a and b” and your rule for this workspace “shell.run c”.', { by: 'rules', rules: [rule('shell.run a and b'), rule('shell.run c', 'workspace')] }],
    ['Allowed by your rule “mcp.docs.* of “npx docs””.', { by: 'rules', rules: [rule('mcp.docs.* of “npx docs”')] }],
    ['Reads are free.', undefined],
  ]; // biome-ignore format: a table
  for (const [automatic, basis] of decisions)
    it(`is the basis of a decision: ${automatic}`, () => assert.deepEqual(approvalBasisOfFormerText(automatic), basis));

  const line = (state: CallState) => cardLineAriaLabel(cardLine({ call: { id: 'c', name: 'shell.run', arguments: { command: 'make' } }, phase: 'Running', now: 0, state })); // biome-ignore format: one line
  for (const decision of ['allow', 'deny'] as const)
    for (const [automatic, basis] of decisions.filter(([, basis]) => basis && (basis.rules || decision === 'allow')))
      it(`is shown as the code is that replaced it: ${decision}, ${automatic}`, () => {
        const state: CallState = { status: 'done', ok: true, decision };
        const said = `${decision === 'deny' ? 'Denied' : 'Another'} sentence.`;
        assert.equal(line({ ...state, automatic: said, basis }), line({ ...state, automatic }));
        if (decision === 'allow')
          assert.equal(
            automaticDecisionText({ ...state, automatic: said, basis }),
            automaticDecisionText({ ...state, automatic }),
          );
      });

  it('has the sentences of a note beside a mention, each for its own translation', () => {
    assert.deepEqual(mentionNoteOfFormerText('lines 3-9 of 40'), message('lines {0}-{1} of {2}', '3', '9', '40'));
    const names = mentionNoteOfFormerText('Not read: a (asked about), b (b) (no space), more.');
    const told = { 'asked about': 'gefragt', 'no space': 'kein Platz', 'Not read: {0}.': 'Nicht gelesen: {0}.' };
    setLanguage('de', told);
    try {
      assert.equal(localize(names), 'Nicht gelesen: a (gefragt), b (b) (kein Platz), more.');
    } finally {
      setLanguage('en');
    }
    assert.equal(mentionNoteOfFormerText('main.ts'), 'main.ts');
    assert.deepEqual([isUnreadMention({ note: 'not read' }), isUnreadMention({ note: 'none' })], [true, false]);
  });

  it('has the sentence of a note to the model', () => {
    assert.deepEqual(noteOfFormerText('The user has redone your changes of: a. Read again before you edit.'), {
      line: message('You redid the changes in {0}', 'a'),
      whole: true,
    });
    assert.deepEqual(noteOfFormerText('The person has taken back all of your changes of a.\nRead'), {
      line: message('The model is informed: you {0}', message('have undone all of its changes to {0}', 'a')),
    });
    assert.deepEqual(noteOfFormerText('Anything\nelse'), { line: message('The model is informed: {0}', 'Anything') });
  });

  it('names the row of reading commands in stored rules by the same id', () =>
    assert.equal(readOnlyCommandsRuleId, 'commands that only read'));

  it('is understood wherever a stored run of an earlier version has it', () => {
    const folder = path.resolve(import.meta.dirname, '../../fixtures/kept');
    const journals = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((one) => one.endsWith('.jsonl'));
    const text = journals.map((one) => readFileSync(path.join(folder, one), 'utf8')).join('');
    const lines = text.split('\n').filter((line) => !line.includes('"basis":')); // the form for code
    const automatic = lines.flatMap((line) => /"automatic":"((?:[^"\\]|\\.)*)"/.exec(line)?.[1] ?? []);
    assert.ok(automatic.length > 0);
    assert.deepEqual(
      automatic.filter((one) => !approvalBasisOfFormerText(one)),
      [],
    );
  });
});
