import { Tokenizer } from 'htmlparser2';

// Elements that have no content, or that the next of their kind closes.
const shallow = new Set(
  'area base br col embed hr img input link meta source track wbr p li td th tr dt dd option'.split(' '),
);
const silent = new Set(['script', 'style', 'title', 'noscript', 'template']);

/** Returns an upper bound of the page's nesting, and the plain text, in linear time. A parser needs time quadratic in the depth. */
export function scanHtmlNesting(page: string): { depth: number; text: string } {
  const open = new Map<string, number>();
  let now = 0;
  let depth = 0;
  let inside = '';
  const text: string[] = [];
  const nameAt = (start: number, end: number) => page.slice(start, end).toLowerCase();
  const nothing = () => {};
  const tokenizer = new Tokenizer(
    { decodeEntities: false },
    {
      onopentagname(start, end) {
        const name = nameAt(start, end);
        if (silent.has(name)) inside = name;
        if (shallow.has(name)) return;
        open.set(name, (open.get(name) ?? 0) + 1);
        now += 1;
        depth = Math.max(depth, now);
      },
      onclosetag(start, end) {
        const name = nameAt(start, end);
        if (name === inside) inside = '';
        const count = open.get(name) ?? 0;
        if (count === 0) return; // closes nothing
        open.set(name, count - 1);
        now -= 1;
      },
      ontext: (start, end) => {
        if (inside === '') text.push(page.slice(start, end));
      },
      onattribdata: nothing,
      onattribentity: nothing,
      onattribend: nothing,
      onattribname: nothing,
      oncdata: nothing,
      oncomment: nothing,
      ondeclaration: nothing,
      onend: nothing,
      onopentagend: nothing,
      onprocessinginstruction: nothing,
      onselfclosingtag: nothing,
      ontextentity: nothing,
    },
  );
  tokenizer.write(page);
  tokenizer.end();
  return { depth, text: text.join(' ').replace(/[ \t]+/g, ' ') };
}
