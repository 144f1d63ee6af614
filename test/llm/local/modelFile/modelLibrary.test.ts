import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { encodeGguf, type GgufMetadataValue } from '../../../../src/llm/local/demo/gguf.ts';
import { parseModelAddress } from '../../../../src/llm/local/download/modelAddress.ts';
import { inspectInstalledEngines } from '../../../../src/llm/local/engineInstall/engines.ts';
import { readGgufInfo } from '../../../../src/llm/local/modelFile/ggufInfo.ts';
import { memoryFit, usualLocalContextSize } from '../../../../src/llm/local/modelFile/memoryFit.ts';
import { listModelFiles } from '../../../../src/llm/local/modelFile/modelLibrary.ts';
import { bestModelForMachine, recommendedModels } from '../../../../src/llm/local/modelFile/recommendedModels.ts';
import { byteSizeText } from '../../../../src/protocol/text/byteSizes.ts';

const text = (value: string): GgufMetadataValue => ({ type: 'str', value });
const u32 = (value: number): GgufMetadataValue => ({ type: 'u32', value });

/** A header like that of a real model, with next to no weights behind it. */
function gguf(more: Record<string, GgufMetadataValue> = {}): Buffer {
  const metadata = {
    'general.architecture': text('qwen3'),
    'general.name': text('Qwen3-4B-Instruct-2507'),
    'general.size_label': text('4B'),
    'general.file_type': u32(15),
    'general.license': text('apache-2.0'),
    'qwen3.block_count': u32(36),
    'qwen3.context_length': u32(262_144),
    'qwen3.embedding_length': u32(2560),
    'qwen3.attention.head_count': u32(32),
    'qwen3.attention.head_count_kv': u32(8),
    'qwen3.attention.key_length': u32(128),
    'qwen3.attention.value_length': u32(128),
    'tokenizer.ggml.tokens': { type: 'str[]', value: Array.from({ length: 1000 }, (_, id) => `token ${id}`) },
    'tokenizer.ggml.scores': { type: 'f32[]', value: Array.from({ length: 1000 }, () => 0) },
    'tokenizer.chat_template': text(`{% for message in messages %}${'x'.repeat(9000)}{% endfor %}`),
    ...more,
  } satisfies Record<string, GgufMetadataValue>;
  return encodeGguf(metadata, [
    { name: 'token_embd.weight', shape: [32, 4], type: 'F32', data: new Float32Array(128) },
  ]);
}

describe('the models on this machine', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'towpath-library-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const put = (name: string, bytes: Buffer | string) => {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, bytes);
    return file;
  };

  it('a file says what it is without being loaded', () => {
    assert.deepEqual(readGgufInfo(put('model.gguf', gguf())), {
      name: 'Qwen3-4B-Instruct-2507',
      architecture: 'qwen3',
      sizeLabel: '4B',
      parameters: 128,
      quantisation: 'Q4_K_M',
      trainedContext: 262_144,
      layers: 36,
      bytesPerToken: 147_456,
      licence: 'apache-2.0',
      hasChatTemplate: true,
      parts: 1,
    });
  });

  it('layers with heads of their own are counted one by one', () => {
    const heads: GgufMetadataValue = { type: 'i32[]', value: [8, 0, 4] };
    const info = readGgufInfo(put('model.gguf', gguf({ 'qwen3.attention.head_count_kv': heads })));
    assert.equal(info.bytesPerToken, 12 * 256 * 2);
  });

  it('lists every model of a folder, split ones once, and says what is wrong with the others', async () => {
    const whole = put('owner/repository/a-model.gguf', gguf());
    const first = put('split-00001-of-00002.gguf', gguf());
    const second = put('split-00002-of-00002.gguf', gguf());
    const lonely = put('third-00001-of-00003.gguf', gguf());
    const broken = put('broken.gguf', 'GGUF and then nothing of the kind');
    put('eyes.gguf', gguf({ 'general.architecture': text('clip') }));
    put('notes.txt', 'not a model');
    put('half.gguf.part', gguf());
    const models = await listModelFiles([folder, path.join(folder, 'nowhere'), whole]);
    assert.deepEqual(
      models.map(({ path: file, files, bytes, info, trouble }) => ({
        file,
        files,
        bytes,
        named: info?.sizeLabel,
        trouble,
      })),
      [
        { file: whole, files: [whole], named: '4B', trouble: undefined },
        {
          file: broken,
          files: [broken],
          named: undefined,
          trouble: 'It has GGUF version 1684955424; 2 and 3 are known.',
        },
        { file: first, files: [first, second], named: '4B', trouble: undefined },
        { file: lonely, files: [lonely], named: '4B', trouble: '2 of its 3 files are missing.' },
      ].map((model) => ({ ...model, bytes: model.files.reduce((sum, file) => sum + statSync(file).size, 0) })),
    );
  });

  it('a split model is whole, whichever way it is found, and knows what is missing', async () => {
    const [first, second, third] = [1, 2, 3].map((index) => path.join(folder, `big-0000${index}-of-00003.GGUF`));
    for (const file of [first!, second!, third!]) put(path.basename(file), gguf());
    const found = async () =>
      (await listModelFiles([first!])).map(({ path: file, files, trouble }) => ({ file, files, trouble }));
    assert.deepEqual(await found(), [{ file: first, files: [first, second, third], trouble: undefined }]);
    rmSync(second!);
    const trouble = '1 of its 3 files is missing.';
    assert.deepEqual(await found(), [{ file: first, files: [first, third], trouble }]);
  });

  it('reads a file again when it has changed', async () => {
    const file = put('model.gguf', gguf());
    assert.equal((await listModelFiles([folder]))[0]!.info?.name, 'Qwen3-4B-Instruct-2507');
    put('model.gguf', gguf({ 'general.name': text('Another one') }));
    assert.equal((await listModelFiles([file]))[0]!.info?.name, 'Another one');
  });
});

