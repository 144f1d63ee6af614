import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { casesOf } from '../../outside/cases.ts';
import { openBrowser, root, type TestBrowser, type TestPage } from '../browser.ts';
import type { MarkdownPage, Rendering, Work } from '../renderings.ts';

interface MarkdownCase {
  id: string;
  group: string;
  markdown: string;
  render: string;
  why: string;
  textContains?: string[];
}

/** A text, and the text, some elements and all links to files that are shown of it. */
interface OutsideCase {
  text: string;
  want: { text: string; elements?: string[]; links?: string[] };
}

const own = path.join(import.meta.dirname, '../markdown-cases.json');
const shared = path.resolve(root, '../shared/cases/markdown-cases.json');
const cases = readCases(existsSync(shared) ? shared : own);

describe('Markdown of a model, as safe elements', () => {
  let browser: TestBrowser;
  let test: TestPage;

  before(async () => {
    browser = await openBrowser();
    test = await browser.open('test/webview/page/markdown.ts');
    await coloured();
  });
  after(() => browser.close());

  const render = (source: string): Promise<Rendering> =>
    test.page.evaluate((text) => (globalThis as unknown as { markdown: MarkdownPage }).markdown.render(text), source);
  const stream = (source: string, ends: number[]): Promise<Work> =>
    test.page.evaluate(
      ({ text, at }) => (globalThis as unknown as { markdown: MarkdownPage }).markdown.stream(text, at),
      { text: source, at: ends },
    );

  const coloured = (): Promise<void> =>
    test.page.evaluate(() => (globalThis as unknown as { markdown: MarkdownPage }).markdown.loadColours());

  for (const one of cases) {
    it(`${one.id} ${one.why}: ${one.render}`, async () => {
      const source = expand(one, browser.canary);
      const rendering = await render(source);
      checks[one.render]!(rendering, source);
      for (const words of one.textContains ?? [])
        assert.ok(rendering.text.includes(words), rendering.text.slice(0, 300));
      const outside = (names: string[], allowed: string) => names.filter((name) => !allowed.split(' ').includes(name));
      assert.deepEqual(
        {
          elements: outside(rendering.elements, allowedElements),
          attributes: outside(rendering.attributes, 'class title start dir role tabindex aria-expanded'),
          hidden: [...rendering.text].filter((character) => unseen.test(character)),
          requests: browser.strays,
          violations: await test.violations(),
        },
        { elements: [], attributes: [], hidden: [], requests: [], violations: [] },
      );
    });
  }

  for (const { title, input } of casesOf<OutsideCase>('markdown'))
    it(`as models write it: ${title}`, async () => {
      const { text, elements, links } = await render(input.text);
      assert.equal(text.trim(), input.want.text);
      for (const name of input.want.elements ?? []) assert.ok(elements.includes(name), elements.join());
      if (!input.want.links) return;
      const files = links.map(({ target }) =>
        target.kind === 'file' ? `${target.path}${target.line ? ` ${target.line}` : ''}` : target.kind,
      );
      assert.deepEqual(files, input.want.links);
    });

  for (const [what, unit, end] of [
    ['blanks in the addresses of links', '[a](b c', ''],
    ['brackets of links with blanks', '[[a](b c.', ''],
    ['delimiters beside letters of Chinese', '**字', ''],
    ['local parts of an e-mail address', 'a.', '@'],
    ['local parts without an end', 'a-', '@b.c-'],
    ['at signs between emphasis', 'a@*', ''],
    ['addresses between emphasis', '_www.', ''],
    ['schemes between emphasis', 'ftp://_', ''],
    ['mail links between emphasis', 'mailto:*', ''],
  ] as const)
    it(`a block whose reading would take the square of its length is plain: ${what}`, async () => {
      const source = unit.repeat(20_000 / unit.length) + end;
      checks.text!(await render(source), source);
    });

  it('a long list of e-mail addresses still has its emphasis', async () => {
    const { elements } = await render('*first.last@example.test*, '.repeat(100));
    assert.ok(elements.includes('em'), elements.join());
  });

  it('code with a very long word has no colors', async () => {
    const block = (text: string) => `\`\`\`java\n${text}\n\`\`\``;
    const colors = async (text: string) =>
      (
        await test.page.evaluate(
          (source) => (globalThis as unknown as { markdown: MarkdownPage }).markdown.colour(source),
          block(text),
        )
      ).after.colours;
    assert.equal(await colors('a'.repeat(29_000)), 0);
    assert.ok((await colors('int a = 1;')) > 0);
  });

  it('a link says where it leads, unless its words begin with that', async () => {
    const { links } = await render(
      'See [the docs](https://example.test/a), <https://example.test/b>, [good.test](https://evil.test), ' +
        '[mail](mailto:a@b.test), [code](./src/a%20b.ts:12:3) and [lines](src/b.ts#L3-L9).',
    );
    assert.deepEqual(
      links.map(({ text, title, target }) => [text, title, target]),
      [
        ['the docs (example.test)', 'Open https://example.test/a', external('https://example.test/a', 'example.test')],
        ['https://example.test/b', 'Open https://example.test/b', external('https://example.test/b', 'example.test')],
        ['good.test (evil.test)', 'Open https://evil.test/', external('https://evil.test/', 'evil.test')],
        ['mail (a@b.test)', 'Open mailto:a@b.test', external('mailto:a@b.test', 'a@b.test')],
        ['code', 'Open src/a b.ts, line 12', { kind: 'file', path: 'src/a b.ts', line: 12 }],
        ['lines', 'Open src/b.ts, line 3', { kind: 'file', path: 'src/b.ts', line: 3 }],
      ],
    );
  });

  it('emoji and joined scripts keep their joiners', async () => {
    const text = 'family 👨‍👩‍👧 flag 🏴󠁧󠁢󠁥󠁮󠁧󠁿 key 1️⃣ heart ❤️ می‌خواهم क्‍ष';
    assert.equal((await render(text)).text, text);
  });

  for (const [source, shown] of [
    ['$$\\int_0^1 x^2 \\, dx$$', '$$\\int_0^1 x^2 \\, dx$$'],
    ['so $a\\_b \\; c_d$ and $e_f*g*h$.', 'so $a\\_b \\; c_d$ and $e_f*g*h$.'],
    [
      '\\(x \\, y\\) and\n\n\\[\n\\frac{a}{b} \\\\\nc_d \\! e_f\n\\]',
      '\\(x \\, y\\) and\\[\n\\frac{a}{b} \\\\\nc_d \\! e_f\n\\]',
    ],
    ['It costs $5 or *$6*, not \\$7.', 'It costs $5 or $6, not $7.'],
    ['`$a\\,b$` is code', '$a\\,b$ is code'],
    ['$$open \\, and never closed', '$$open , and never closed'],
  ] as const)
    it(`a formula stays as it was written: ${source.replaceAll('\n', ' ')}`, async () =>
      assert.equal((await render(source)).text, shown));

  it('many signs that open no formula cost little', async () => {
    for (const sign of ['$', '$$ ', '\\( ', '\\[ a ']) assert.ok((await render(sign.repeat(20_000))).text.length > 0);
  });

  it('a reader sees lists, tables, quotes, tasks and code', async () => {
    const { text, elements } = await render(sample);
    assert.equal(
      text,
      'Plan\nFirst & second with code, © and a*star.\n'.replaceAll('\n', '') +
        'onetwo☑ done☐ openinnerQuoted wordsNameCounta1b2tsCopyInsertMoreconst x: number = 1; // whysaid ' +
        'in the end',
    );
    for (const name of ['h3', 'strong', 'em', 'ul', 'ol', 'blockquote', 'table', 'pre', 'hr', 'del']) {
      assert.ok(elements.includes(name), name);
    }
  });

  it('a text that comes in slices ends as the same elements as the whole', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 20 }),
        fc.array(fc.nat(999), { maxLength: 12 }),
        async (parts, cuts) => {
          const source = parts.join('');
          const ends = cuts.map((cut) => Math.floor((cut * source.length) / 1000)).sort((one, other) => one - other);
          const work = await stream(source, ends);
          assert.equal(work.html, work.wholeHtml);
        },
      ),
      { numRuns: 300, seed: 1 },
    );
  });

  it('code that was there before its colours gets them, and not a letter or a line moves', async () => {
    const source = `Look:\n\n\`\`\`ts\n${'const answer: number = 42; // the answer\n'.repeat(80)}\`\`\`\n\nthen`;
    await test.renew();
    const { before, after } = await test.page.evaluate(
      (text) => (globalThis as unknown as { markdown: MarkdownPage }).markdown.colour(text),
      source,
    );
    assert.deepEqual([before.colours, after.colours > 200], [0, true]);
    assert.deepEqual({ ...after, colours: 0 }, before);
    assert.deepEqual(await test.violations(), []);
  });

  it('colours that come in the middle of a stream change nothing else', async () => {
    const source = `\`\`\`ts\n${'const answer: number = 42; // the answer\n'.repeat(100)}\`\`\`\n\nand more`;
    for (const share of [0.2, 0.53, 0.9, 1]) {
      await test.renew();
      const { html, wholeHtml } = await test.page.evaluate(
        ({ text, at }) => (globalThis as unknown as { markdown: MarkdownPage }).markdown.streamAround(text, at),
        { text: source, at: Math.floor(share * source.length) },
      );
      assert.equal(html, wholeHtml);
    }
  });

  it('a stream of five thousand slices is read and built in proportion to its length', async () => {
    const paragraph = 'The loop reads a file, proposes **an edit** and waits. See `src/a.ts`.\n\n';
    const code = `\`\`\`ts\n${'const answer: number = 42; // the answer\n'.repeat(300)}\`\`\`\n\n`;
    const list = `${'- one more thing to do, with *emphasis*\n'.repeat(300)}\n`;
    const source = (paragraph.repeat(200) + code + list).repeat(1);
    const ends = Array.from({ length: 5000 }, (_, index) => Math.floor(((index + 1) * source.length) / 5001));
    const work = await stream(source, ends);
    assert.equal(work.html, work.wholeHtml);
    // Read again and again the whole would be 2,500 times the length, and as many times the elements.
    assert.ok(work.lexed < 80 * source.length, `${work.lexed} characters were read for ${source.length}`);
    assert.ok(work.added < 30_000, `${work.added} nodes were added`);
  });

  it('one paragraph without an end is read in proportion to its length, too', async () => {
    const source = 'word and *word* '.repeat(2500);
    const ends = Array.from({ length: 5000 }, (_, index) => Math.floor(((index + 1) * source.length) / 5001));
    const work = await stream(source, ends);
    assert.equal(work.text, work.wholeText);
    assert.ok(work.lexed < 60 * source.length, `${work.lexed} characters were read for ${source.length}`);
  });
});

