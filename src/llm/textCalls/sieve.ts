import { openingLimit } from './jsonOpening.ts';
import { MarkdownCode } from './markdownCode.ts';
import { openingOf } from './opening.ts';
import { markInLine } from './reader.ts';
import type { KnownTools } from './toolLookup.ts';

/** Lets text through line by line, and keeps everything from the first line that begins a call. */
interface Sieve {
  /** Takes a piece of the text; gives what of the text so far may be shown now. */
  add(piece: string): string;
  /** What was kept, once. `mayHoldCalls`: it begins at a line outside of fences. */
  rest(): { text: string; mayHoldCalls: boolean };
  /** Something besides blanks was let through. */
  readonly spoke: boolean;
}

/** The cost of a piece is its length: only the beginning of a line, at most `openingLimit` of it, is looked at again. */
export function createSieve(known: KnownTools): Sieve {
  const code = new MarkdownCode(); // of what was let through
  let insideLine = false;
  let undecided = ''; // the beginning of a line, or of a mark within one
  let blanks: string[] = []; // at the beginning of the message: left out when only calls follow
  let spoke = false;
  let kept: string[] | undefined;

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
      if (insideLine && spoke && !kept && undecided === '' && !/[`~<[\]\n]/.test(piece)) {
        code.add(piece);
        return piece; // nearly every piece
      }
      const shown: string[] = [];
      let rest = piece;
      while (rest !== '') {
        if (kept) {
          kept.push(rest);
          break;
        }
        rest = undecided + rest;
        undecided = '';
        if (insideLine) {
          const end = rest.indexOf('\n') + 1;
          const line = rest.slice(0, end || undefined);
          const mark = markInLine(line, rest, known, code);
          const waits = mark?.opening === 'wait' && rest.length - mark.at < openingLimit;
          if (mark && (waits || mark.opening === 'call')) {
            shown.push(rest.slice(0, mark.at));
            if (waits) undecided = rest.slice(mark.at);
            else kept = [rest.slice(mark.at)];
            break;
          }
          if (mark) code.add(line.slice(mark.at));
          shown.push(line);
          insideLine = end === 0;
          rest = end === 0 ? '' : rest.slice(end);
          continue;
        }
        const opening = code.isInFence ? 'text' : openingOf(rest.slice(0, openingLimit), known);
        if (opening === 'wait') {
          undecided = rest;
          break;
        }
        if (opening === 'call') {
          kept = [rest];
          break;
        }
        insideLine = true;
      }
      return show(shown.join(''));
    },

    rest() {
      const text = [...blanks, ...(kept ?? [undecided])].join('');
      const rest = { text, mayHoldCalls: kept !== undefined };
      blanks = [];
      kept = undefined;
      undecided = '';
      return rest;
    },
  };
}
