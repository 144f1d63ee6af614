import { promises as fs } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import type { MeasuredSpeeds } from './restorePolicy.ts';

const speedsSchema = z.object({
  readPerSecond: z.number().positive().optional(),
  restoredPerSecond: z.number().positive().optional(),
  savedPerSecond: z.number().positive().optional(),
  restoredAt: z.number().optional(),
});

export const speedsPrefix = 'speeds.';
const fileIn = (folder: string, identity: string) => path.join(folder, `${speedsPrefix}${identity}`);

export async function readSpeeds(folder: string, identity: string): Promise<MeasuredSpeeds> {
  try {
    return speedsSchema.parse(JSON.parse(await fs.readFile(fileIn(folder, identity), 'utf8')));
  } catch {
    return {};
  }
}

export async function writeSpeeds(folder: string, identity: string, speeds: MeasuredSpeeds): Promise<void> {
  await fs.writeFile(fileIn(folder, identity), JSON.stringify(speeds), { mode: 0o600 }).catch(() => {});
}
