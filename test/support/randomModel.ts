import { writeFileSync } from 'node:fs';
import { byteToken } from '../../src/llm/local/demo/automaton.ts';
import { chatTemplate } from '../../src/llm/local/demo/chatTemplate.ts';
import { encodeGguf, type GgufMetadataValue, type Tensor } from '../../src/llm/local/demo/gguf.ts';
import { generator } from './random.ts';
import { recurrentLayer, recurrentMetadata, type TensorMaker } from './recurrentLayers.ts';

export interface RandomModelOptions {
  /** Tokens with a text of their own, besides bytes. */
  words?: readonly string[];
  layers?: number;
  /** A multiple of 64. */
  width?: number;
  /** Tokens that every other layer looks back, as in a Gemma 2: what it has read cannot be cut back further. */
  window?: number;
  /** Tokens of a context beyond which it writes down in another way where a token stands, as a Phi 3. */
  scaledBeyond?: number;
  /** Times as much as by chance it looks at single tokens, wherever they are: then what it says depends on what was said long before. */
  focus?: number;
  /** It says its words alone, and never ends: what it has said is read as the tokens that it wrote, if each word is one character. */
  saysWords?: boolean;
  /** What it has read is one state, as in a Mamba, or that and what single tokens say, as in a Jamba: it cannot be cut back at all. */
  memory?: 'recurrent' | 'hybrid';
  /** Temperature that its file recommends. */
  temperature?: number;
}

const headWidth = 64;

