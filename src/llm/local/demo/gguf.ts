/** Writer of GGUF (version 3), the file format of llama.cpp: metadata, tensor table, then aligned tensors. */

export type GgufMetadataValue =
  | { type: 'u32' | 'f32'; value: number }
  | { type: 'bool'; value: boolean }
  | { type: 'str'; value: string }
  | { type: 'i32[]' | 'f32[]'; value: readonly number[] }
  | { type: 'str[]'; value: readonly string[] };

type TensorType = 'F32' | 'F16' | 'Q8_0';

export interface Tensor {
  name: string;
  shape: readonly number[];
  type: TensorType;
  data: Float32Array;
}

const alignment = 32;
const valueIds = { u32: 4, i32: 5, f32: 6, bool: 7, str: 8 } as const;
const arrayId = 9;
const tensorIds: Record<TensorType, number> = { F32: 0, F16: 1, Q8_0: 8 };

export function encodeGguf(metadata: Record<string, GgufMetadataValue>, tensors: readonly Tensor[]): Buffer {
  const entries = Object.entries(metadata);
  const parts: Buffer[] = [Buffer.from('GGUF'), u32(3), u64(tensors.length), u64(entries.length)];
  for (const [key, value] of entries) parts.push(str(key), ...encodeValue(value));

  const encoded = tensors.map((tensor) => encodeTensor(tensor.type, tensor.data));
  let offset = 0;
  tensors.forEach((tensor, index) => {
    parts.push(str(tensor.name), u32(tensor.shape.length), ...tensor.shape.map(u64));
    parts.push(u32(tensorIds[tensor.type]), u64(offset));
    offset += aligned(encoded[index]!.length);
  });

  const header = Buffer.concat(parts);
  return Buffer.concat([padded(header), ...encoded.map(padded)]);
}

function encodeValue(entry: GgufMetadataValue): Buffer[] {
  switch (entry.type) {
    case 'str[]':
      return [u32(arrayId), u32(valueIds.str), u64(entry.value.length), ...entry.value.map(str)];
    case 'i32[]':
      return [u32(arrayId), u32(valueIds.i32), u64(entry.value.length), ...entry.value.map(i32)];
    case 'f32[]':
      return [u32(arrayId), u32(valueIds.f32), u64(entry.value.length), ...entry.value.map(f32)];
    case 'str':
      return [u32(valueIds.str), str(entry.value)];
    case 'bool':
      return [u32(valueIds.bool), Buffer.from([entry.value ? 1 : 0])];
    case 'u32':
      return [u32(valueIds.u32), u32(entry.value)];
    case 'f32':
      return [u32(valueIds.f32), f32(entry.value)];
  }
}

function encodeTensor(type: TensorType, data: Float32Array): Buffer {
  switch (type) {
    case 'F32':
      return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    case 'F16': {
      const out = Buffer.alloc(data.length * 2);
      for (const [index, value] of data.entries()) out.writeUInt16LE(toFloat16(value), index * 2);
      return out;
    }
    case 'Q8_0':
      return encodeQ8(data);
  }
}

function encodeQ8(data: Float32Array): Buffer {
  const blocks = data.length / 32;
  const out = Buffer.alloc(blocks * 34);
  for (let block = 0; block < blocks; block++) {
    const values = data.subarray(block * 32, block * 32 + 32);
    const scale = values.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0) / 127;
    if (scale === 0) continue;
    out.writeUInt16LE(toFloat16(scale), block * 34);
    for (const [index, value] of values.entries()) out.writeInt8(Math.round(value / scale), block * 34 + 2 + index);
  }
  return out;
}

const floatView = new Float32Array(1);
const bitsView = new Uint32Array(floatView.buffer);

function toFloat16(value: number): number {
  floatView[0] = value;
  const bits = bitsView[0]!;
  const sign = (bits >>> 16) & 0x8000;
  const exponent = ((bits >>> 23) & 0xff) - 112;
  const mantissa = bits & 0x7fffff;
  if (exponent >= 31) return sign | 0x7c00;
  if (exponent < -10) return sign;
  if (exponent > 0) return sign | (((exponent << 10) | (mantissa >>> 13)) + roundUp(mantissa, 13));
  const full = mantissa | 0x800000;
  return sign | ((full >>> (14 - exponent)) + roundUp(full, 14 - exponent));
}

function roundUp(mantissa: number, dropped: number): number {
  const rest = mantissa & ((1 << dropped) - 1);
  const half = 1 << (dropped - 1);
  return rest > half || (rest === half && (mantissa >>> dropped) & 1) ? 1 : 0;
}

function aligned(size: number): number {
  return Math.ceil(size / alignment) * alignment;
}

function padded(part: Buffer): Buffer {
  return Buffer.concat([part, Buffer.alloc(aligned(part.length) - part.length)]);
}

function u32(value: number): Buffer {
  const out = Buffer.alloc(4);
  out.writeUInt32LE(value);
  return out;
}

function i32(value: number): Buffer {
  const out = Buffer.alloc(4);
  out.writeInt32LE(value);
  return out;
}

function f32(value: number): Buffer {
  const out = Buffer.alloc(4);
  out.writeFloatLE(value);
  return out;
}

function u64(value: number): Buffer {
  const out = Buffer.alloc(8);
  out.writeBigUInt64LE(BigInt(value));
  return out;
}

function str(value: string): Buffer {
  const bytes = Buffer.from(value, 'utf8');
  return Buffer.concat([u64(bytes.length), bytes]);
}
