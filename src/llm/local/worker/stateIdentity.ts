// @invariant states-belong-to-their-model: A saved state is restored only for its model, engine and context, and only if its checksum is
// right.
import { createHash, type Hash } from 'node:crypto';
import { promises as fs } from 'node:fs';
import { splitModelParts } from '../modelFile/splitModel.ts';

/** Hashed header bytes of each model file, and samples of the weights: two models of the same architecture share a header. */
const headBytes = 1 << 20;
const samples = 32;
const sampleBytes = 16 << 10;

/**
 * Returns the identity that binds a state to its model. The engine does not verify a file: a state of another model, version or context may
 * crash the engine or continue text that was never in the conversation.
 *
 * @param engine other values that determine the format of the state
 */
export async function sequenceStateIdentity(modelPath: string, engine: Record<string, unknown>): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(engine));
  for (const part of splitModelParts(modelPath)) await addFile(hash, part);
  return hash.digest('hex').slice(0, 32);
}

async function addFile(hash: Hash, path: string): Promise<void> {
  const file = await fs.open(path);
  try {
    const { size, mtimeMs } = await file.stat();
    hash.update(`${size} ${mtimeMs} `);
    const offsets = Array.from({ length: samples }, (_, at) => Math.floor((size * (at + 1)) / (samples + 1)));
    for (const [at, length] of [[0, headBytes] as const, ...offsets.map((offset) => [offset, sampleBytes] as const)]) {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at);
      hash.update(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}