/** Writes a genuine model (a small Llama, if nothing else is asked for) of random weights: it says anything, and costs what a model of its size costs. */
export function writeRandomModel(
  file: string,
  {
    words = [],
    layers = 1,
    width = 64,
    window,
    scaledBeyond,
    focus = 1,
    saysWords,
    memory,
    temperature,
  }: RandomModelOptions = {},
): void {
  const kind = kindOf({ window, memory });
  const special = ['<unk>', '<|endoftext|>', '<|im_start|>', '<|im_end|>'];
  const bytes = Array.from({ length: 256 }, (_, value) => byteToken(value));
  const own = [...new Set(['\u2581', ...words.map((word) => word.replaceAll(' ', '\u2581'))])];
  const tokens = [...special, ...bytes, ...own];
  const types = [2, 3, 3, 3, ...bytes.map(() => 6), ...own.map(() => 1)];
  while (tokens.length % 64) {
    tokens.push(`<|unused_${tokens.length}|>`);
    types.push(5);
  }
  const random = generator(42);
  const inner = width * 3;
  const matrix = (name: string, rowLength: number, rows: number): Tensor => {
    const data = new Float32Array(rowLength * rows);
    const scale = (name.endsWith('attn_q') ? 2 * focus : 2) / Math.sqrt(rowLength);
    for (let index = 0; index < data.length; index++) data[index] = (random() - 0.5) * scale;
    return { name: `${name}.weight`, shape: [rowLength, rows], type: 'Q8_0', data };
  };
  const all = (value: number, name: string, length = width): Tensor => ({
    name: `${name}.weight`,
    shape: [length],
    type: 'F32',
    data: new Float32Array(length).fill(value),
  });
  const ones = (name: string) => all(1, name);
  const output = (): Tensor => {
    const tensor = matrix('output', width, tokens.length);
    const first = special.length + bytes.length + 1; // after the blank
    if (saysWords) tensor.data.fill(0, 0, first * width).fill(0, (first + own.length - 1) * width);
    return tensor;
  };
  const maker: TensorMaker = { width, focus, matrix, all, random };
  const isRecurrent = (layer: number) => memory === 'recurrent' || (memory === 'hybrid' && layer % 2 === 0);
  const tensors = [
    matrix('token_embd', width, tokens.length),
    ...Array.from({ length: layers }, (_, layer) => [`blk.${layer}`, isRecurrent(layer)] as const).flatMap(
      ([block, isState]) => [
        ...(isState
          ? recurrentLayer(block, maker, memory === 'hybrid')
          : [
              ones(`${block}.attn_norm`),
              ...['attn_q', 'attn_k', 'attn_v', 'attn_output'].map((name) => matrix(`${block}.${name}`, width, width)),
            ]),
        ...(memory === 'recurrent'
          ? []
          : [
              ones(`${block}.ffn_norm`),
              matrix(`${block}.ffn_gate`, width, inner),
              matrix(`${block}.ffn_up`, width, inner),
              matrix(`${block}.ffn_down`, inner, width),
            ]),
        ...(window === undefined
          ? []
          : ['post_attention_norm', 'post_ffw_norm'].map((name) => ones(`${block}.${name}`))),
      ],
    ),
    ones('output_norm'),
    ...(window === undefined ? [output()] : []), // a Gemma has one matrix for both
    ...(scaledBeyond === undefined
      ? []
      : [all(1, 'rope_factors_short', headWidth / 2), all(8, 'rope_factors_long', headWidth / 2)]),
  ];
  const u32 = (value: number): GgufMetadataValue => ({ type: 'u32', value });
  const text = (value: string): GgufMetadataValue => ({ type: 'str', value });
  const off: GgufMetadataValue = { type: 'bool', value: false };
  const metadata: Record<string, GgufMetadataValue> = {
    'general.architecture': text(kind),
    'general.name': text('Random weights'),
    ...(temperature !== undefined && { 'general.sampling.temp': { type: 'f32', value: temperature } as const }),
    'general.file_type': u32(7),
    'general.quantization_version': u32(2),
    [`${kind}.context_length`]: u32(32_768),
    [`${kind}.embedding_length`]: u32(width),
    [`${kind}.block_count`]: u32(layers),
    [`${kind}.feed_forward_length`]: u32(memory === 'recurrent' ? 0 : inner),
    [`${kind}.attention.head_count`]: u32(memory === 'recurrent' ? 0 : width / headWidth),
    [`${kind}.attention.head_count_kv`]:
      memory === undefined
        ? u32(width / headWidth)
        : {
            type: 'i32[]',
            value: Array.from({ length: layers }, (_, layer) => (isRecurrent(layer) ? 0 : width / headWidth)),
          },
    ...(memory !== undefined && recurrentMetadata(kind, width)),
    [`${kind}.attention.layer_norm_rms_epsilon`]: { type: 'f32', value: 1e-5 },
    [`${kind}.rope.dimension_count`]: u32(headWidth),
    [`${kind}.rope.freq_base`]: { type: 'f32', value: 10_000 },
    ...(window !== undefined && { [`${kind}.attention.sliding_window`]: u32(window) }),
    ...(scaledBeyond !== undefined && {
      [`${kind}.rope.scaling.type`]: text('longrope'),
      [`${kind}.rope.scaling.original_context_length`]: u32(scaledBeyond),
    }),
    [`${kind}.vocab_size`]: u32(tokens.length),
    'tokenizer.ggml.model': text('llama'),
    'tokenizer.ggml.tokens': { type: 'str[]', value: tokens },
    'tokenizer.ggml.scores': { type: 'f32[]', value: tokens.map((_, index) => -index) },
    'tokenizer.ggml.token_type': { type: 'i32[]', value: types },
    'tokenizer.ggml.bos_token_id': u32(1),
    'tokenizer.ggml.eos_token_id': u32(3),
    'tokenizer.ggml.unknown_token_id': u32(0),
    'tokenizer.ggml.add_bos_token': off,
    'tokenizer.ggml.add_space_prefix': off,
    'tokenizer.chat_template': text(chatTemplate),
  };
  writeFileSync(file, encodeGguf(metadata, tensors));
}

function kindOf({ window, memory }: RandomModelOptions): string {
  if (memory === 'recurrent') return 'mamba';
  if (memory === 'hybrid') return 'jamba';
  return window === undefined ? 'llama' : 'gemma2';
}
