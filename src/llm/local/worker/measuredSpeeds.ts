import { promises as fs } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import type { InferenceSpeeds } from './restorePolicy.ts';

const speedsSchema = z.object({
  readPerSecond: z.number().positive().optional(),
  restoredPerSecond: z.number().positive().optional(),
  savedPerSecond: z.number().positive().optional(),
  restoredAt: z.number().optional(),
});

export const inferenceSpeedsFilePrefix = 'speeds.';
const fileIn = (folder: string, identity: string) => path.join(folder, `${inferenceSpeedsFilePrefix}${identity}`);

export async function readInferenceSpeeds(folder: string, identity: string): Promise<InferenceSpeeds> {
  try {
    return speedsSchema.parse(JSON.parse(await fs.readFile(fileIn(folder, identity), 'utf8')));
  } catch {
    return {};
  }
}

export async function writeInferenceSpeeds(folder: string, identity: string, speeds: InferenceSpeeds): Promise<void> {
  await fs.writeFile(fileIn(folder, identity), JSON.stringify(speeds), { mode: 0o600 }).catch(() => {});
}
