import { t } from '../../src/protocol/l10n.ts';

/** What is kept with a run in English: said to its model, or of its record. */
const kept = [
  // how a command in the background ended (`endSentence`)
  'went on without its window',
  'ended after its window',
  'ended with its window or its run',
  'was ended: it wrote more than 100 MiB',
  'was ended: its time was over',
  'was stopped by you',
  'was stopped',
  'was killed ({0})',
  'ended with {0}',
  // what the person has made of files that the model changed
  'have taken back all of its changes of {0}',
  'have taken back {0} of its {1} changes of {2}, and changed it otherwise, too',
  'have taken back {0} of its {1} changes of {2}',
  'have taken back {0} of its {1} change of {2}, and changed it otherwise, too',
  'have taken back {0} of its {1} change of {2}',
  'have deleted {0}, which it changed',
  'have changed {0} since it did',
  'have put back, as they are in this conversation: {0}. Read again before you edit',
  // what the model is told of files that speak to agents, and of its record
  'Not there any more: {0}. What stood there does not hold now.',
  'Files of this workspace that speak to agents have changed. They say now:',
  'A part of the record of this conversation was damaged: {0}. What came after it is not in this conversation. This much of it could be read, as data:',
  'A part of the record of this conversation was damaged: {0}. What stood there is lost. {1}',
  'Calls that are not in it may have run: look at what is there before you change or run anything again.',
  // where and how a record is damaged
  'its last line is torn ({0} bytes from byte {1})',
  'its last line is torn ({0} byte from byte {1})',
  'line {0} is of another run',
  'line {0} is damaged ({1} bytes from byte {2})',
  'line {0} is damaged ({1} byte from byte {2})',
  'its first line, which names the format, is damaged',
  'line {0} says line {1} again',
  'line {0} contradicts line {1}',
  'line {0} was in the wrong place',
  'what stood before line {0} is missing',
  'a part is missing (it had {0} bytes, and has {1})',
  '{0} more places are damaged',
  '{0} more place is damaged',
  // why it can only be read
  'This run was written by a newer Towpath. What this one understands is shown; update to go on with it.',
  'A newer Towpath has worked on this run. What this one understands is shown; update to go on with it.',
  'This run was imported, and follows a workflow: it can be read here, and not gone on with. Run the workflow again instead.',
  // warnings of a node
  'The window of its model was full: it saw {0} from then on.',
  'a summary of the oldest turns',
  'older tool output, and long answers of its own, shortened',
  'older tool output shortened',
  'Failed, and was gone on from: {0}',
] as const;

/** Words that are kept in English, told in the person's language; what is not known of them as it is. */
export const told = (words: string): string => known(words) ?? t({ english: words });

function known(words: string): string | undefined {
  const parts = words.split('; ').map(knownPart);
  return parts.every((part) => part !== undefined) ? parts.join('; ') : knownPart(words);
}

function knownPart(words: string): string | undefined {
  for (const one of kept) {
    const values = patternOf(one).exec(words)?.slice(1);
    if (values) return t(one, ...values.map((value) => known(value) ?? value));
  }
  return undefined;
}

const patterns = new Map<string, RegExp>();

function patternOf(one: string): RegExp {
  const found = patterns.get(one);
  if (found) return found;
  const parts = one.split(/\{\d\}/).map((part) => part.replace(/[.()]/g, '\\$&'));
  const pattern = new RegExp(`^${parts.join('(.+?)')}$`, 's');
  patterns.set(one, pattern);
  return pattern;
}
