import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { LLMError } from '../../../../src/llm/core/errors.ts';
import {
  type DownloadOptions,
  type DownloadProgress,
  downloadModelFiles,
} from '../../../../src/llm/local/download/download.ts';
import { parseModelAddress } from '../../../../src/llm/local/download/modelAddress.ts';
import { findDownloadableModel } from '../../../../src/llm/local/download/modelHub.ts';
import { discardPartialDownload, pausedDownloads } from '../../../../src/llm/local/download/partialDownload.ts';
import { StoreError } from '../../../../src/runs/journal.ts';
import { acquireRunLock } from '../../../../src/runs/lock.ts';
import { eventually } from '../../../support/eventually.ts';
import { type Hub, sha256, startHub } from '../../../support/hub.ts';

const repository = 'ada/Tiny-GGUF';
const name = 'Tiny-Q4_K_M.gguf';
const address = `hf:${repository}`;
const size = 300_000;
const bytes = Buffer.from(Array.from({ length: size }, (_, index) => (index * 7919) % 251));
const others = Buffer.from(bytes).reverse();

describe('downloading a model', () => {
  let hub: Hub;
  let folder: string;
  beforeEach(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'towpath-download-'));
    hub = await startHub({ [repository]: { [name]: { bytes }, 'mmproj-Tiny-Q4_K_M.gguf': { bytes: others } } });
  });
  afterEach(async () => {
    await hub.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const find = (text = address, connectMs = 15_000) =>
    findDownloadableModel(parseModelAddress(text, hub.url), text, { hub: hub.url, connectMs });
  const get = async (options: Partial<DownloadOptions> = {}, text = address) =>
    downloadModelFiles(await find(text), { folder, lock: acquireRunLock, retryMs: 1, ...options });
  /** Ends the download from outside when this much has come. */
  const stopAt = (received: number): Partial<DownloadOptions> => {
    const stop = new AbortController();
    const onProgress = (progress: DownloadProgress) => {
      if (progress.received >= received) stop.abort(new Error('paused'));
    };
    return { signal: stop.signal, onProgress };
  };
  const asked = (server: 'hub' | 'store') => hub.requests.filter((request) => request.server === server);
  const ranges = () => asked('store').map(({ headers }) => [headers.range, headers['if-range']]);
  const whole = () => {
    assert.deepEqual(readdirSync(folder), [name]);
    assert.equal(sha256(readFileSync(path.join(folder, name))), sha256(bytes));
  };
  const fails = async (promise: Promise<unknown>, code: string, says: RegExp) => {
    const error = await promise.then(
      () => assert.fail('It should have failed.'),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof LLMError, String(error));
    assert.equal(error.code, code);
    assert.match(error.message, says);
    assert.deepEqual(readdirSync(folder), [], 'nothing is left behind');
  };

  it('follows the redirect to the store, checks the sum, tells how far it is', async () => {
    const seen: DownloadProgress[] = [];
    assert.equal(await get({ onProgress: (progress) => seen.push(progress) }), path.join(folder, name));
    whole();
    assert.deepEqual(seen.at(-1), { state: 'downloading', received: size, total: size });
  });

  it('goes on where the connection was cut', async () => {
    hub.cutAfter = 120_000;
    await get();
    whole();
    const etag = `"${sha256(bytes).slice(0, 16)}"`;
    assert.deepEqual(ranges(), [
      [undefined, undefined],
      ['bytes=120000-', etag],
      ['bytes=240000-', etag],
    ]);
  });

  it('gives up on a store that cuts without a byte, and keeps what came', async () => {
    hub.cutAfter = 120_000;
    const model = await find();
    const onProgress = () => {
      hub.cutAfter = 0;
    };
    await assert.rejects(downloadModelFiles(model, { folder, lock: acquireRunLock, retryMs: 1, onProgress }), {
      code: 'LLM_INCOMPLETE',
    });
    assert.deepEqual(await pausedDownloads(folder), [
      { address, first: path.join(folder, name), received: 120_000, total: size },
    ]);
  });

  it('is paused and resumed, also by another window', async () => {
    await assert.rejects(get(stopAt(100_000)), /paused/);
    const [paused] = await pausedDownloads(folder);
    assert.ok(paused && paused.received >= 100_000 && paused.received < size);
    assert.equal(existsSync(path.join(folder, name)), false, 'half a model has no model’s name');
    await get();
    whole();
    assert.equal(ranges().at(-1)![0], `bytes=${paused.received}-`);
  });

  it('is cancelled, and nothing stays', async () => {
    await assert.rejects(get(stopAt(100_000)), /paused/);
    await discardPartialDownload(path.join(folder, name));
    assert.deepEqual(readdirSync(folder), []);
  });

  it('stops reading a list of files that does not end', async () => {
    const blanks = ' '.repeat(1 << 20);
    let closed = (): void => {};
    const isClosed = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const endless = createServer((_, response) => {
      response.on('close', closed);
      const write = () => {
        while (!response.destroyed && response.write(blanks));
      };
      response.on('drain', write).writeHead(200, { 'content-type': 'application/json' });
      write();
    });
    await once(endless.listen(0, '127.0.0.1'), 'listening');
    try {
      const url = `http://127.0.0.1:${(endless.address() as AddressInfo).port}`;
      const list = findDownloadableModel(parseModelAddress(address, url), address, { hub: url });
      await fails(list, 'LLM_BAD_RESPONSE', /does not list files as a model hub does/);
      await isClosed;
    } finally {
      endless.close();
    }
  });

  it('starts over when the hub has another file by now', async () => {
    await assert.rejects(get(stopAt(100_000)), /paused/);
    hub.repositories[repository]![name] = { bytes: others };
    await get();
    assert.equal(sha256(readFileSync(path.join(folder, name))), sha256(others));
    assert.equal(ranges().at(-1)![0], undefined);
  });

  it('starts over when the store says that the file has changed, though nobody names a checksum', async () => {
    const byUrl = `${hub.store}/${repository}/${name}`;
    await assert.rejects(get(stopAt(100_000), byUrl), /paused/);
    hub.repositories[repository]![name] = { bytes: others };
    await get({}, byUrl);
    assert.equal(sha256(readFileSync(path.join(folder, name))), sha256(others));
    assert.match(String(ranges().at(-1)![0]), /^bytes=\d+-$/);
  });

  it('starts over where ranges are ignored', async () => {
    await assert.rejects(get(stopAt(100_000)), /paused/);
    hub.noRanges = true;
    await get();
    whole();
  });

  it('without a checksum and a strong tag nothing half done is trusted', async () => {
    hub.etag = 'W/"weak"';
    const byUrl = `${hub.store}/${repository}/${name}`;
    await assert.rejects(get(stopAt(100_000), byUrl), /paused/);
    await get({}, byUrl);
    whole();
    assert.equal(ranges().at(-1)![0], undefined);
  });

  it('a wrong checksum is said, and the file is gone', async () => {
    hub.repositories[repository]![name] = { bytes, sha256: sha256(others) };
    await fails(get(), 'LLM_BAD_RESPONSE', /was damaged during the download/);
  });

  it('a model in parts is one download, and the first part is what is loaded', async () => {
    const part = (index: number) => `big/Big-Q4_K_M-0000${index}-of-00002.gguf`;
    hub.repositories[repository] = { [part(2)]: { bytes: others }, [part(1)]: { bytes } };
    assert.equal(await get(), path.join(folder, 'Big-Q4_K_M-00001-of-00002.gguf'));
    assert.deepEqual(readdirSync(folder).sort(), ['Big-Q4_K_M-00001-of-00002.gguf', 'Big-Q4_K_M-00002-of-00002.gguf']);
    delete hub.repositories[repository][part(2)];
    await assert.rejects(find(), /split into 2 files, but only 1 exists?\.$/);
  });

  it('a model in parts is whole by its address on the web, too, whichever of its files that names', async () => {
    const part = (index: number) => `Big model-0000${index}-of-00002.gguf`;
    hub.repositories[repository] = { [part(1)]: { bytes }, [part(2)]: { bytes: others } };
    const second = `${hub.store}/${repository}/${encodeURIComponent(part(2))}?download=true`;
    assert.equal(await get({}, second), path.join(folder, part(1)));
    assert.deepEqual(
      [1, 2].map((index) => sha256(readFileSync(path.join(folder, part(index))))),
      [sha256(bytes), sha256(others)],
    );
    delete hub.repositories[repository][part(1)];
    await assert.rejects(find(second), /There is no Big model-00001-of-00002\.gguf at/);
  });

  it('two windows do not download the same model', async () => {
    hub.pieceMs = 5;
    const first = get();
    await eventually('it is being fetched', () => asked('store').length > 0);
    await assert.rejects(get(), { code: 'STORE_LOCKED' });
    await first;
    whole();
  });

  it('a file of the person’s is not touched; the same file is not fetched again', async () => {
    writeFileSync(path.join(folder, name), 'mine');
    await assert.rejects(get(), /Another file exists at/);
    assert.equal(readFileSync(path.join(folder, name), 'utf8'), 'mine');
    writeFileSync(path.join(folder, name), bytes);
    await get();
    assert.deepEqual(asked('store'), []);
    whole();
  });

  it('sends no token, whatever the environment holds', async () => {
    const before = process.env.HF_TOKEN;
    process.env.HF_TOKEN = 'hf_CANARYTOKEN1234567890';
    try {
      await get();
    } finally {
      if (before === undefined) delete process.env.HF_TOKEN;
      else process.env.HF_TOKEN = before;
    }
    assert.ok(hub.requests.length >= 3);
    for (const { headers } of hub.requests)
      assert.deepEqual(
        [headers.authorization, headers.cookie, JSON.stringify(headers).includes('CANARY')],
        [undefined, undefined, false],
      );
  });

  describe('what cannot be had is told', () => {
    it('no room on the disk', () =>
      fails(get({ freeBytes: async () => 1_000_000 }), 'UNKNOWN', /0\.3 MB are needed and 1 MB are free/));

    it('a disk without room for the first note of it', async () => {
      const lock = () => Promise.reject(StoreError.from(Object.assign(new Error('full'), { code: 'ENOSPC' })));
      await fails(get({ freeBytes: async () => 0, lock }), 'UNKNOWN', /^There is not enough space in /);
    });

    it('a place where no folder can be', async () => {
      const file = path.join(path.dirname(folder), `${path.basename(folder)}.txt`);
      writeFileSync(file, 'in the way');
      try {
        const says =
          /^Models cannot be stored in .*models \(\w+\)\. Set another download folder, or make this one writable/;
        await fails(get({ folder: path.join(file, 'models') }), 'UNKNOWN', says);
      } finally {
        rmSync(file);
      }
    });

    it('a connection that ends before anything came: nothing is said to be kept', async () => {
      hub.cutAfter = 0;
      await fails(get(), 'LLM_INCOMPLETE', /was interrupted before any data arrived\. Try again later\.$/);
    });

    it('a hub with a password in its address, which is not told', async () => {
      const withKey = hub.url.replace('://', '://ada:sk-CANARYKEY1234567890@');
      const asked = findDownloadableModel(parseModelAddress(address, withKey), address, { hub: withKey });
      await fails(
        asked,
        'LLM_HTTP_ERROR',
        /^The address at 127[\d.:]+ has a user name or password, which is not used\.$/,
      );
    });

    it('no such repository, file or kind', async () => {
      await fails(get({}, 'hf:ada/Nothing'), 'LLM_HTTP_ERROR', /There is no ada\/Nothing at 127/);
      await fails(get({}, `${address}:Q2_K`), 'LLM_HTTP_ERROR', /has no Q2_K file\. It has Tiny-Q4_K_M\.gguf\./);
      await fails(get({}, `${address}/other.gguf`), 'LLM_HTTP_ERROR', /has no other\.gguf\. It has/);
      await fails(get({}, `${hub.store}/x.gguf`), 'LLM_HTTP_ERROR', /There is no x\.gguf/);
    });

    for (const status of [401, 403])
      it(`a licence that must be accepted first (${status})`, async () => {
        hub.status = status;
        await fails(get(), 'LLM_AUTH_FAILED', /license must be accepted on its page \(http.*ada\/Tiny-GGUF\)/);
      });

    it('a hub that fails', async () => {
      hub.status = 503;
      await fails(get(), 'LLM_HTTP_ERROR', /answered 503.*Without network: pick a \.gguf file/);
    });

    it('a hub that never answers, within the limit', async () => {
      hub.silent = true;
      await fails(find(address, 50), 'LLM_TIMEOUT', /did not answer within 0\.05 seconds\. Without network/);
    });

    it('a hub that is not there', async () => {
      await hub.close();
      await fails(find(), 'LLM_HTTP_ERROR', /cannot be reached: the connection was refused\. Without network/);
    });

    it('a store that falls silent in the middle', async () => {
      const model = await find();
      hub.pieceMs = 5;
      const onProgress = () => {
        hub.pieceMs = 60_000;
      };
      const options = { folder, lock: acquireRunLock, retryMs: 1, idleMs: 50, onProgress };
      await assert.rejects(downloadModelFiles(model, options), { code: 'LLM_TIMEOUT' });
      assert.equal((await pausedDownloads(folder)).length, 1);
    });

    it('a hub that begins to answer and never ends', async () => {
      hub.unfinished = true;
      await fails(find(address, 200), 'LLM_TIMEOUT', /stopped responding\. Without network/);
    });

    it('a redirect to an unencrypted place', async () => {
      hub.redirectTo = 'http://models.example/model.gguf';
      await fails(get(), 'LLM_HTTP_ERROR', /http:\/\/models\.example is not encrypted/);
    });

    it('redirects without end', async () => {
      hub.redirectTo = `${hub.url}/${repository}/resolve/main/${name}`;
      await fails(get(), 'LLM_HTTP_ERROR', /redirects too often/);
    });
  });
});

