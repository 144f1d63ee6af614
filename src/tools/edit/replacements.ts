export interface TextReplacement {
  from: number;
  to: number;
  made: string;
}

export const applyReplacement = (text: string, { from, to, made }: TextReplacement): string =>
  text.slice(0, from) + made + text.slice(to);

export function applyReplacements(
  text: string,
  all: readonly TextReplacement[],
): { text: string } | { overlap: [number, number] } {
  const order = [...all.keys()].sort((a, b) => all[a]!.from - all[b]!.from || all[a]!.to - all[b]!.to || a - b);
  const narrow = all.map((one) => narrowed(text, one));
  for (const [at, index] of order.entries())
    for (const other of order.slice(0, at))
      if (all[other]!.to > all[index]!.from && !areApart(narrow[other]!, narrow[index]!))
        return { overlap: [other, index] };
  // Replacements that share unchanged lines are sorted by the changed part.
  order.sort(
    (a, b) => narrow[a]!.from - narrow[b]!.from || narrow[a]!.to - narrow[b]!.to || all[a]!.from - all[b]!.from,
  );
  let made = '';
  let at = 0;
  for (const one of order.map((index) => narrow[index]!)) {
    made += text.slice(at, one.from) + one.made;
    at = one.to;
  }
  return { text: made + text.slice(at) };
}

/** Restricts a replacement of the whole text to `from` … `to`, or more if the change is larger. */
export function narrowReplacement(text: string, whole: string, from: number, to: number): TextReplacement {
  const start = Math.min(from, commonStart(text, whole));
  const end = Math.min(text.length - to, commonEnd(text, whole));
  const made = whole.slice(start, Math.max(start, whole.length - end));
  return { from: start, to: Math.max(start, text.length - end), made };
}

interface Narrowed extends TextReplacement {
  /** Range of the possible change, independent of equal adjacent characters. */
  least: number;
  most: number;
}

function narrowed(text: string, { from, to, made }: TextReplacement): Narrowed {
  const old = text.slice(from, to);
  const start = commonStart(old, made);
  const longestEnd = commonEnd(old, made);
  const end = Math.min(longestEnd, old.length - start, made.length - start);
  return {
    from: from + start,
    to: to - end,
    made: made.slice(start, made.length - end),
    least: from + Math.min(start, old.length - longestEnd),
    most: from + Math.max(start, old.length - longestEnd),
  };
}

const areApart = (one: Narrowed, other: Narrowed) => one.most < other.least || other.most < one.least;

function commonStart(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  let same = 0;
  while (same < most && one.charCodeAt(same) === other.charCodeAt(same)) same++;
  return same;
}

function commonEnd(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  let same = 0;
  while (same < most && one.charCodeAt(one.length - 1 - same) === other.charCodeAt(other.length - 1 - same)) same++;
  return same;
}
