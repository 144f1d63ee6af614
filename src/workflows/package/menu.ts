import type { PackageAgentMenuItem } from './packageAgents.ts';

type MenuChoice =
  | { kind: 'item'; item: PackageAgentMenuItem }
  | { kind: 'several'; items: PackageAgentMenuItem[] }
  | { kind: 'chat' };

/**
 * Selects menu items by the user's input: a number (from 1), a trigger (a leading `*` or `/` is ignored) or words of a title, in this
 * order. Several matches need a choice; no match is ordinary chat.
 */
export function matchAgentMenuItems(menu: readonly PackageAgentMenuItem[], input: string): MenuChoice {
  const wanted = plain(input);
  if (wanted === '') return { kind: 'chat' };
  if (/^\d+$/.test(wanted)) {
    const item = menu[Number(wanted) - 1];
    return item ? { kind: 'item', item } : { kind: 'chat' };
  }
  for (const hits of [byTrigger, byTriggerBeginning, matchesTitle, byLetters]) {
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

const byTrigger = ({ trigger, aliases = [] }: PackageAgentMenuItem, wanted: string) =>
  [trigger, ...aliases].some((one) => plain(one) === wanted);
const byTriggerBeginning = (item: PackageAgentMenuItem, wanted: string) =>
  wanted.length >= 2 && plain(item.trigger).startsWith(wanted);

/** Returns true if every typed word is a prefix of a word of the title. */
function matchesTitle(item: PackageAgentMenuItem, wanted: string): boolean {
  const words = plain(item.title).split(/[^\p{L}\p{N}]+/u);
  return wanted.length >= 2 && wanted.split(' ').every((word) => words.some((one) => one.startsWith(word)));
}

/** Returns true if a short word is a subsequence of the trigger or of the title's initials; longer input is ordinary chat. */
function byLetters(item: PackageAgentMenuItem, wanted: string): boolean {
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