describe('the address of a model', () => {
  const hub = 'https://huggingface.co';
  const cases: [string, unknown][] = [
    ['hf:ada/Tiny-GGUF', { kind: 'hub', repository: 'ada/Tiny-GGUF', revision: 'main' }],
    ['hf:ada/Tiny:Q8_0', { kind: 'hub', repository: 'ada/Tiny', revision: 'main', quantisation: 'Q8_0' }],
    ['hf:ada/Tiny/a/b.gguf', { kind: 'hub', repository: 'ada/Tiny', revision: 'main', file: 'a/b.gguf' }],
    ['https://huggingface.co/ada/Tiny', { kind: 'hub', repository: 'ada/Tiny', revision: 'main' }],
    [
      'https://huggingface.co/ada/Tiny/blob/v1/b.gguf?download=true',
      { kind: 'hub', repository: 'ada/Tiny', revision: 'v1', file: 'b.gguf' },
    ],
    ['https://models.example/b.gguf', { kind: 'web', url: 'https://models.example/b.gguf' }],
    ['https://models.example/b.zip', undefined],
    ['https://ada:pass@models.example/b.gguf', undefined],
    ['https://models.example/100%.gguf', undefined],
    ['https://huggingface.co/ada/Tiny/blob/main/100%.gguf', undefined],
    ['hf:ada', undefined],
    ['hf:../..', undefined],
    ['hf:ada/Tiny/../../x.gguf', undefined],
    ['file:///etc/b.gguf', undefined],
    ['', undefined],
  ];
  for (const [text, expected] of cases)
    it(`${JSON.stringify(text)} is ${expected ? 'understood' : 'refused'}`, () => {
      if (expected) assert.deepEqual(parseModelAddress(text, hub), expected);
      else assert.throws(() => parseModelAddress(text, hub), { message: /address/i });
    });
});
