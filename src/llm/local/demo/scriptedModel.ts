import { writeFileSync } from 'node:fs';
import {
  byteToken,
  type DemoAutomatonScript,
  demoContextTokens,
  endOfTurnToken,
  toTokenAutomaton,
} from './automaton.ts';
import { chatTemplate } from './chatTemplate.ts';
import { encodeGguf, type GgufMetadataValue, type Tensor } from './gguf.ts';
import { wordPieces } from './pieces.ts';
import { toDemoNetwork } from './weights.ts';

const unknown = '<unk>';
const endOfText = '<|endoftext|>';
const startOfTurn = '<|im_start|>';

const normal = 1;
const control = 3;
const userDefined = 4;
const unused = 5;
const byte = 6;

/**
 * Writes a valid GGUF model (one-layer Qwen2) whose weights play the script at any temperature. Throws if the script contradicts itself.
 */
export function writeScriptedModel(script: DemoAutomatonScript, file: string): void {
  const { metadata, tensors } = scriptedModelGguf(script);
  writeFileSync(file, encodeGguf(metadata, tensors));
}

export function scriptedModelGguf(script: DemoAutomatonScript): {
  metadata: Record<string, GgufMetadataValue>;
  tensors: Tensor[];
} {
  const automaton = toTokenAutomaton(script);
  const vocabulary = toVocabulary(automaton.tokens);
  const tokens = vocabulary.map((entry) => entry.text);
  const network = toDemoNetwork(automaton, tokens);
  const id = (text: string): GgufMetadataValue => ({ type: 'u32', value: tokens.indexOf(text) });
  const u32 = (value: number): GgufMetadataValue => ({ type: 'u32', value });
  const text = (value: string): GgufMetadataValue => ({ type: 'str', value });
  const off: GgufMetadataValue = { type: 'bool', value: false };

  const metadata: Record<string, GgufMetadataValue> = {
    'general.architecture': text('qwen2'),
    'general.name': text(script.name),
    'general.type': text('model'),
    'general.file_type': u32(7),
    'general.quantization_version': u32(2),
    'qwen2.context_length': u32(script.contextLength ?? demoContextTokens),
    'qwen2.embedding_length': u32(network.embeddingLength),
    'qwen2.block_count': u32(1),
    'qwen2.feed_forward_length': u32(network.feedForwardLength),
    'qwen2.attention.head_count': u32(network.headCount),
    'qwen2.attention.head_count_kv': u32(1),
    'qwen2.attention.layer_norm_rms_epsilon': { type: 'f32', value: 1e-6 },
    'qwen2.rope.dimension_count': u32(network.headWidth),
    // Base 1 gives all pairs the same angle; the scaling sets one radian per `ropeSpan` tokens.
    'qwen2.rope.freq_base': { type: 'f32', value: 1 },
    'qwen2.rope.scaling.type': text('linear'),
    'qwen2.rope.scaling.factor': { type: 'f32', value: network.ropeSpan },
    'qwen2.vocab_size': u32(tokens.length),
    'tokenizer.ggml.model': text('llama'),
    'tokenizer.ggml.tokens': { type: 'str[]', value: tokens },
    'tokenizer.ggml.scores': { type: 'f32[]', value: vocabulary.map((entry) => entry.score) },
    'tokenizer.ggml.token_type': { type: 'i32[]', value: vocabulary.map((entry) => entry.type) },
    'tokenizer.ggml.eos_token_id': id(endOfTurnToken),
    'tokenizer.ggml.bos_token_id': id(endOfText),
    'tokenizer.ggml.padding_token_id': id(endOfText),
    'tokenizer.ggml.unknown_token_id': id(unknown),
    'tokenizer.ggml.add_bos_token': off,
    'tokenizer.ggml.add_eos_token': off,
    'tokenizer.ggml.add_space_prefix': off,
    'tokenizer.ggml.remove_extra_whitespaces': off,
    'tokenizer.chat_template': text(chatTemplate),
  };
  return { metadata, tensors: network.tensors };
}

function toVocabulary(scriptTokens: ReadonlySet<string>) {
  const vocabulary = [
    { text: unknown, type: 2, score: 0 },
    ...[endOfText, startOfTurn, endOfTurnToken].map((text) => ({ text, type: control, score: 0 })),
    ...Array.from({ length: 256 }, (_, value) => ({ text: byteToken(value), type: byte, score: 0 })),
    ...[...scriptTokens].map((text) => ({ text, type: userDefined, score: 0 })),
    ...wordPieces
      .map((text, rank) => ({ text, type: normal, score: -rank })) // an earlier merge has priority
      .filter((piece) => !scriptTokens.has(piece.text)),
    { text: '\u2581', type: normal, score: -wordPieces.length },
  ];
  // llama.cpp's AMX kernels crash on a quantized matrix whose row count is no multiple of 32.
  while (vocabulary.length % 64) vocabulary.push({ text: `<|unused_${vocabulary.length}|>`, type: unused, score: 0 });
  return vocabulary;
}