const allowedElements =
  'p br strong em del code pre span button ul ol li blockquote h1 h2 h3 h4 h5 h6 table thead tbody tr th td hr';

/** What may not reach a reader as it is. (The cases keep no emoji sequences; those have a test of their own.) */
const unseen = /[\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\p{Cs}\p{Zl}\p{Zp}]|(?![\n\t])\p{Cc}/u;

const plainWords = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** The verdicts of the cases; what all of them have in common is checked beside. */
const checks: Record<string, (rendering: Rendering, source: string) => void> = {
  text(rendering, source) {
    assert.equal(plainWords(rendering.text), plainWords(source));
    assert.deepEqual(
      rendering.elements.filter((name) => name !== 'p' && name !== 'br'),
      [],
    );
  },
  'link-inert'(rendering, source) {
    assert.deepEqual(
      { links: rendering.links, buttons: rendering.elements.includes('button') },
      { links: [], buttons: false },
    );
    const words = /^\[(.*?)\]/.exec(source)?.[1] ?? source.replace(/[<>]/g, '');
    assert.ok(rendering.text.includes(words), rendering.text);
  },
  'link-external'(rendering) {
    const [link] = rendering.links;
    assert.equal(rendering.links.length, 1);
    assert.ok(link?.target.kind === 'external');
    assert.ok(link.text.includes(link.target.host) && link.title.includes(link.target.host));
    assert.ok(!link.title.includes('@'), link.title);
  },
  'link-file'(rendering) {
    assert.deepEqual(
      rendering.links.map(({ target }) => target.kind),
      ['file'],
    );
  },
  'image-blocked'(rendering, source) {
    const wanted = source.split('![').length - 1;
    const said = rendering.text.match(/x: image( from \S+)? not loaded/g) ?? [];
    assert.deepEqual([rendering.images, said.length], [wanted, wanted]);
    const host = /\]\(<?(?:https?:)?\/\/([^/)>]+)/.exec(source)?.[1];
    if (host) assert.ok(rendering.text.includes(`image from ${host} not loaded`), rendering.text);
    if (source.includes('(src/')) assert.deepEqual(rendering.links[0]?.target, { kind: 'file', path: 'src/logo.png' });
  },
  code(rendering, source) {
    assert.ok(rendering.elements.includes('code'));
    const body = source.replace(/^```[^\n]*\n|\n```$|^`|`$/g, '').replace(/.\[\d+m/g, '');
    assert.ok(rendering.text.includes(rendering.cut ? body.slice(0, 30_000) : body), rendering.text.slice(0, 300));
  },
  visible(rendering, source) {
    assert.ok(
      !unseen.test(source) || /⟨(U\+[0-9A-F]{4,6}( × \d+)?|hidden text: .*)⟩|\ufffd/.test(rendering.text),
      rendering.text,
    );
  },
  bounded(rendering, source) {
    assert.ok(rendering.nodes < 20_000, `${rendering.nodes} nodes`);
    assert.ok(rendering.cut || source.length < 100_000, 'nothing offers the rest');
  },
};

