import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { testOut } from './project.ts';

/**
 * Draws what a test has come to, for looking at, into `test/out/screenshots`, where `TOWPATH_PICTURES` is set, as before a release
 * (`npm test -- all`): drawing all of them takes longer than many of the tests.
 */
export async function picture(page: Page, name: string): Promise<void> {
  if (process.env.TOWPATH_PICTURES) await draw(page, path.join(testOut, 'screenshots'), name);
}

/** Draws what failed, whatever is set, and says where it is. */
export function pictureOfFailure(page: Page, name: string): Promise<string> {
  return draw(page, path.join(testOut, 'failures'), name).catch(() => 'none'); // the page itself may be what failed
}

export async function draw(page: Page, folder: string, name: string): Promise<string> {
  const file = path.join(folder, `${name}.png`);
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: file });
  return file;
}
