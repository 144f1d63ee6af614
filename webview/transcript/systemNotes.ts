import { html, type TemplateResult } from 'lit-html';
import { formerCommandEndForms } from '../../src/protocol/run/formerText.ts';
import {
  escapeInvisibleInLine,
  escapeInvisibleInProseLine,
  escapeInvisibleProse,
} from '../../src/protocol/text/escapeInvisible.ts';
import { t } from '../../src/protocol/text/l10n.ts';
import { matchSentenceForm } from '../../src/protocol/text/pluralForms.ts';
import type { rememberOpenState } from '../context.ts';
import { icons } from '../icons.ts';

/** Known forms of system notes, stored in English: about the model, with the user as “you”. */
const forms = [
  'continued without its window',
  'ended after its window',
  'ended with its window or its run',
  'was stopped: it wrote more than 100 MiB',
  'timed out',
  'was stopped by you',
  'was stopped',
  'was killed ({0})',
  'exited with code {0}',
  'have undone all of its changes to {0}',
  'have undone {0} of its {1} changes to {2}, and made other changes',
  'have undone {0} of its {1} changes to {2}',
  'have undone {0} of its {1} change to {2}, and made other changes',
  'have undone {0} of its {1} change to {2}',
  'have deleted {0}, which it had changed',
  'have changed {0} since then',
  'have restored, as in this conversation: {0}. Read again before you edit',
  'No longer there: {0}. Its instructions no longer apply.',
  'Instruction files of this workspace have changed. They now contain:',
  'A part of the record of this conversation was damaged: {0}. What came after it is not in this conversation. This much of it could be read, as data:',
  'Part of the record of this conversation is damaged: {0}. Its contents are lost. Calls that are missing from it may have run: check the current state before you change or run anything again.',
] as const;

/** Translates a system note; unknown text stays. The first matching form counts. */
function systemNoteText(words: string): string {
  const found = matchSentenceForm<string>([...forms, ...formerCommandEndForms], words);
  return found ? t(found.form as (typeof forms)[number], ...found.values) : words;
}

/** System note to the model: the user sees its subject and can open the text. */
export function systemNote(
  content: string,
  isOpen: boolean,
  toggled: ReturnType<typeof rememberOpenState>,
): TemplateResult {
  const undone = /^The person has undone your changes of: ([\s\S]*)\. Read again before you edit\.$/.exec(content)?.[1];
  if (undone !== undefined)
    return html`<p class="ending" data-role="system">${t('You undid the changes in {0}', escapeInvisibleInProseLine(undone))}</p>`;
  const redone = /^The user has redone your changes of: ([\s\S]*)\. Read again before you edit\.$/.exec(content)?.[1];
  if (redone !== undefined)
    return html`<p class="ending" data-role="system">${t('You redid the changes in {0}', escapeInvisibleInProseLine(redone))}</p>`;
  const isBrief = content.startsWith('RUN_DIRECTIVE\n');
  const title = isBrief ? briefTitle(content) : noteTitle(content);
  return html`<details class="thinking brief" data-role=${isBrief ? 'brief' : 'system'}
    ?open=${isOpen} @toggle=${toggled}><summary><span class="twistie">${icons.chevron}</span><span class="brief-title">${title}</span></summary><pre>${escapeInvisibleProse(content)}</pre></details>`;
}

const briefTitle = (brief: string): string =>
  escapeInvisibleInLine(t('Node {0}, as {1}', fieldOf(brief, 'currentNodeId'), fieldOf(brief, 'effectiveAgentId')));

/** First sentence of a note, with the user as “you” and the model as “it”, without internal names. */
function noteTitle(content: string): string {
  if (content.startsWith('NODE_REMINDER\n'))
    return escapeInvisibleInLine(t('The model is reminded of what node {0} still needs', fieldOf(content, 'nodeId')));
  const first = escapeInvisibleInProseLine(content.trim().split('\n', 1)[0]!);
  const end = /^The command "(.*)" \([^()]*\) in the background (.*?)\.(?: What it wrote: output\.read .*)?$/.exec(
    first,
  );
  if (end) return endTitle(end[1]!.replace(/\\(["\\])/g, '$1'), end[2]!.replace('the person', 'you'));
  if (first.startsWith('Of files that you have come to,'))
    return t('Instructions of this workspace for the files that the model has opened');
  const edit = /^The person( \(or a command\))? has (.*)$/.exec(first);
  if (edit) {
    const did = systemNoteText(`have ${asItsOwn(edit[2]!)}`);
    return edit[1] ? t('The model is informed: you (or a command) {0}', did) : t('The model is informed: you {0}', did);
  }
  return t('The model is informed: {0}', systemNoteText(first));
}

function endTitle(line: string, how: string): string {
  const [, ended = '', left] = /^(.*?)(?:\. Still (?:running|at work of it): (.*))?$/.exec(how) ?? [];
  const title = t('The model is informed: the background command “{0}” {1}', line, systemNoteText(ended));
  return left === undefined ? title : `${title}. ${t('Still running: {0}', left)}`;
}

/** Converts a change by the user from the model's view (“your” work) to the forms of `systemNoteText`, with the model as “it”. */
const asItsOwn = (words: string): string =>
  words
    .replace(
      /^taken back (all|\d+) of your (changes|\d+ changes?) of /,
      (_, some, of) => `undone ${some} of its ${of} to `,
    )
    .replace(/\. Of yours, this is gone:$/, '')
    .replace(/, and changed it otherwise, too$/, ', and made other changes')
    .replace(/, which you changed\.$/, ', which it had changed')
    .replace(/ since you did\.$/, ' since then')
    .replace(/^put back, as they are in this conversation: /, 'restored, as in this conversation: ')
    .replace(/\.$/, '');

const fieldOf = (lines: string, key: string): string => new RegExp(`^- ${key}: (.*)$`, 'm').exec(lines)?.[1] ?? '';
