import { createHash, type Hash } from 'node:crypto';
import { promises as fs } from 'node:fs';
import { splitModelParts } from '../modelFile/splitModel.ts';

/** Of each file of a model: its header, as much as is read of it at once. */
const headBytes = 1 << 20;
/** Places in the weights that are looked at, and how much at each: two models of one form have the same header. */
const samples = 32;
const sampleBytes = 16 << 10;

/**
 * What a state on disk is bound to. The engine believes what it is given: with the file of another model, of another version of it or
 * of another kind of context it may crash, or go on from what never was said.
 * @param engine whatever else the state depends on, as JSON
 */
export async function stateIdentity(modelPath: string, engine: Record<string, unknown>): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(engine));
  for (const part of splitModelParts(modelPath)) await addFile(hash, part);
  return hash.digest('hex').slice(0, 32);
}

async function addFile(hash: Hash, path: string): Promise<void> {
  const file = await fs.open(path);
  try {
    const { size, mtimeMs } = await file.stat();
    hash.update(`${size} ${mtimeMs} `);
    const places = Array.from({ length: samples }, (_, at) => Math.floor((size * (at + 1)) / (samples + 1)));
    for (const [at, length] of [[0, headBytes] as const, ...places.map((place) => [place, sampleBytes] as const)]) {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at);
      hash.update(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}
