import assert from 'node:assert/strict';
import { localEngineText, modelDetails } from '../../../src/extension/localModels/modelDetails.ts';
import type { ChatWrapperName } from '../../../src/llm/local/ipc/chatWrappers.ts';
import type { DeviceInfo } from '../../../src/llm/local/ipc/deviceInfo.ts';

const engine = { installed: ['linux-x64'], gpu: [] };
const fit = { verdict: 'tight', needs: 4e9, contextSize: 6400, reason: 'It needs about 4 GB.' } as const;

describe('the details of a model file', () => {
  it('are what the file says, and nothing in it can draw lines of its own', () => {
    const info = {
      name: 'Evil | name\n# heading',
      architecture: 'qwen3',
      sizeLabel: '4B',
      parameters: 4_022_468_096,
      quantisation: 'Q4_K_M',
      trainedContext: 262_144,
      layers: 36,
      bytesPerToken: 147_456,
      hasChatTemplate: false,
      parts: 1,
    };
    assert.equal(
      modelDetails({ path: '/models/a.gguf', files: ['/models/a.gguf'], bytes: 2.5e9, info }, fit, engine),
      `# a.gguf

| | |
|---|---|
| Name | Evil \\| name ⏎ # heading |
| Architecture | qwen3 |
| Parameters | 4B, 4,022,468,096 |
| Quantization | Q4_K_M |
| Trained context | 262,144 tokens |
| Layers | 36 |
| Chat template | none: the engine guesses the format |
| Size on disk | 2.5 GB |
| Memory | tight. It needs about 4 GB. |
| Token | 148 kB of memory, and as much of the disk while it is cached |
| Context that fits now | 6,400 tokens |
| Runs on | the CPU (linux-x64). |
| File | /models/a.gguf |

Read from the file, without loading it. The memory is an upper estimate; graphics memory is not counted.
`,
    );
  });

  it('of a split model do not take what its first file holds for all of it', () => {
    const info = { architecture: 'qwen3', sizeLabel: '235B', parameters: 12_345, hasChatTemplate: true, parts: 3 };
    const files = [1, 2, 3].map((index) => `/models/a-0000${index}-of-00003.gguf`);
    const text = modelDetails({ path: files[0]!, files, bytes: 2.5e9, info }, fit, engine);
    assert.match(text, /^\| Parameters \| 235B \|$/m);
    assert.match(text, /^\| Size on disk \| 2\.5 GB in 3 files \|$/m);
  });

  const templates: [hasChatTemplate: boolean, ChatWrapperName, string][] = [
    [true, 'auto', 'embedded template'],
    [true, 'jinjaTemplate', 'embedded template'],
    [false, 'jinjaTemplate', 'jinjaTemplate, set by towpath.local.chatWrapper (the file has none)'],
    [true, 'chatML', 'chatML, set by towpath.local.chatWrapper (the file has its own)'],
  ];
  for (const [hasChatTemplate, chatWrapper, text] of templates)
    it(`say how it is talked to: ${text}`, () => {
      const info = { architecture: 'llama', parameters: 1, hasChatTemplate, parts: 1 };
      const details = modelDetails({ path: '/a.gguf', files: ['/a.gguf'], bytes: 1, info }, fit, engine, {
        chatWrapper,
      });
      assert.ok(details.includes(`| Chat template | ${text} |`), details);
    });

  it('tell what a loaded one runs on', () => {
    const model = { path: '/a.gguf', files: ['/a.gguf'], bytes: 1 };
    const rows = (place: DeviceInfo) =>
      modelDetails(model, fit, engine, { device: place })
        .split('\n')
        .filter((row) => row.startsWith('| In memory'));
    assert.deepEqual(
      [
        rows({ gpu: false, gpuLayers: 0, layers: 33 }),
        rows({ gpu: 'cuda', gpuLayers: 33, layers: 33 }),
        rows({ gpu: 'vulkan', gpuLayers: 12, layers: 33 }),
        rows({ gpu: 'vulkan', gpuLayers: 0, layers: 33 }),
      ],
      [
        ['| In memory | on the CPU |'],
        ['| In memory | on the GPU (cuda, 33 of 33 layers) |'],
        ['| In memory | on the GPU (vulkan, 12 of 33 layers, the others on the CPU) |'],
        ['| In memory | on the CPU (no layer fits on vulkan) |'],
      ],
    );
  });

  it('tell what came of checking it, and what went wrong', () => {
    const task = { ms: 1000, replies: 2, prompt: 10, cached: 0, written: 5 };
    const check = {
      ...{ 'towpath-check': 1 as const, model: 'local/b.gguf', at: Date.UTC(2026, 10, 24, 12), towpath: '1', of: 2 },
      tasks: [
        { id: 'call', title: 'A plain call', passed: true, ...task },
        { id: 'stop', title: 'Stops when the task is done', passed: false, why: 'It went on | on.', ...task },
      ],
      writtenPerSecond: 24,
    };
    const text = modelDetails({ path: '/models/b.gguf', files: ['/models/b.gguf'], bytes: 12 }, fit, engine, { check });
    assert.match(text, /^\| Checked \| 1 of 2 tasks · 24 tokens\/s, on 24 Nov 2026 \|$/m);
    assert.match(text, /^\| Stops when the task is done \| It went on \\\| on\. \|$/m);
    assert.doesNotMatch(text, /A plain call/);
  });

  it('of a damaged file say so', () => {
    const model = { path: '/models/b.gguf', files: ['/models/b.gguf'], bytes: 12, trouble: 'It is cut off.' };
    assert.match(modelDetails(model, fit, engine), /^# b\.gguf\n\n\*\*Cannot be used\.\*\* It is cut off\./);
  });

  const engines: [string, Parameters<typeof localEngineText>[0], string][] = [
    ['none', { installed: [], gpu: [], missing: 'It has none. Get one.' }, 'nothing: It has none. Get one.'],
    [
      'a card without its engine',
      { installed: ['linux-x64'], gpu: [], hardware: 'An NVIDIA driver.', advice: 'Run it.' },
      'the CPU (linux-x64). Found: An NVIDIA driver. Run it.',
    ],
    [
      'a GPU engine',
      { installed: ['mac-arm64-metal'], gpu: ['metal'] },
      'metal if it works, else the CPU (mac-arm64-metal).',
    ],
  ];
  it('what runs it when the GPU is switched off', () =>
    assert.equal(
      localEngineText({ installed: ['mac-arm64-metal'], gpu: ['metal'] }, false),
      'the CPU (mac-arm64-metal), because towpath.local.gpu is off.',
    ));

  for (const [what, state, text] of engines)
    it(`what runs it, honestly: ${what}`, () => assert.equal(localEngineText(state), text));
});
