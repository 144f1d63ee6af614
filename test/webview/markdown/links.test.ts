import assert from 'node:assert/strict';
import fc from 'fast-check';
import { linkTarget } from '../../../webview/markdown/links.ts';

/** `path line`, a host, or nothing. */
function leadsTo(href: string): string {
  const target = linkTarget(href);
  if (target.kind === 'file') return `${target.path}${target.line ? ` ${target.line}` : ''}`;
  return target.kind === 'external' ? target.url : 'nowhere';
}

describe('a link in a message', () => {
  const files: [href: string, path: string][] = [
    ['src/a.ts:12', 'src/a.ts 12'],
    ['src/a.ts:12:3', 'src/a.ts 12'],
    ['src/a.ts:12-20', 'src/a.ts 12'],
    ['my file.ts:12-20', 'my file.ts 12'],
    ['a.ts:12', 'a.ts 12'],
    ['./Notes:12', 'Notes 12'],
    ['src/Notes:12', 'src/Notes 12'],
    ['Makefile:3', 'Makefile 3'],
    ['Dockerfile:3', 'Dockerfile 3'],
    ['.gitignore:3', '.gitignore 3'],
    ['my%20file.ts:3', 'my file.ts 3'],
    ['Übersicht.md:7', 'Übersicht.md 7'],
    ['a.test.ts:1', 'a.test.ts 1'],
    ['LICENSE', 'LICENSE'],
    ['LICENSE#L5', 'LICENSE 5'],
    ['src/a.ts#L12C3-L20C1', 'src/a.ts 12'],
    ['docs/guide.md#a-heading', 'docs/guide.md'],
    ['docs/guide.md#', 'docs/guide.md'],
    ['docs/%C3%BCber.md#%C3%BCber-uns', 'docs/über.md'],
    ['javascript/tel.ts:1', 'javascript/tel.ts 1'],
    ['tel', 'tel'],
  ];
  for (const [href, path] of files) it(`to a file of the workspace: ${href}`, () => assert.equal(leadsTo(href), path));

  const schemes = [
    'tel:123',
    'javascript:1',
    'JavaScript:1',
    'command:7',
    'vscode:1',
    'mailto:1',
    'data:0',
    'blob:12:3',
    'http:80',
    'file:12',
    'profile:12',
    'localhost:3000',
    '127.0.0.1:8080',
    'z39.50:1',
    'tel%3A123',
    'tel&colon;123',
    'java%73cript:1',
    'te&#108;:5',
    'tel:123#L4',
    'view-source:1',
    'web+app:1',
    ':1',
    'tel.:1',
  ];
  for (const href of schemes) it(`nowhere: ${href}`, () => assert.equal(leadsTo(href), 'nowhere'));

  it('nowhere, whatever word and number a scheme is made of', () => {
    const letters = fc
      .stringMatching(/^[A-Za-z][A-Za-z0-9+-]{0,12}$/)
      .filter((word) => !/^[A-Z][A-Za-z]+file$/.test(word));
    fc.assert(
      fc.property(letters, fc.nat(9_999_999), fc.constantFrom('', ':1', '  '), (scheme, number, rest) => {
        assert.equal(leadsTo(`${scheme}:${number}${rest}`), 'nowhere');
      }),
      { seed: 1 },
    );
  });
});
