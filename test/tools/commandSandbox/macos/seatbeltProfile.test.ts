import assert from 'node:assert/strict';
import { seatbeltProfile } from '../../../../src/tools/commandSandbox/macos/seatbeltProfile.ts';

type Policy = Parameters<typeof seatbeltProfile>[0];

const policy: Policy = {
  folders: ['/Users/ann/ws'],
  tmp: '/private/var/folders/t/run',
  caches: '/Users/ann/Library/x/caches',
  temporary: ['/private/var/folders/t', '/private/tmp'],
  hidden: [
    { path: '/Users/ann/.ssh', kind: 'folder' },
    { path: '/Users/ann/ws/api/.env', kind: 'file' },
  ],
  proxyPort: 8123,
};

/** Rules about files and the network, without those of every profile and without the patterns of protected names. */
const rulesOf = (change: Partial<Policy>): string => {
  const text = seatbeltProfile({ ...policy, ...change });
  return text
    .slice(text.indexOf('(allow file-read*)'))
    .replace(/(?:\n {2}\(regex #"\^\/(?:Users|private)[^\n]*"\))+/, '\n  …');
};

describe('the profile for macOS', () => {
  it('allows to read all but secrets, and to write the open folders without protected names', () =>
    assert.equal(
      rulesOf({}),
      `(allow file-read*)
(deny file-read*
  (regex #"^/dev/(tty|pty|ptmx)")
  (subpath "/private/var/folders/t")
  (subpath "/private/tmp"))
(allow file-read*
  (subpath "/Users/ann/ws")
  (subpath "/private/var/folders/t/run")
  (subpath "/Users/ann/Library/x/caches"))
(allow file-read-metadata (vnode-type DIRECTORY))
(allow file-write*
  (literal "/dev/null")
  (literal "/dev/zero")
  (subpath "/dev/fd")
  (subpath "/Users/ann/ws")
  (subpath "/private/var/folders/t/run")
  (subpath "/Users/ann/Library/x/caches"))
(deny file-write*
  (literal "/Users/ann/ws")
  …)
(deny file-write-unlink
  (literal "/Users/ann/ws/api"))
(deny file-read* file-write*
  (subpath "/Users/ann/.ssh")
  (subpath "/System/Volumes/Data/Users/ann/.ssh")
  (literal "/Users/ann/ws/api/.env")
  (literal "/System/Volumes/Data/Users/ann/ws/api/.env"))
(deny file-link)
(allow system-socket (socket-domain AF_UNIX))
(allow network-bind (local unix-socket (subpath "/private/var/folders/t/run")))
(allow network-outbound (remote unix-socket (subpath "/private/var/folders/t/run")))
(allow network-outbound (remote ip "localhost:8123"))`,
    ));

  it('denies by default, and no rule allows programs of others or all of a kind', () => {
    const text = seatbeltProfile(policy);
    assert.match(text, /^\(version 1\)\n\(deny default\)\n/);
    assert.doesNotMatch(text, /appleevent|lsopen|procargs|network\*|mach\*|\(allow (?:mach-lookup|sysctl-read)\)/);
  });

  it('denies protected names of each open folder at any depth', () => {
    const text = seatbeltProfile({ ...policy, folders: ['/ws', '/other (1)'] });
    assert.ok(text.includes('(regex #"^/ws(/.*)?/([.][gG][iI][tT]|[gG][iI][tT]~1)(/.*)?$")'));
    assert.ok(text.includes(String.raw`(regex #"^/other \(1\)(/.*)?/([.][gG][iI][tT]|`));
    for (const folder of ['/private/var/folders/t/run', '/Users/ann/Library/x/caches'])
      assert.ok(text.includes(`(regex #"^${folder}(/.*)?/([.][gG][iI][tT]|`), 'a folder is moved from there');
    assert.ok(text.indexOf('(deny file-write*') > text.indexOf('(allow file-write*'), 'the last rule decides');
  });

  it('reaches only a port', () => {
    for (const proxyPort of [0, -1, 1.5, 70_000, Number.NaN])
      assert.throws(() => seatbeltProfile({ ...policy, proxyPort }), /Not a port/);
  });

  it('shows an open folder in a hidden folder', () => {
    const rules = rulesOf({ hidden: [{ path: '/Users/ann', kind: 'folder' }] });
    assert.ok(rules.indexOf('  (subpath "/Users/ann")') < rules.indexOf('  (subpath "/Users/ann/ws")'));
    assert.ok(!rules.includes('(deny file-read* file-write*'));
  });

  it('takes no path for a rule', () => {
    const text = seatbeltProfile({ ...policy, folders: ['/Users/ann/a") (allow default) ("\\'] });
    assert.ok(text.includes(String.raw`(subpath "/Users/ann/a\") (allow default) (\"\\")`));
    assert.ok(text.includes(String.raw`(regex #"^/Users/ann/a.\) \(allow default\) \(.\\(/.*)?/`));
  });

  for (const path of ['', 'ws', '/ws/', '/ws/..', '/a\0'])
    it(`refuses the path ${JSON.stringify(path)}`, () => {
      assert.throws(() => seatbeltProfile({ ...policy, folders: [path] }), /Not an absolute/);
      assert.throws(() => seatbeltProfile({ ...policy, hidden: [{ path, kind: 'file' }] }), /Not an absolute/);
    });
});
