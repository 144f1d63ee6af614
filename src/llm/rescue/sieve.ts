import { openingLimit } from './jsonOpening.ts';
import type { KnownTools } from './known.ts';
import { isQuotedLine, openingOf } from './opening.ts';
import { markInLine } from './reader.ts';

/** Lets text through line by line, and keeps everything from the first line that begins a call. */
export interface Sieve {
  /** Takes a piece of the text; gives what of the text so far may be shown now. */
  add(piece: string): string;
  /** What was kept, once. `mayHoldCalls`: it begins at a line outside of fences. */
  rest(): { text: string; mayHoldCalls: boolean };
  /** Something besides blanks was let through. */
  readonly spoke: boolean;
}

/** The cost of a piece is its length: only the beginning of a line, at most `openingLimit` of it, is looked at again. */
export function createSieve(known: KnownTools): Sieve {
  let fence: string | undefined; // the mark that opened it
  let insideLine = false;
  let isQuoted = false; // the line is an indented block or a quotation
  let inCode = false; // the line has opened code in backquotes
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

  const decide = (head: string) => (fence === undefined ? openingOf(head, known) : closingOf(head, fence));

  return {
    get spoke() {
      return spoke;
    },

    add(piece) {
      if (insideLine && spoke && !kept && undecided === '' && !/[`<[\]\n]/.test(piece)) return piece; // nearly every piece
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
          const mark = fence === undefined && !isQuoted ? markInLine(line, known, inCode) : undefined;
          const waits = mark?.opening === 'wait' && rest.length - mark.at < openingLimit;
          if (mark && (waits || mark.opening === 'call')) {
            shown.push(rest.slice(0, mark.at));
            inCode = mark.ticked;
            if (waits) undecided = rest.slice(mark.at);
            else kept = [rest.slice(mark.at)];
            break;
          }
          if ((line.match(/`+/g)?.length ?? 0) % 2 === 1) inCode = !inCode;
          shown.push(line);
          insideLine = end === 0;
          if (!insideLine) inCode = false;
          rest = end === 0 ? '' : rest.slice(end);
          continue;
        }
        const opening = decide(rest.slice(0, openingLimit));
        if (opening === 'wait') {
          undecided = rest;
          break;
        }
        if (opening === 'call') {
          kept = [rest];
          break;
        }
        if (opening === 'fence') fence = /^ {0,3}(`{3,}|~{3,})/.exec(rest.slice(0, openingLimit))?.[1];
        if (opening === 'closed') fence = undefined;
        isQuoted = isQuotedLine(rest.slice(0, 8));
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

function closingOf(head: string, mark: string): 'closed' | 'text' | 'wait' {
  const [line, own] = /^ {0,3}(`*|~*)[ \t]*/.exec(head)!;
  const after = head[line.length];
  if (after === undefined && head.length < openingLimit && (own === '' || own![0] === mark[0])) return 'wait';
  const closes = own!.length >= mark.length && own![0] === mark[0];
  return closes && (after === '\n' || after === '\r') ? 'closed' : 'text';
}
