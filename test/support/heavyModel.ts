import { writeFileSync } from 'node:fs';
import type { DemoAutomatonScript } from '../../src/llm/local/demo/automaton.ts';
import { encodeGguf } from '../../src/llm/local/demo/gguf.ts';
import { scriptedModelGguf } from '../../src/llm/local/demo/scriptedModel.ts';
import { generator } from './random.ts';

/** What a layer adds to what it was given: of nothing, it costs all that a layer costs and says nothing. */
const additions = ['blk.0.attn_output.weight', 'blk.0.ffn_down.weight'];

/** Writes a scripted model with so many layers, which costs as much as a model of its size does for each token. */
export function writeHeavyModel(script: DemoAutomatonScript, file: string, layers: number): void {
  const { metadata, tensors } = scriptedModelGguf(script);
  const random = generator(7);
  const first = tensors.filter(({ name }) => name.startsWith('blk.0.'));
  const more = Array.from({ length: layers - 1 }, (_, at) =>
    first.map((tensor) => ({
      ...tensor,
      name: tensor.name.replace('blk.0.', `blk.${at + 1}.`),
      data: additions.includes(tensor.name)
        ? new Float32Array(tensor.data.length)
        : tensor.data.map(() => (random() - 0.5) / 16),
    })),
  );
  metadata['qwen2.block_count'] = { type: 'u32', value: layers };
  writeFileSync(file, encodeGguf(metadata, [...tensors, ...more.flat()]));
}
