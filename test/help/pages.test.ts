import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { helpPageList } from '../../src/help/pages.ts';
import { pagesFolder, readPage, withTables } from '../support/help/pages.ts';

const root = path.resolve(import.meta.dirname, '../..');
const readme = readFileSync(path.join(root, 'README.md'), 'utf8');

describe('the pages for people', () => {
  it('are all in the list that Help shows', () => {
    const files = readdirSync(pagesFolder).filter((name) => name.endsWith('.md'));
    assert.deepEqual(files.sort(), helpPageList.map(({ name }) => `${name}.md`).sort());
  });

  for (const { name, title } of helpPageList)
    describe(title, () => {
      const page = readPage(name);

      it('has the heading by which it is picked', () => assert.equal(page.split('\n')[0], `# ${title}`));

      it('has its tables from the code: `npm run page` writes them anew', () => assert.equal(withTables(page), page));

      it('is led to by the README', () => assert.ok(readme.includes(`(src/help/${name}.md)`)));
    });

  for (const [file, text] of [
    ['README.md', readme],
    ...helpPageList.map(({ name }) => [`src/help/${name}.md`, readPage(name)] as const),
  ] as const)
    it(`${file} leads to places that are there, and shows nothing from elsewhere`, () => {
      const links = [...text.matchAll(/(!?)\[[^\]\n]*\]\(([^)\s]+)\)/g)].map(([, image, to]) => ({ image, to: to! }));
      const wrong = links.filter(({ image, to }) => {
        if (/^https?:/.test(to)) return image === '!'; // a picture of another machine would be asked for when the page is shown
        const [place, heading] = to.split('#');
        const target = place ? path.join(root, path.dirname(file), place) : path.join(root, file);
        return !existsSync(target) || (heading && !headings(readFileSync(target, 'utf8')).includes(heading));
      });
      assert.deepEqual(wrong, []);
    });

  it('are shipped', () =>
    assert.match(readFileSync(path.join(root, '.vscodeignore'), 'utf8'), /^!src\/help\/\*\.md$/m));

  it('leave the README short: at most 900 words', () => {
    const words = readme.split(/\s+/).filter((word) => /[\p{L}\d]/u.test(word));
    assert.ok(words.length <= 900, `${words.length} words`);
  });

  it('leave the way to install and test in the README', () => {
    for (const words of ['npm ci', 'npm start', 'npm test']) assert.ok(readme.includes(words), words);
  });
});

const headings = (text: string): string[] =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, title]) => title!.toLowerCase().replaceAll(' ', '-'));
