import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import * as paths from 'node:path';
import { socketPaths } from '../../../../src/tools/commandSandbox/linux/socketPaths.ts';

describe('the paths of sockets', () => {
  it('are those of /proc/net/unix with a file', () =>
    assert.deepEqual(
      socketPaths(`Num       RefCount Protocol Flags    Type St Inode Path
00000000736dfce7: 00000003 00000000 00000000 0001 03  1659
ffff9b0a4e0d8000: 00000002 00000000 00010000 0001 01 20351 /run/user/1000/bus
ffff9b0a4e0d8400: 00000003 00000000 00000000 0001 03 20352 /run/user/1000/bus
ffff9b0a4e0d8800: 00000002 00000000 00010000 0001 01    77 @/tmp/.X11-unix/X0
ffff9b0a4e0d8c00: 00000002 00000000 00010000 0005 01 20353 /srv/my data/a socket
ffff9b0a4e0d9000: 00000002 00000000 00010000 0001 01 20354 relative.sock
`),
      ['/run/user/1000/bus', '/srv/my data/a socket'],
    ));

  it('contain a socket of this process', async function () {
    if (process.platform !== 'linux') return this.skip();
    const folder = realpathSync(mkdtempSync(paths.join(tmpdir(), 'towpath-socket-')));
    const path = paths.join(folder, 'a socket');
    const server = createServer();
    try {
      await new Promise<void>((done) => server.listen(path, done));
      assert.ok(socketPaths(readFileSync('/proc/net/unix', 'utf8')).includes(path));
    } finally {
      server.close();
      rmSync(folder, { recursive: true });
    }
  });
});
