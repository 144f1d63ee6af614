import assert from 'node:assert/strict';
import { redactForReport } from '../../../src/extension/settings/redactSettings.ts';

const key = 'a-key-of-nobody-1234';
const hidden = { secrets: [key], home: '/data/ada' };

describe('a text that others may see', () => {
  const cases: [name: string, text: string, shown: string][] = [
    ['a saved key', `failed with ${key}!`, 'failed with [key]!'],
    ['what looks like a key', 'Bearer abcdef0123456789', '[key]'],
    ['who asks at an address', 'git clone https://ada:hush@example.com/x.git', 'git clone https://example.com/x.git'],
    ['a token for a name', 'https://x-token@example.com:80/x', 'https://example.com:80/x'],
    [
      'what an address asks',
      'see https://example.com/x?key=hush&page=2#t=hush.',
      'see https://example.com/x?key=…&page=…#t=…',
    ],
    ['an address without secrets', '(https://example.com/a/b)', '(https://example.com/a/b)'],
    ['the own home folder', 'in /data/ada/p, /data/ada.', 'in ~/p, ~.'],
    ['not what only begins or ends so', '/data/adam/x /my/data/ada2', '/data/adam/x /my/data/ada2'],
    ['the home folder of a container', 'cd /home/grace/p', 'cd ~/p'],
    ['that of a Mac', '"/Users/Grace/p"', '"~/p"'],
    ['that of Windows', 'C:\\Users\\grace\\p and c:/Users/grace', '~\\p and ~'],
    ['that of Windows, in JSON', '"C:\\\\Users\\\\grace\\\\p"', '"~\\\\p"'],
    ['as an address', 'file:///data/ada/p', 'file://~/p'],
    ['a folder of that name elsewhere', '/srv/home/grace/p', '/srv/home/grace/p'],
  ];
  for (const [name, text, shown] of cases) it(name, () => assert.equal(redactForReport(text, hidden), shown));

  it('nothing is the home where there is none', () =>
    assert.equal(redactForReport('/a/b', { secrets: [], home: '/' }), '/a/b'));

  it('takes time as the text is long, whatever is in it', () => {
    for (const piece of ['a.', 'http://', 'http://a@', '/home/', 'https://x?a=', 'C:\\Users\\'])
      assert.ok(redactForReport(piece.repeat(20_000), hidden).length > 0);
  });
});
