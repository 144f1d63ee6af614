import type { GgufMetadataValue, Tensor } from '../../src/llm/local/demo/gguf.ts';

/** Makes the tensors of a model of random weights; `width` values of each token go from layer to layer. */
export interface TensorMaker {
  width: number;
  /** Times as much as by chance what it has read before counts. */
  focus: number;
  matrix(name: string, rowLength: number, rows: number): Tensor;
  all(value: number, name: string, length?: number): Tensor;
  random(): number;
}

/** How fast the state of a layer forgets: softplus(-5) is about 1/150 of it with each token. */
const stepBias = -5;
const sizes = { kernel: 4, state: 16 };

const rankOf = (width: number) => Math.ceil(width / 16);

/** A layer of a Mamba, which has one state, as large after many tokens as after one; a Jamba normalizes what its steps are made of. */
export function recurrentLayer(
  block: string,
  { width, focus, matrix, all, random }: TensorMaker,
  isJamba: boolean,
): Tensor[] {
  const { kernel, state } = sizes;
  const inner = 2 * width;
  const rank = rankOf(width);
  const floats = (name: string, shape: number[], value: (index: number) => number): Tensor => {
    const length = shape.reduce((product, one) => product * one, 1);
    return { name: `${block}.${name}`, shape, type: 'F32', data: Float32Array.from({ length }, (_, at) => value(at)) };
  };
  const out = matrix(`${block}.ssm_out`, inner, width);
  for (const at of out.data.keys()) out.data[at]! *= focus;
  const any = (scale: number) => () => (random() - 0.5) * scale;
  return [
    all(1, `${block}.attn_norm`),
    matrix(`${block}.ssm_in`, width, 2 * inner),
    floats('ssm_conv1d.weight', [kernel, inner], any(2)),
    floats('ssm_conv1d.bias', [inner], any(0.1)),
    matrix(`${block}.ssm_x`, inner, rank + 2 * state),
    floats('ssm_dt.weight', [rank, inner], any(1)),
    floats('ssm_dt.bias', [inner], () => stepBias),
    floats('ssm_a', [state, inner], (at) => -1 - (at % state)),
    floats('ssm_d', [inner], () => 0.1),
    out,
    ...(isJamba
      ? [all(1, `${block}.ssm_dt_norm`, rank), ...['b', 'c'].map((one) => all(1, `${block}.ssm_${one}_norm`, state))]
      : []),
  ];
}

export function recurrentMetadata(kind: string, width: number): Record<string, GgufMetadataValue> {
  const u32 = (value: number): GgufMetadataValue => ({ type: 'u32', value });
  return {
    [`${kind}.ssm.conv_kernel`]: u32(sizes.kernel),
    [`${kind}.ssm.inner_size`]: u32(2 * width),
    [`${kind}.ssm.state_size`]: u32(sizes.state),
    [`${kind}.ssm.time_step_rank`]: u32(rankOf(width)),
  };
}
