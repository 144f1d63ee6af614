import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import fsPromises from 'node:fs/promises';
import * as paths from 'node:path';
import fc from 'fast-check';
import { isPartialWrite, repairInterruptedFile } from '../../../src/tools/changes/tornWrites.ts';
import { createFile, replaceFile } from '../../../src/tools/sandbox/writeFile.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { conversation, data, error } from '../conversation.ts';

const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
const nobody = 65534;
/** More than Linux gives. */
const noProcess = 2 ** 22 + 1;
const leftover = (pid: number) => `.towpath-${pid}-${randomUUID()}.tmp`;

describe('writing a file', () => {
  let workspace: TemporaryWorkspace;
  const at = (name: string) => paths.join(workspace.root, name);
  const here = () => readdirSync(workspace.root).sort();
  const edit = (path: string) =>
    conversation(workspace).call('fs.edit', { path, edits: [{ oldText: 'old', newText: 'new' }] });
  beforeEach(async () => {
    workspace = await temporaryWorkspace({ 'a.txt': 'old\n' });
  });
  afterEach(() => workspace.cleanup());

  for (const mode of [0o755, 0o600, 0o640, 0o644])
    it(`keeps its permissions ${mode.toString(8)}`, async () => {
      chmodSync(at('a.txt'), mode);
      await data(edit('a.txt'));
      assert.deepEqual([workspace.read('a.txt'), statSync(at('a.txt')).mode & 0o7777], ['new\n', mode]);
    });

  it('takes from a changed program the right to run as its owner, as the system does', async () => {
    chmodSync(at('a.txt'), 0o4755);
    await data(edit('a.txt'));
    assert.equal(statSync(at('a.txt')).mode & 0o7777, 0o755);
  });

  it('leaves a link a link, and changes what it leads to', async () => {
    symlinkSync('a.txt', at('one'));
    symlinkSync('one', at('two'));
    await data(edit('two'));
    assert.deepEqual(
      [readlinkSync(at('one')), readlinkSync(at('two')), workspace.read('a.txt')],
      ['a.txt', 'one', 'new\n'],
    );
  });

  for (const [what, target] of [
    ['to nothing', 'nowhere'],
    ['to outside', '/etc/hostname'],
  ] as const)
    it(`refuses a link ${what}, and leaves it`, async () => {
      symlinkSync(target, at('link'));
      const { code } = await error(conversation(workspace).call('fs.write', { path: 'link', content: 'x' }));
      assert.deepEqual([code, readlinkSync(at('link')), here()], ['E_SANDBOX_VIOLATION', target, ['a.txt', 'link']]);
    });

  it('makes a file with several names one of its own: the others keep what they had', async () => {
    linkSync(at('a.txt'), at('b.txt'));
    await data(edit('a.txt'));
    assert.deepEqual(
      [workspace.read('a.txt'), workspace.read('b.txt'), statSync(at('a.txt')).nlink],
      ['new\n', 'old\n', 1],
    );
  });

  const longest = `${'é'.repeat(125)}.text`;
  for (const name of [longest, '日本語🙂.txt', 'e\u0301 と space .txt'])
    it(`knows the name ${name.slice(0, 20)} of ${Buffer.byteLength(name)} bytes`, async () => {
      await data(conversation(workspace).call('fs.write', { path: name, content: 'old\n' }));
      await data(edit(name));
      assert.equal(workspace.read(name), 'new\n');
      assert.deepEqual(here(), ['a.txt', name].sort());
    });

  it('never takes the place of a file that came meanwhile', async () => {
    await assert.rejects(createFile(at('a.txt'), Buffer.from('x')), { code: 'E_PRECONDITION_FAILED' });
    assert.deepEqual([workspace.read('a.txt'), here()], ['old\n', ['a.txt']]);
  });

  it('a new file is made once and known where the link was made and its reply lost (NFS)', async () => {
    const { link } = fsPromises;
    fsPromises.link = async (from, to) => {
      await link(from, to);
      throw Object.assign(new Error('EEXIST: file already exists, link'), { code: 'EEXIST' });
    };
    try {
      const made = await data<{ path: string }>(
        conversation(workspace).call('fs.write', { path: 'b.txt', content: 'x' }),
      );
      assert.deepEqual([made.path, workspace.read('b.txt'), here()], ['b.txt', 'x', ['a.txt', 'b.txt']]);
      await assert.rejects(createFile(at('a.txt'), Buffer.from('x')), { code: 'E_PRECONDITION_FAILED' });
    } finally {
      fsPromises.link = link;
    }
  });

  it('a new file has the permissions of any new file', async () => {
    await data(conversation(workspace).call('fs.write', { path: 'b.txt', content: 'x' }));
    writeFileSync(at('c.txt'), 'x');
    assert.equal(statSync(at('b.txt')).mode, statSync(at('c.txt')).mode);
  });

  describe('of what a kill left', () => {
    let other: ReturnType<typeof spawn>;
    let names: { dead: string; alive: string; before: string };
    beforeEach(() => {
      other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], { stdio: 'ignore' });
      names = { dead: leftover(noProcess), alive: leftover(other.pid!), before: leftover(process.pid) };
      for (const name of Object.values(names)) workspace.write(name, 'needle SECRET=1\n');
    });
    afterEach(() => void other.kill());

    it('nothing is listed, found or read unasked', async () => {
      const { call, asked } = conversation(workspace, { answer: 'deny' });
      const list = await data<{ entries: { name: string }[] }>(call('fs.list'));
      assert.deepEqual(
        list.entries.map(({ name }) => name),
        ['a.txt'],
      );
      assert.deepEqual((await data(call('fs.find', { pattern: '**' }))).files, ['a.txt']);
      assert.equal((await data(call('fs.search', { pattern: 'needle' }))).matches, 0);
      await error(call('fs.read', { path: names.alive }));
      assert.equal(asked.length, 1);
    });

    it('the next write removes it, and leaves what another window is writing', async () => {
      await data(edit('a.txt'));
      assert.deepEqual(here(), [names.alive, 'a.txt']);
    });
  });

  describe('that a kill left half, where it had to be written in place', () => {
    const half = (before: string, after: string, written: number) => {
      const [old, now] = [Buffer.from(before), Buffer.from(after)];
      return Buffer.concat([now.subarray(0, written), old.subarray(Math.min(written, now.length))]);
    };

    it('knows every half, and nothing else', () => {
      const texts = fc.string({ unit: 'binary', maxLength: 40 });
      fc.assert(
        fc.property(texts, texts, fc.nat(60), (before, after, written) => {
          const there = half(before, after, Math.min(written, Buffer.byteLength(after)));
          const [old, now] = [Buffer.from(before), Buffer.from(after)];
          assert.equal(isPartialWrite(there, old, now), !there.equals(old) && !there.equals(now));
        }),
      );
      for (const there of ['', 'nld\n', 'old\nx', 'new\n and mine', 'mine'])
        assert.equal(
          isPartialWrite(Buffer.from(there), Buffer.from('old\nand more'), Buffer.from('new\n')),
          false,
          there,
        );
    });

    for (const encoding of ['utf8', 'utf16le'] as const)
      it(`puts it right (${encoding}), and removes what was beside it`, async () => {
        const [before, after] = ['old grün\n'.repeat(500), 'new schön, and longer\n'.repeat(500)];
        const bytes = (text: string) => Buffer.from(encoding === 'utf8' ? text : `\ufeff${text}`, encoding);
        const torn = Buffer.concat([bytes(after).subarray(0, 4097), bytes(before).subarray(4097)]);
        workspace.write('a.txt', torn);
        workspace.write(leftover(noProcess), 'x');
        assert.equal(await repairInterruptedFile(workspace, { path: 'a.txt', before, after }), true);
        assert.deepEqual([readFileSync(at('a.txt')), here()], [bytes(before), ['a.txt']]);
      });

    it('leaves alone what the person has made of it since', async () => {
      workspace.write('a.txt', 'nld, and mine\n');
      assert.equal(await repairInterruptedFile(workspace, { path: 'a.txt', before: 'old\n', after: 'new\n' }), false);
      assert.equal(workspace.read('a.txt'), 'nld, and mine\n');
    });
  });

  if (isRoot) describeAsRoot();

  /** Other owners and mounts need an administrator to make them. */
  function describeAsRoot() {
    const asNobody = async <Value>(work: () => Promise<Value>): Promise<Value> => {
      chmodSync(paths.dirname(workspace.root), 0o755);
      const groups = process.getgroups!();
      process.setgroups!([]);
      process.setegid!(nobody);
      process.seteuid!(nobody);
      try {
        return await work();
      } finally {
        process.seteuid!(0);
        process.setegid!(0);
        process.setgroups!(groups);
      }
    };
    const mounted = async (args: string[], on: string, work: () => Promise<void>) => {
      execFileSync('mount', [...args, on]);
      try {
        await work();
      } finally {
        execFileSync('umount', [on]);
      }
    };

    it('keeps its owner', async () => {
      chownSync(at('a.txt'), nobody, 4242);
      chmodSync(at('a.txt'), 0o640);
      await data(edit('a.txt'));
      const { uid, gid, mode } = statSync(at('a.txt'));
      assert.deepEqual([workspace.read('a.txt'), uid, gid, mode & 0o777], ['new\n', nobody, 4242, 0o640]);
    });

    it("of another owner's, which everybody may write, is done in place", async () => {
      chmodSync(workspace.root, 0o777);
      chmodSync(at('a.txt'), 0o666);
      const { ino } = statSync(at('a.txt'));
      await asNobody(() => data(edit('a.txt')));
      assert.deepEqual(
        [workspace.read('a.txt'), statSync(at('a.txt')).ino, statSync(at('a.txt')).uid],
        ['new\n', ino, 0],
      );
      assert.deepEqual(here(), ['a.txt']);
    });

    it('in a folder that takes no new files is done in place', async () => {
      chmodSync(workspace.root, 0o755);
      chownSync(at('a.txt'), nobody, nobody);
      await asNobody(() => data(edit('a.txt')));
      assert.deepEqual([workspace.read('a.txt'), here()], ['new\n', ['a.txt']]);
    });

    it("of another owner's, which only they may write, is refused whatever the folder allows", async () => {
      chmodSync(workspace.root, 0o777);
      const { message } = await asNobody(() => error(edit('a.txt')));
      assert.match(message, /No permission/);
      assert.deepEqual([workspace.read('a.txt'), here()], ['old\n', ['a.txt']]);
    });

    it('with another name in a folder that takes no new files is refused: that name would change, too', async () => {
      chmodSync(workspace.root, 0o755);
      linkSync(at('a.txt'), paths.join(workspace.root, '../b.txt'));
      chmodSync(at('a.txt'), 0o666);
      await asNobody(() => error(edit('a.txt')));
      assert.equal(workspace.read('a.txt'), 'old\n');
    });

    it('that is a mount of its own is done in place', async () => {
      writeFileSync(at('b.txt'), 'old\n');
      await mounted(['--bind', at('b.txt')], at('a.txt'), async () => {
        await data(edit('a.txt'));
        assert.deepEqual([workspace.read('a.txt'), workspace.read('b.txt')], ['new\n', 'new\n']);
      });
      assert.deepEqual([workspace.read('a.txt'), here()], ['old\n', ['a.txt', 'b.txt']]);
    });

    it('on a full disk changes nothing, in place or not', async () => {
      mkdirSync(at('small'));
      const text = `old\n${'x'.repeat(20_000)}`;
      await mounted(['-t', 'tmpfs', '-o', 'size=64k', 'none'], at('small'), async () => {
        workspace.write('small/a.txt', text);
        const content = 'y'.repeat(60_000);
        const { message } = await error(conversation(workspace).call('fs.write', { path: 'small/a.txt', content }));
        assert.match(message, /ENOSPC/);
        assert.deepEqual([workspace.read('small/a.txt'), readdirSync(at('small'))], [text, ['a.txt']]);
        await mounted(['--bind', at('small/a.txt')], at('a.txt'), async () => {
          await assert.rejects(replaceFile(at('a.txt'), Buffer.alloc(80_000)), /ENOSPC/);
          assert.equal(workspace.read('a.txt'), text);
        });
        assert.deepEqual([existsSync(at('small/b.txt')), lstatSync(at('small/a.txt')).nlink], [false, 1]);
      });
    });

    it('on a disk that may only be read says so, also where a folder would have to be made', async () => {
      mkdirSync(at('fixed'));
      await mounted(['-t', 'tmpfs', '-o', 'ro', 'none'], at('fixed'), async () => {
        const { message } = await error(
          conversation(workspace).call('fs.write', { path: 'fixed/new/a.txt', content: 'a' }),
        );
        assert.match(message, /EROFS/);
      });
    });
  }
});