const external = (url: string, host: string) => ({ kind: 'external', url, host });

const sample = `## Plan

First &amp; **second** with \`code\`, &copy; and *a\\*star*.

- one
- two

1. [x] done
2. [ ] open
   - inner

> Quoted words

| Name | Count |
|:-----|------:|
| a | 1 |
| b | 2 |

\`\`\`ts title="x"
const x: number = 1; // why
\`\`\`

---

~~said~~ in the end
`;

/** Pieces whose order makes all the trouble: what begins a block, what goes on with one, what closes one. */
const pieces = [
  ...[
    'a',
    ' word',
    '\n',
    '\n\n',
    '# h',
    '\n- i',
    '\n  - j',
    '\n1. n',
    '\n> q',
    '```',
    '\n```ts\n',
    '\n    x',
    '---',
    '===',
    '\n- ',
  ],
  ...[
    '*',
    '**',
    '`',
    '[l](u.ts)',
    '[r]',
    '\n[r]: /u',
    '\n| a | b |\n|---|---|\n',
    '| 1 | 2 |',
    '<div>',
    '</div>\n',
    '<!--',
    '-->',
  ],
  ...[
    '\r\n',
    '\r',
    '\u202e',
    '👨‍👩‍👧',
    '\u200d',
    '\u001b[31m',
    '&amp;',
    '\\',
    '~~',
    'https://a.test/',
    '\t',
    '\ud83d',
    '\ude00',
  ],
];

/** `{CANARY}` is an address that must never be asked for; `@REPEAT[s,n]` stands for `s`, n times. */
function expand({ id, markdown }: MarkdownCase, canary: string): string {
  return markdown
    .replaceAll('{CANARY}', canary)
    .replaceAll('@ID', id)
    .replace(/@REPEAT\[(.*?),(\d+)\]/gs, (_, text: string, times: string) => text.repeat(Number(times)));
}

/** Cases of other surfaces (notifications, the terminal, …) are tested where those are. */
function readCases(file: string): MarkdownCase[] {
  const all = JSON.parse(readFileSync(file, 'utf8')) as { cases: MarkdownCase[] };
  return all.cases.filter(({ group }) => group !== 'surfaces');
}
