import type { MenuItem } from './packageAgents.ts';

type MenuChoice = { kind: 'item'; item: MenuItem } | { kind: 'several'; items: MenuItem[] } | { kind: 'chat' };

/**
 * What a person means by `input` on an agent's menu: a number (from 1), a trigger (`*` or `/` before it does not count), or
 * words of a title. The first of these that hits counts; several hits are to be asked about, none is talk.
 */
export function chooseFrom(menu: readonly MenuItem[], input: string): MenuChoice {
  const wanted = plain(input);
  if (wanted === '') return { kind: 'chat' };
  if (/^\d+$/.test(wanted)) {
    const item = menu[Number(wanted) - 1];
    return item ? { kind: 'item', item } : { kind: 'chat' };
  }
  for (const hits of [byTrigger, byTriggerBeginning, byTitleWords, byLetters]) {
    const items = menu.filter((item) => hits(item, wanted));
    if (items.length === 1) return { kind: 'item', item: items[0]! };
    if (items.length > 1) return { kind: 'several', items };
  }
  return { kind: 'chat' };
}

const plain = (text: string) =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/^\s*[*/#]/, '')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[.)]$/, '');

const byTrigger = ({ trigger, aliases = [] }: MenuItem, wanted: string) =>
  [trigger, ...aliases].some((one) => plain(one) === wanted);
const byTriggerBeginning = (item: MenuItem, wanted: string) =>
  wanted.length >= 2 && plain(item.trigger).startsWith(wanted);

/** Every word that was typed begins a word of the title. */
function byTitleWords(item: MenuItem, wanted: string): boolean {
  const words = plain(item.title).split(/[^\p{L}\p{N}]+/u);
  return wanted.length >= 2 && wanted.split(' ').every((word) => words.some((one) => one.startsWith(word)));
}

/** One short word whose letters are in the trigger or the title's first letters in that order; sentences are talk. */
function byLetters(item: MenuItem, wanted: string): boolean {
  if (wanted.includes(' ') || wanted.length < 2 || wanted.length > 20) return false;
  const initials = plain(item.title)
    .split(/[^\p{L}\p{N}]+/u)
    .map((word) => word[0] ?? '')
    .join('');
  return initials === wanted || isWithin(wanted, plain(item.trigger));
}

function isWithin(letters: string, text: string): boolean {
  let at = 0;
  for (const letter of letters) {
    const found = text.indexOf(letter, at);
    if (found < 0) return false;
    at = found + 1;
  }
  return true;
}