describe('whether a model fits', () => {
  const gb = 1e9;
  const qwen4 = { bytes: 2.5 * gb, bytesPerToken: 147_456, contextSize: 8192, trainedContext: 262_144 };
  const cases: [string, Partial<typeof qwen4>, { free: number; total: number }, string, number, RegExp][] = [
    [
      'with room to spare',
      {},
      { free: 8, total: 16 },
      'fits',
      8192,
      /needs about 4 GB with 8,192 tokens.*8 GB of 16 GB/,
    ],
    ['with less context', {}, { free: 4.2, total: 8 }, 'tight', 6400, /enough for 6400 tokens/],
    ['when others leave', {}, { free: 1, total: 8 }, 'tight', 0, /Close other programs first/],
    ['not at all', { bytes: 18.6 * gb }, { free: 8, total: 16 }, 'too-large', 0, /needs about 20/],
    [
      'never more than it was trained for',
      { trainedContext: 2048 },
      { free: 8, total: 16 },
      'fits',
      2048,
      /2,048 tokens/,
    ],
  ];
  for (const [what, change, { free, total }, verdict, contextSize, reason] of cases)
    it(what, () => {
      const fit = memoryFit({ ...qwen4, ...change }, { freeMemory: free * gb, totalMemory: total * gb });
      assert.deepEqual([fit.verdict, fit.contextSize], [verdict, contextSize]);
      assert.match(fit.reason, reason);
    });

  const sizes: [string, Partial<typeof qwen4>, number, number][] = [
    ['what a third of it holds', {}, 8, 17_920],
    ['no more than is allowed', { contextSize: 12_000 }, 8, 12_000],
    ['nothing that the weights need', { bytes: 5 * gb }, 7, 6144],
  ];
  for (const [what, change, free, tokens] of sizes)
    it(`its context comes to ${what}`, () => {
      const model = { ...qwen4, contextSize: 32_768, ...change };
      assert.equal(memoryFit(model, { freeMemory: free * gb, totalMemory: 16 * gb }).contextSize, tokens);
    });

  it('what it usually comes to does not depend on what is free', () =>
    assert.deepEqual(
      [8, 16, 64].map((total) => usualLocalContextSize({ ...qwen4, contextSize: 32_768 }, { totalMemory: total * gb })),
      [9984, 21_504, 32_768],
    ));

  it('sizes read like those of download pages', () =>
    assert.deepEqual([40_000, 232_000, 5e7, 6.4e8, 2.497e9, 18.6e9, 1.2e12].map(byteSizeText), [
      '40 kB',
      '0.2 MB',
      '50 MB',
      '640 MB',
      '2.5 GB',
      '18.6 GB',
      '1200 GB',
    ]));

  const machines: [number, number, string][] = [
    [4, 1, 'Qwen3 1.7B'],
    [8, 5, 'Qwen3 1.7B'],
    [16, 10, 'Qwen3 4B Instruct 2507'],
    [32, 20, 'Qwen3 8B'],
    [64, 50, 'gpt-oss 20B'],
    [128, 100, 'Qwen3 Coder 30B A3B Instruct'],
  ];
  for (const [total, free, name] of machines)
    it(`with ${total} GB one begins with ${name}`, () =>
      assert.equal(bestModelForMachine({ totalMemory: total * gb, freeMemory: free * gb }, 8192).name, name));

  it('every curated model has an address of the hub that names its kind', () => {
    for (const { address } of recommendedModels) {
      const parsed = parseModelAddress(address, 'https://huggingface.co');
      assert.ok(parsed.kind === 'hub' && parsed.quantisation, address);
    }
  });
});

describe('the engines for local models', () => {
  let modules: string;
  beforeEach(() => {
    modules = mkdtempSync(path.join(tmpdir(), 'towpath-engines-'));
  });
  afterEach(() => rmSync(modules, { recursive: true }));
  const install = (folderName: string, packageName = folderName) => {
    const folder = path.join(modules, '@node-llama-cpp', folderName);
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ name: `@node-llama-cpp/${packageName}` }));
  };
  const nvidia = (file: string) => file === '/proc/driver/nvidia/version';
  const linux = (exists: (file: string) => boolean) => ({ platform: 'linux', arch: 'x64', exists });

  it('none, and nothing to run it on', () =>
    assert.deepEqual(
      inspectInstalledEngines(
        modules,
        linux(() => false),
      ),
      { installed: [], gpu: [] },
    ));
  it('a card without an engine for it', () => {
    install('linux-x64');
    install('linux-x64-cuda', 'win-arm64');
    assert.deepEqual(inspectInstalledEngines(modules, linux(nvidia)), {
      installed: ['linux-x64'],
      gpu: [],
      hardware: 'An NVIDIA driver.',
      advice: 'Run *Towpath: Add GPU Engine…* to add an engine for it.',
    });
  });
  it('a card and its engine', () => {
    install('linux-x64');
    install('linux-x64-cuda');
    assert.deepEqual(inspectInstalledEngines(modules, linux(nvidia)), {
      installed: ['linux-x64', 'linux-x64-cuda'],
      gpu: ['cuda'],
      hardware: 'An NVIDIA driver.',
    });
  });
  it('Apple’s own chips', () => {
    install('mac-arm64-metal');
    assert.deepEqual(inspectInstalledEngines(modules, { platform: 'darwin', arch: 'arm64', exists: () => false }), {
      installed: ['mac-arm64-metal'],
      gpu: ['metal'],
      hardware: 'Apple graphics (Metal).',
    });
  });
});
