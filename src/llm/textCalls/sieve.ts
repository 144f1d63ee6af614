import { maxJsonOpeningCharacters } from './jsonOpening.ts';
import { MarkdownCodeTracker } from './markdownCode.ts';
import { classifyLineOpening } from './opening.ts';
import { findToolCallSyntaxInLine } from './reader.ts';
import type { OfferedToolsByName } from './toolLookup.ts';

interface Sieve {
  add(piece: string): string;
  rest(): { text: string; mayHoldCalls: boolean };
  readonly spoke: boolean;
}

/** Creates a filter with linear cost: only the start of a line, at most `maxJsonOpeningCharacters`, is examined again. */
export function createTextToolCallFilter(known: OfferedToolsByName): Sieve {
  const code = new MarkdownCodeTracker(); // tracks the passed text
  let insideLine = false;
  let undecided = ''; // start of a line, or of a mark within a line
  let blanks: string[] = []; // at the start of the message; omitted if only calls follow
  let spoke = false;
  let candidates: string[] | undefined;

  const show = (text: string): string => {
    if (spoke || text === '') return text;
    blanks.push(text);
    if (text.trim() === '') return '';
    spoke = true;
    const all = blanks.join('');
    blanks = [];
    return all;
  };

  return {
    get spoke() {
      return spoke;
    },

    add(piece) {
      if (insideLine && spoke && !candidates && undecided === '' && !/[`~<[\]\n]/.test(piece)) {
        code.add(piece);
        return piece; // the usual case
      }
      const shown: string[] = [];
      let rest = piece;
      while (rest !== '') {
        if (candidates) {
          candidates.push(rest);
          break;
        }
        rest = undecided + rest;
        undecided = '';
        if (insideLine) {
          const end = rest.indexOf('\n') + 1;
          const line = rest.slice(0, end || undefined);
          const mark = findToolCallSyntaxInLine(line, rest, known, code);
          const waits = mark?.opening === 'wait' && rest.length - mark.at < maxJsonOpeningCharacters;
          if (mark && (waits || mark.opening === 'call')) {
            shown.push(rest.slice(0, mark.at));
            if (waits) undecided = rest.slice(mark.at);
            else candidates = [rest.slice(mark.at)];
            break;
          }
          if (mark) code.add(line.slice(mark.at));
          shown.push(line);
          insideLine = end === 0;
          rest = end === 0 ? '' : rest.slice(end);
          continue;
        }
        const opening = code.isInFence ? 'text' : classifyLineOpening(rest.slice(0, maxJsonOpeningCharacters), known);
        if (opening === 'wait') {
          undecided = rest;
          break;
        }
        if (opening === 'call') {
          candidates = [rest];
          break;
        }
        insideLine = true;
      }
      return show(shown.join(''));
    },

    rest() {
      const text = [...blanks, ...(candidates ?? [undecided])].join('');
      const rest = { text, mayHoldCalls: candidates !== undefined };
      blanks = [];
      candidates = undefined;
      undecided = '';
      return rest;
    },
  };
}
